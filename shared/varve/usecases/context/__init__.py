"""Build the block of memories that goes before a prompt."""
