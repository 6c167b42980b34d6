"""Convert records to rows of named values, and back."""
