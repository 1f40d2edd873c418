"""A small cross-encoder, which reads a question with a statement, or with two together."""
