"""The ledger: its values, and the keys of its objects."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from varve.domain.calendar import LATEST, Grain, Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import StoreName

GIVEN_UP_AFTER = 5
"""Failed attempts after which the period above stops waiting."""

DUE = "ledger/due"
EXPIRY = "ledger/expiry"
LESSONS = "ledger/lessons"
_TO_NEXT_HOUR = timedelta(hours=1, microseconds=-1)
_OWNER = {DUE: slice(4, 6), "ledger/failed": slice(4, 6), EXPIRY: slice(3, 5)}
"""Where workspace and agent stand in a key's parts; exactly one part follows them."""


@dataclass(frozen=True, slots=True)
class Due:
    """A period with new records below it; `marks` are the due keys that mark it."""

    scope: Scope
    period: Period
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """The failed attempts to summarize a period: their number, last reason, next try."""

    attempts: int
    reason: str
    next_try: datetime

    @property
    def given_up(self) -> bool:
        """Whether the period above no longer waits for this one."""
        return self.attempts >= GIVEN_UP_AFTER


@dataclass(frozen=True, slots=True)
class LedgerChanges:
    """Changes of the ledger after a committed write.

    `settles` are due keys to delete and `marks` due keys to put, each with its twin.
    `expiries` are the keys of notes to put: about expiry, and about lessons to review.
    """

    settles: tuple[str, ...] = ()
    expiries: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    def __add__(self, other: "LedgerChanges") -> "LedgerChanges":
        """Return the changes of both."""
        return LedgerChanges(
            self.settles + other.settles,
            self.expiries + other.expiries,
            self.marks + other.marks,
        )


NO_CHANGES = LedgerChanges()


def due_key(scope: Scope, period: Period, token: str) -> str:
    """Return the key, in planning's folder, that marks new records below the period."""
    return f"{due_folder(period)}/{scope}/{token}"


def due_folder(period: Period) -> str:
    """Return the folder of one period's marks, for all agents."""
    return f"{DUE}/{period.grain}/{period.label}"


def marks_folder(scope: Scope, grain: Grain | None = None) -> str:
    """Return the folder of one agent's marks, for one grain or for all."""
    folder = f"ledger/marks/{scope}"
    return f"{folder}/{grain}" if grain else folder


def twin(key: str) -> str:
    """Return the key, in the agent's own folder, of the same mark as a `due_key`."""
    _, _, grain, label, workspace, agent, token = key.split("/")
    return f"ledger/marks/{workspace}/{agent}/{grain}/{label}/{token}"


def version_in(mark: str) -> int:
    """Return the store version that has the marked records; 0 if the mark names none."""
    version = mark.rpartition("/")[2].partition(".")[2]
    return int(version) if version.isdecimal() else 0


def failed_key(scope: Scope, period: Period) -> str:
    """Return the key of a period's `Failure`."""
    return f"{failed_folder(period)}/{scope}/failure.json"


def failed_folder(period: Period) -> str:
    """Return the folder of one period's failures, for all agents."""
    return f"ledger/failed/{period.grain}/{period.label}"


def expiry_key(instant: datetime, scope: Scope, grain: StoreName) -> str:
    """Return the key of the note that records of this store expire at `instant`.

    It names the first full UTC hour at or after the instant.
    """
    hour = hour_of(min(instant, LATEST - _TO_NEXT_HOUR) + _TO_NEXT_HOUR)
    return f"{EXPIRY}/{hour}/{scope}/{grain}"


def hour_of(instant: datetime) -> str:
    """Return the UTC hour of an instant, such as `2026-11-21T05`.

    Hours sort by time, also those before the year 1000.
    """
    return instant.astimezone(UTC).isoformat()[:13]


def month_of(instant: datetime) -> str:
    """Return the UTC month of an instant, such as `2026-11`."""
    return instant.astimezone(UTC).isoformat()[:7]


def lessons_key(month: str, scope: Scope) -> str:
    """Return the key of the note that an agent's lessons are due for review from `month`."""
    return f"{LESSONS}/{month}/{scope}/look"


def curation_key(scope: Scope) -> str:
    """Return the key of the last review of an agent's lessons: their ids, no words."""
    return f"ledger/curation/{scope}/report.json"


def noted_grain(note: str) -> Grain:
    """Return the grain in the key of a note of expiry. Raises ValueError: not such a key."""
    folder, _, grain = note.rpartition("/")
    if not folder.startswith(f"{EXPIRY}/"):
        raise ValueError("not a note of expiry")
    return Grain(grain)


def require_own(keys: Iterable[str], scope: Scope) -> None:
    """Check that each key is a due key, failure or note of expiry of this agent.

    Raises Rejected: one is not.
    """
    for key in keys:
        parts = key.split("/")
        if not _is_owned(parts, scope):
            raise Rejected("ledger", "a key is not one of this agent's")
        if any(part in ("", ".", "..") for part in parts):
            raise Rejected("ledger", "a key is not a plain path")


def _is_owned(parts: Sequence[str], scope: Scope) -> bool:
    folder = "/".join(parts[:2])
    owner = _OWNER.get(folder)
    if owner is None or len(parts) != owner.stop + 1:
        return False
    return parts[owner] == [scope.workspace, scope.agent]
