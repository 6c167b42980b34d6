"""Outputs that are replaced atomically."""
