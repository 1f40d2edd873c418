"""Summarize periods by user, from their sources."""
