"""Requests to forget, and the statements that they name."""
