"""Output and input formats: one writer and reader a format, and their registry."""
