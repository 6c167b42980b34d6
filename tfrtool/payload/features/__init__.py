"""Show the features of one record."""
