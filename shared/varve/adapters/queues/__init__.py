"""Queues and their dead letters."""
