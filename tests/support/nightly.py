"""Fewer repetitions by day than by night: `VARVE_NIGHTLY=1` asks for all."""

from __future__ import annotations

import os
from typing import TypeVar

Number = TypeVar("Number")
NIGHTLY = "VARVE_NIGHTLY" in os.environ


def choose(*, by_day: Number, by_night: Number) -> Number:
    """Return the one of two values that this run uses."""
    return by_night if NIGHTLY else by_day
