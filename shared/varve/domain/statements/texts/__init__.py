"""What one text says, read by itself."""
