"""Record sizes, framing overhead and shard layout."""
