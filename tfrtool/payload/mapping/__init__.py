"""Map OFRecord messages to Example messages and back."""
