"""`python -m varve`."""

import sys

from varve.cli import main

sys.exit(main())
