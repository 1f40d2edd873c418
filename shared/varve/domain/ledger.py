"""The ledger's keys: which object says what of which agent's period."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope

GIVEN_UP_AFTER = 5


@dataclass(frozen=True, slots=True)
class Due:
    """A period with something new below it; `marks` are the keys that say so."""

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
    """Keys to remove, and keys of expiry to note, once a write is committed."""

    settles: tuple[str, ...] = ()
    expiries: tuple[str, ...] = ()


NO_CHANGES = LedgerChanges()


def due_key(scope: Scope, period: Period, token: str) -> str:
    """The mark that something was written below this period."""
    return f"{due_folder(period.grain, scope)}/{period.label}/{token}"


def due_folder(grain: Grain, scope: Scope | None = None) -> str:
    """Where the marks of a grain lie, of all agents or of one."""
    return f"ledger/due/{grain}" + (f"/{scope}" if scope else "")


def failed_key(scope: Scope, period: Period) -> str:
    """Where a period's failures are counted."""
    return f"{failed_folder(period.grain, scope)}/{period.label}.json"


def failed_folder(grain: Grain, scope: Scope | None = None) -> str:
    """Where the failures of a grain lie, of all agents or of one."""
    return f"ledger/failed/{grain}" + (f"/{scope}" if scope else "")


def expiry_key(instant: datetime, scope: Scope, grain: Grain) -> str:
    """The note that something of this store has expired by the first full UTC hour from the instant on."""
    hour = (instant.astimezone(UTC) + timedelta(hours=1, microseconds=-1)).strftime("%Y-%m-%dT%H")
    return f"ledger/expiry/{hour}/{scope}/{grain}"


def require_own(keys: Iterable[str], scope: Scope) -> None:
    """Raises Rejected: a key is not one of this agent's in the ledger."""
    for key in keys:
        parts = key.split("/")
        if len(parts) < 6 or parts[0] != "ledger" or parts[3:5] != [scope.workspace, scope.agent]:
            raise Rejected("ledger", "a key is not one of this agent's")
        if any(part in ("", ".", "..") for part in parts):
            raise Rejected("ledger", "a key is not a plain path")
