"""Tables, bars and progress on a terminal."""
