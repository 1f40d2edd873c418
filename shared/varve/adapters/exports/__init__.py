"""Export directories."""
