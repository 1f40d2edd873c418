"""The `Detector` port for secrets and for personal data."""
