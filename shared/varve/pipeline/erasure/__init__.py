"""Erasure, step by step."""
