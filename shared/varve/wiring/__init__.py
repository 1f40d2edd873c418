"""The composition root's pieces: each builds some adapters from the settings."""
