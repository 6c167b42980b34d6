"""Read the protobuf wire format and define the message types."""
