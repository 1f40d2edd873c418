"""The work items of cleanup and of the monthly look at lessons."""

from dataclasses import dataclass
from datetime import datetime

from varve.domain.identity import Scope


@dataclass(frozen=True, slots=True)
class CleanAgent:
    """One agent of which something has expired, as the notes say and as of the planning pass's time."""

    scope: Scope
    notes: tuple[str, ...]
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class CurateAgent:
    """One agent whose lessons are to be looked at, as noted under these months."""

    scope: Scope
    months: tuple[str, ...]
    planned_at: datetime
