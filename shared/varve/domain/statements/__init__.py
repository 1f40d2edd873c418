"""Statements: what records say, whichever record says it."""
