"""Open, identify and walk one input: what every reading job shares."""
