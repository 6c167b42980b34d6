"""Find the next record after damage, and explain what lies before it."""
