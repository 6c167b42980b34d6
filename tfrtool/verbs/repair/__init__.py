"""Recover intact records from damaged files."""
