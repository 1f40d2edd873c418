"""Detectors of secrets and personal data."""
