"""Describe the features of data sets, and emit the description in other formats."""
