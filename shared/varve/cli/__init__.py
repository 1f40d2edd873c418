"""The command line."""

from varve.cli.main import main

__all__ = ["main"]
