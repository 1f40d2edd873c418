"""Statements told or corrected one by one, and what a correction reaches."""
