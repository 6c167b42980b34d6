"""Generate man pages and shell completions from the commands."""
