"""Resolve command-line inputs to file names."""
