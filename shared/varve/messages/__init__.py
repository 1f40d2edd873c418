"""The JSON messages on the queues: encoding, decoding and validation."""
