"""AWS credentials."""
