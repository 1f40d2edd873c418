"""Answers and blocks: current statements first, each statement in one place."""
