"""Shared vocabulary of the tests: build files, damage them, run the program."""
