"""Convert records to another format, or reshard them."""
