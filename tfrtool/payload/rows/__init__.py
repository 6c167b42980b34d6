"""Records as rows of named values, and back."""
