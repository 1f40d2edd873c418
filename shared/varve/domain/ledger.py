"""The ledger's keys: which object says what of which agent's period."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from varve.domain.calendar import LATEST, Grain, Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import StoreName

GIVEN_UP_AFTER = 5

DUE = "ledger/due"
EXPIRY = "ledger/expiry"
LESSONS = "ledger/lessons"
_TO_NEXT_HOUR = timedelta(hours=1, microseconds=-1)
_OWNER = {DUE: slice(4, 6), "ledger/failed": slice(4, 6), EXPIRY: slice(3, 5)}
"""Where in a key its agent stands; one part comes after it."""


@dataclass(frozen=True, slots=True)
class Due:
    """A period with something new below it; `marks` are the due keys that say so."""

    scope: Scope
    period: Period
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """How often summarizing a period has failed, why last, and when to try again."""

    attempts: int
    reason: str
    next_try: datetime

    @property
    def given_up(self) -> bool:
        """Whether the period above stops waiting for this one."""
        return self.attempts >= GIVEN_UP_AFTER


@dataclass(frozen=True, slots=True)
class LedgerChanges:
    """What is to be noted once a write is committed: keys to remove, notes to leave, and due keys to put.

    Each due key goes and comes with its twin. `expiries` are the notes of what expires, and of lessons to
    look at.
    """

    settles: tuple[str, ...] = ()
    expiries: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    def __add__(self, other: "LedgerChanges") -> "LedgerChanges":
        """Both."""
        return LedgerChanges(
            self.settles + other.settles,
            self.expiries + other.expiries,
            self.marks + other.marks,
        )


NO_CHANGES = LedgerChanges()


def due_key(scope: Scope, period: Period, token: str) -> str:
    """The mark that something was written below this period, where planning finds it."""
    return f"{due_folder(period)}/{scope}/{token}"


def due_folder(period: Period) -> str:
    """Where the marks of one period lie, of all agents."""
    return f"{DUE}/{period.grain}/{period.label}"


def marks_folder(scope: Scope, grain: Grain | None = None) -> str:
    """Where one agent's marks lie, of one grain or of all."""
    return f"ledger/marks/{scope}" + (f"/{grain}" if grain else "")


def twin(key: str) -> str:
    """The key under which its agent finds the mark of a `due_key`."""
    _, _, grain, label, workspace, agent, token = key.split("/")
    return f"ledger/marks/{workspace}/{agent}/{grain}/{label}/{token}"


def version_in(mark: str) -> int:
    """The version of the store below that holds what the mark stands for; 0 where it names none."""
    version = mark.rpartition("/")[2].partition(".")[2]
    return int(version) if version.isdecimal() else 0


def failed_key(scope: Scope, period: Period) -> str:
    """Where a period's failures are counted."""
    return f"{failed_folder(period)}/{scope}/failure.json"


def failed_folder(period: Period) -> str:
    """Where the failures of one period lie, of all agents."""
    return f"ledger/failed/{period.grain}/{period.label}"


def expiry_key(instant: datetime, scope: Scope, grain: StoreName) -> str:
    """The note that something of this store has expired by the first full UTC hour from the instant on."""
    hour = hour_of(min(instant, LATEST - _TO_NEXT_HOUR) + _TO_NEXT_HOUR)
    return f"{EXPIRY}/{hour}/{scope}/{grain}"


def hour_of(instant: datetime) -> str:
    """The UTC hour of an instant, as `2026-11-21T05`; hours sort by time, those of the year 26 too."""
    return instant.astimezone(UTC).isoformat()[:13]


def month_of(instant: datetime) -> str:
    """The UTC month of an instant, as `2026-11`."""
    return instant.astimezone(UTC).isoformat()[:7]


def lessons_key(month: str, scope: Scope) -> str:
    """The note that from this month on an agent's lessons are to be looked at."""
    return f"{LESSONS}/{month}/{scope}/look"


def curation_key(scope: Scope) -> str:
    """Where the last look at an agent's lessons is kept: ids of lessons, none of their words."""
    return f"ledger/curation/{scope}/report.json"


def noted_grain(note: str) -> Grain:
    """The grain that a note of expiry is about. Raises ValueError: not such a note."""
    folder, _, grain = note.rpartition("/")
    if not folder.startswith(f"{EXPIRY}/"):
        raise ValueError("not a note of expiry")
    return Grain(grain)


def require_own(keys: Iterable[str], scope: Scope) -> None:
    """Raises Rejected: a key is not one of this agent's due keys, failures or notes of expiry."""
    for key in keys:
        parts = key.split("/")
        owner = _OWNER.get("/".join(parts[:2]))
        if (
            owner is None
            or parts[owner] != [scope.workspace, scope.agent]
            or len(parts) != owner.stop + 1
        ):
            raise Rejected("ledger", "a key is not one of this agent's")
        if any(part in ("", ".", "..") for part in parts):
            raise Rejected("ledger", "a key is not a plain path")
