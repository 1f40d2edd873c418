"""The ledger: which periods of which agents are due, which have failed, and when something expires.

    ledger/due/{grain}/{workspace}/{agent}/{period}/{token}     something was written below this period
    ledger/failed/{grain}/{workspace}/{agent}/{period}.json     summarizing it failed: attempts, reason
    ledger/expiry/{hour}/{workspace}/{agent}/{grain}            by this UTC hour something has expired

A mark is put after the write it stands for, under a name made from what was written. Whoever settles a
period lists its marks first, reads the sources then, and removes exactly the marks it had listed: a
write in between has a mark of its own, which stays. Planning lists these prefixes and nothing else, so
a night costs nothing for agents that were silent.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.identity import Scope, digest
from varve.domain.ledger import (
    Due,
    Failure,
    LedgerChanges,
    due_folder,
    due_key,
    failed_folder,
    failed_key,
)
from varve.ports import Objects

FIRST_RETRY = timedelta(hours=1)
LONGEST_RETRY = timedelta(days=1)
_TOKEN_LENGTH = 20


class Ledger:
    """The ledger's objects under one store root."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def mark(self, scope: Scope, periods: Iterable[Period], *written: str) -> None:
        """Say that something was written below these periods; `written` says what, for the name."""
        token = digest(*written, length=_TOKEN_LENGTH)
        for period in sorted(set(periods)):
            self._objects.put(due_key(scope, period, token), b"")

    def due(self, grain: Grain, scope: Scope | None = None) -> Iterator[Due]:
        """The due periods of all agents, or of one, in order of workspace, agent and period."""
        grouped: dict[tuple[Scope, Period], list[str]] = {}
        for info in self._objects.list(due_folder(grain, scope)):
            workspace, agent, label = info.key.split("/")[3:6]
            key = (Scope(workspace, agent), Period.parse(label, grain))
            grouped.setdefault(key, []).append(info.key)
        for (owner, period), marks in grouped.items():
            yield Due(owner, period, tuple(marks))

    def marks(self, scope: Scope, period: Period) -> tuple[str, ...]:
        """The keys of one period's marks."""
        folder = f"{due_folder(period.grain, scope)}/{period.label}"
        return tuple(info.key for info in self._objects.list(folder))

    def change(self, changes: LedgerChanges) -> None:
        """Note when to look for what expires, then remove the marks that have been dealt with."""
        for key in changes.expiries:
            self._objects.put(key, b"")
        if changes.settles:
            self._objects.delete(changes.settles)

    def fail(self, scope: Scope, period: Period, reason: str, now: datetime) -> Failure:
        """Record one more failure; the wait doubles from an hour to a day."""
        known = self.failures(period.grain, scope).get((scope, period))
        attempts = known.attempts + 1 if known else 1
        wait = min(LONGEST_RETRY, FIRST_RETRY * 2 ** (attempts - 1))
        failure = Failure(attempts, reason, now + wait)
        body = {"attempts": attempts, "reason": reason, "nextTry": iso(failure.next_try)}
        self._objects.put(failed_key(scope, period), json.dumps(body).encode())
        return failure

    def failures(self, grain: Grain, scope: Scope | None = None) -> dict[tuple[Scope, Period], Failure]:
        """The failed periods of all agents, or of one."""
        failed = {}
        for info in self._objects.list(failed_folder(grain, scope)):
            stored = self._objects.get(info.key)
            if stored is not None:
                workspace, agent, name = info.key.split("/")[3:6]
                body = json.loads(stored.data)
                period = Period.parse(name.removesuffix(".json"), grain)
                failure = Failure(body["attempts"], body["reason"], parse_instant(body["nextTry"]))
                failed[Scope(workspace, agent), period] = failure
        return failed

    def recover(self, scope: Scope, period: Period) -> None:
        """Forget a period's failures: it has succeeded."""
        self._objects.delete([failed_key(scope, period)])

    def expiring(self, now: datetime) -> dict[Scope, tuple[str, ...]]:
        """The agents of which something has expired, with the keys that say so."""
        this_hour = now.astimezone(UTC).strftime("%Y-%m-%dT%H")
        keys: dict[Scope, tuple[str, ...]] = {}
        for info in self._objects.list("ledger/expiry"):
            _, _, hour, workspace, agent, _ = info.key.split("/")
            if hour > this_hour:
                break
            scope = Scope(workspace, agent)
            keys[scope] = (*keys.get(scope, ()), info.key)
        return keys
