"""Importers: one small module for each foreign format, each a generator of items."""
