"""The ledger: which periods of which agents are due, which have failed, and when something expires.

    ledger/due/{grain}/{period}/{workspace}/{agent}/{token}      something was written below this period
    ledger/marks/{workspace}/{agent}/{grain}/{period}/{token}    the same mark, for its agent's own questions
    ledger/failed/{grain}/{period}/{workspace}/{agent}/…         summarizing it failed: attempts, reason
    ledger/lessons/{month}/{workspace}/{agent}/look              from this month on look at its lessons
    ledger/expiry/{hour}/{workspace}/{agent}/{grain}             by this UTC hour something has expired

A mark is put after the write it stands for, under a name made from what was written and the version
that this gave the store. Whoever settles a period lists its marks first, reads the sources then, at the
versions that these name or later ones, and removes exactly the marks it had listed: a write in between
has a mark of its own, which stays, and a store that is read out of a stale listing settles nothing.

Planning lists the periods' names and then those alone that are over, so a night costs nothing for agents
that were silent and nothing for periods that are open. An agent's own marks are one listing, whatever
others have left undone. The agent's half of a mark is put first and removed last: who finds the planner's
half finds a mark that is whole. Where a process died in between, the message comes again and does the rest;
half a mark that is left for planning is planned, found to change nothing, and settled with all others.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby

from varve.domain.calendar import EARLIEST, Grain, Period, iso, parse_instant
from varve.domain.identity import Scope, digest
from varve.domain.ledger import (
    DUE,
    EXPIRY,
    LESSONS,
    Due,
    Failure,
    LedgerChanges,
    due_folder,
    due_key,
    failed_folder,
    failed_key,
    hour_of,
    lessons_key,
    marks_folder,
    month_of,
    twin,
)
from varve.ports.objects import Objects, StoredObject

FIRST_RETRY = timedelta(hours=1)
LONGEST_RETRY = timedelta(days=1)
_DOUBLINGS = 5
"""After so many the wait is the longest; a period may fail every day for years."""
_TOKEN_LENGTH = 20


class Ledger:
    """The ledger's objects under one store root."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def mark(self, scope: Scope, periods: Iterable[Period], *written: str) -> None:
        """Put the marks that `marking` makes, of no version."""
        self.change(marking(scope, periods, *written))

    def marked(self, grain: Grain, scope: Scope | None = None) -> list[Period]:
        """The periods, in order, that are due for any agent, or for one: a request for 1,000 periods."""
        folder = marks_folder(scope, grain) if scope else f"{DUE}/{grain}"
        return [Period.parse(label, grain) for label in self._objects.folders(folder)]

    def due_in(self, period: Period, scope: Scope | None = None) -> Iterator[Due]:
        """The agents for which one period is due, or one of them, in order: a request for 1,000 marks."""
        keys = (
            info.key
            for info in self._objects.list(_narrowed(due_folder(period), scope))
        )
        for (workspace, agent), marks in groupby(
            keys, key=lambda key: tuple(key.split("/")[4:6])
        ):
            yield Due(Scope(workspace, agent), period, tuple(marks))

    def due(self, grain: Grain, scope: Scope) -> Iterator[Due]:
        """One agent's due periods of a grain, in order: a request for 1,000 marks."""
        return self._of_agent(scope, marks_folder(scope, grain))

    def pending(self, scope: Scope) -> frozenset[Period]:
        """One agent's due periods of all grains: a request for 1,000 marks."""
        return frozenset(
            due.period for due in self._of_agent(scope, marks_folder(scope))
        )

    def _of_agent(self, scope: Scope, folder: str) -> Iterator[Due]:
        keys = (info.key.split("/") for info in self._objects.list(folder))
        for (grain, label), marks in groupby(keys, key=lambda parts: tuple(parts[4:6])):
            period = Period.parse(label, Grain(grain))
            yield Due(
                scope,
                period,
                tuple(due_key(scope, period, parts[6]) for parts in marks),
            )

    def marks(self, scope: Scope, period: Period) -> tuple[str, ...]:
        """The due keys of one agent's period, those of which only one half is there included."""
        own = self._objects.list(f"{marks_folder(scope, period.grain)}/{period.label}")
        planned = self._objects.list(f"{due_folder(period)}/{scope}")
        tokens = {
            info.key.rpartition("/")[2] for halves in (own, planned) for info in halves
        }
        return tuple(due_key(scope, period, token) for token in sorted(tokens))

    def change(self, changes: LedgerChanges) -> None:
        """Note everything in two steps, each of them at once; what has been dealt with goes."""
        settled = [key for key in changes.settles if key.startswith(f"{DUE}/")]
        others = [key for key in changes.settles if not key.startswith(f"{DUE}/")]
        self._exchange([*changes.expiries, *map(twin, changes.marks)], settled)
        self._exchange(changes.marks, [*map(twin, settled), *others])

    def _exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        new, old = dict.fromkeys(fresh), dict.fromkeys(doomed)
        if new or old:
            self._objects.exchange(new, old)

    def fail(self, scope: Scope, period: Period, reason: str, now: datetime) -> Failure:
        """Record one more failure; the wait doubles from an hour to a day."""
        known = self.failure(scope, period)
        attempts = known.attempts + 1 if known else 1
        wait = min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(attempts - 1, _DOUBLINGS))
        failure = Failure(attempts, reason, now + wait)
        body = {
            "attempts": attempts,
            "reason": reason,
            "nextTry": iso(failure.next_try),
        }
        self._objects.put(failed_key(scope, period), json.dumps(body).encode())
        return failure

    def failure(self, scope: Scope, period: Period) -> Failure | None:
        """What is known of one period's failures."""
        stored = self._objects.get(failed_key(scope, period))
        return _failure(stored) if stored else None

    def failures(
        self, period: Period, scope: Scope | None = None
    ) -> dict[Scope, Failure]:
        """The agents for which a period has failed, or one of them."""
        failed = {}
        for info in self._objects.list(_narrowed(failed_folder(period), scope)):
            if stored := self._objects.get(info.key):
                failed[Scope(*info.key.split("/")[4:6])] = _failure(stored)
        return failed

    def recover(self, scope: Scope, period: Period) -> None:
        """Forget a period's failures: it has succeeded."""
        self._objects.delete([failed_key(scope, period)])

    def expiring(self, now: datetime) -> dict[Scope, tuple[str, ...]]:
        """The agents of which something has expired, with the notes that say so, the oldest first."""
        this_hour = hour_of(now)
        notes: dict[Scope, list[str]] = {}
        for info in self._objects.list(EXPIRY):
            _, _, hour, workspace, agent, _ = info.key.split("/")
            if hour > this_hour:
                break
            notes.setdefault(Scope(workspace, agent), []).append(info.key)
        return {scope: tuple(keys) for scope, keys in notes.items()}

    def expired_of(self, scope: Scope, now: datetime) -> tuple[str, ...]:
        """One agent's notes that are over: a request for the hours, and one for each of these.

        No name of anybody else is asked for.
        """
        this_hour = hour_of(now)
        over = (hour for hour in self._objects.folders(EXPIRY) if hour <= this_hour)
        return tuple(
            info.key
            for hour in over
            for info in self._objects.list(f"{EXPIRY}/{hour}/{scope}")
        )

    def note_lessons(self, scope: Scope, at: datetime) -> None:
        """Have an agent's lessons looked at from the month of this instant on."""
        self.change(LedgerChanges(expiries=(lessons_key(month_of(at), scope),)))

    def lessons_due(self, now: datetime) -> dict[Scope, tuple[str, ...]]:
        """The agents whose lessons are to be looked at, with the months they are noted under."""
        due: dict[Scope, list[str]] = {}
        for info in self._objects.list(LESSONS):
            _, _, month, workspace, agent, _ = info.key.split("/")
            if month > month_of(now):
                break
            due.setdefault(Scope(workspace, agent), []).append(month)
        return {scope: tuple(months) for scope, months in due.items()}

    def settle_lessons(self, scope: Scope, months: Iterable[str]) -> None:
        """Remove the notes; before lessons are read, so that what is written meanwhile is noted anew."""
        self._objects.delete([lessons_key(month, scope) for month in months])

    def standing(self, notes: Sequence[str]) -> tuple[str, ...]:
        """Those of the notes that nobody has settled yet."""
        return tuple(note for note in notes if self._objects.get(note) is not None)


def marking(
    scope: Scope, periods: Iterable[Period], *written: str, version: int = 0
) -> LedgerChanges:
    """The marks that say that something was written below these periods: `written` says what, for the
    name, and `version` which of the store below has it; 0 where it is not known."""
    token = f"{digest(*written, length=_TOKEN_LENGTH)}.{version}"
    return LedgerChanges(
        marks=tuple(due_key(scope, period, token) for period in sorted(set(periods)))
    )


def _narrowed(folder: str, scope: Scope | None) -> str:
    return f"{folder}/{scope}" if scope else folder


def _failure(stored: StoredObject) -> Failure:
    """What is noted; a note that cannot be read is of one failure, to be tried again at once.

    A pass reads the notes of all agents: one that is damaged must not stop the others' nights.
    """
    with suppress(AttributeError, LookupError, RecursionError, TypeError, ValueError):
        body = json.loads(stored.data)
        return Failure(
            int(body["attempts"]), str(body["reason"]), parse_instant(body["nextTry"])
        )
    return Failure(1, "the note of its failure is damaged", EARLIEST)
