"""Limits of experience that every configuration has; this module loads no library."""

from dataclasses import dataclass
from datetime import timedelta

MAX_ENTRIES = 200
"""The most entries of each component; the oldest are deleted first."""


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """When answers are evicted: by age, by number of a key, and unread for so long."""

    oldest: timedelta = timedelta(days=180)
    most_per_key: int = 20
    unread_for: timedelta = timedelta(days=30)
