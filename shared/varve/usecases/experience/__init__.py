"""What agents learn from what they did."""
