"""The command line."""

import sys

from varve.cli.interrupted import INTERRUPTED, say_interrupted

try:
    from varve.cli.main import main
except KeyboardInterrupt:
    # The libraries take a second to load.
    say_interrupted()
    sys.exit(INTERRUPTED)

__all__ = ["main"]
