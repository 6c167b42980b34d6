"""Print the events of each command as text, JSON Lines or terminal tables."""
