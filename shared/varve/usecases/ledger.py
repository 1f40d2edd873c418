"""The ledger: due and failed periods of agents, and when something expires.

    ledger/due/{grain}/{period}/{workspace}/{agent}/{token}    new records below this period
    ledger/marks/{workspace}/{agent}/{grain}/{period}/{token}  the same mark, by agent
    ledger/failed/{grain}/{period}/{workspace}/{agent}/…       attempts and reason of a failure
    ledger/lessons/{month}/{workspace}/{agent}/look            review its lessons from this month
    ledger/expiry/{hour}/{workspace}/{agent}/{grain}           something expires by this UTC hour

The writer puts a mark after the write it stands for. The mark's name is made from the
written ids and from the store's version after the write. To settle a period, a caller lists its
marks, then reads the sources at those versions or later ones, then removes exactly the
marks it listed. A write in between has its own mark, which stays. A caller that read the
store from a stale listing settles nothing.

Planning lists the names of periods, then only the periods that are over. So a night costs
nothing for agents without new records, and nothing for open periods. An agent's own marks
are one listing, whatever other agents have left undone.

Each mark has two halves: one by period for planning, one by agent. The agent's half is put
first and removed last, so a mark found by planning is whole. If a process dies in between,
the message is delivered again and completes the mark. A half that is left for planning is
planned, found to change nothing, and settled with the others.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain, groupby

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
from varve.usecases.ingest.waiting import waiting_agents

FIRST_RETRY = timedelta(hours=1)
LONGEST_RETRY = timedelta(days=1)
_DOUBLINGS = 5
"""The wait doubles at most this often; a period may fail every day for years."""
_TOKEN_LENGTH = 20


class Ledger:
    """The ledger's objects under one store root."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def mark(
        self, scope: Scope, periods: Iterable[Period], *written: str
    ) -> None:
        """Put the marks that `build_marks` returns, without a version."""
        self.change(build_marks(scope, periods, *written))

    def marked(self, grain: Grain, scope: Scope | None = None) -> list[Period]:
        """List the periods that are due for any agent, or for one agent, in order.

        One request per 1,000 periods.
        """
        folder = marks_folder(scope, grain) if scope else f"{DUE}/{grain}"
        return [
            Period.parse(label, grain)
            for label in self._objects.folders(folder)
        ]

    def waiting(self) -> list[Scope]:
        """List the agents whose words wait for the model: one request per 1,000 marks."""
        return waiting_agents(self._objects)

    def due_in(
        self, period: Period, scope: Scope | None = None
    ) -> Iterator[Due]:
        """Yield the agents for which one period is due, or one of them, in order.

        One request per 1,000 marks.
        """
        folder = _narrow(due_folder(period), scope)
        keys = (info.key for info in self._objects.list(folder))
        for owner, marks in groupby(keys, key=_scope_of):
            yield Due(owner, period, tuple(marks))

    def due(self, grain: Grain, scope: Scope) -> Iterator[Due]:
        """Yield one agent's due periods of a grain, in order: one request per 1,000 marks."""
        return self._list_due(scope, marks_folder(scope, grain))

    def pending(self, scope: Scope) -> frozenset[Period]:
        """Return one agent's due periods of all grains: one request per 1,000 marks."""
        due = self._list_due(scope, marks_folder(scope))
        return frozenset(one.period for one in due)

    def _list_due(self, scope: Scope, folder: str) -> Iterator[Due]:
        keys = (info.key.split("/") for info in self._objects.list(folder))
        by_period = groupby(keys, key=lambda parts: parts[4:6])
        for (grain, label), marks in by_period:
            period = Period.parse(label, Grain(grain))
            due_keys = [due_key(scope, period, parts[6]) for parts in marks]
            yield Due(scope, period, tuple(due_keys))

    def marks(self, scope: Scope, period: Period) -> tuple[str, ...]:
        """Return the due keys of one agent's period, also those with one half only."""
        own = self._objects.list(
            f"{marks_folder(scope, period.grain)}/{period.label}"
        )
        planned = self._objects.list(f"{due_folder(period)}/{scope}")
        tokens: set[str] = set()
        for info in chain(own, planned):
            _, _, token = info.key.rpartition("/")
            tokens.add(token)
        return tuple(due_key(scope, period, token) for token in sorted(tokens))

    def change(self, changes: LedgerChanges) -> None:
        """Put marks and notes, and delete the settled ones, in two exchanges.

        The agent's half of a mark is put in the first and deleted in the second.
        """
        settled: list[str] = []
        others: list[str] = []
        for key in changes.settles:
            if key.startswith(f"{DUE}/"):
                settled.append(key)
            else:
                others.append(key)
        agent_halves = [twin(key) for key in changes.marks]
        settled_halves = [twin(key) for key in settled]
        self._exchange([*changes.expiries, *agent_halves], settled)
        self._exchange(changes.marks, [*settled_halves, *others])

    def _exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        new = dict.fromkeys(fresh)
        old = dict.fromkeys(doomed)
        if new or old:
            self._objects.exchange(new, old)

    def fail(
        self, scope: Scope, period: Period, reason: str, now: datetime
    ) -> Failure:
        """Record one more failure; the wait doubles from an hour to a day."""
        known = self.failure(scope, period)
        attempts = known.attempts + 1 if known else 1
        doublings = min(attempts - 1, _DOUBLINGS)
        wait = min(LONGEST_RETRY, FIRST_RETRY * 2**doublings)
        failure = Failure(attempts, reason, now + wait)
        body = {
            "attempts": attempts,
            "reason": reason,
            "nextTry": iso(failure.next_try),
        }
        self._objects.put(failed_key(scope, period), json.dumps(body).encode())
        return failure

    def failure(self, scope: Scope, period: Period) -> Failure | None:
        """Return the record of one period's failures; None: it has not failed."""
        stored = self._objects.get(failed_key(scope, period))
        return _decode_failure(stored) if stored else None

    def failures(
        self, period: Period, scope: Scope | None = None
    ) -> dict[Scope, Failure]:
        """Return the failures of a period, of all agents or of one."""
        failed: dict[Scope, Failure] = {}
        for info in self._objects.list(_narrow(failed_folder(period), scope)):
            stored = self._objects.get(info.key)
            if stored:
                failed[_scope_of(info.key)] = _decode_failure(stored)
        return failed

    def recover(self, scope: Scope, period: Period) -> None:
        """Delete the record of a period's failures."""
        self._objects.delete([failed_key(scope, period)])

    def expiring(self, now: datetime) -> dict[Scope, tuple[str, ...]]:
        """Return the expiry notes that are over, oldest first, by agent."""
        this_hour = hour_of(now)
        notes: dict[Scope, list[str]] = {}
        for info in self._objects.list(EXPIRY):
            _, _, hour, workspace, agent, _ = info.key.split("/")
            if hour > this_hour:
                break
            notes.setdefault(Scope(workspace, agent), []).append(info.key)
        return {scope: tuple(keys) for scope, keys in notes.items()}

    def expired_of(self, scope: Scope, now: datetime) -> tuple[str, ...]:
        """Return one agent's expiry notes that are over.

        One request lists the hours, and one more each hour that is over. It reads no key
        of another agent.
        """
        this_hour = hour_of(now)
        notes: list[str] = []
        for hour in self._objects.folders(EXPIRY):
            if hour <= this_hour:
                listed = self._objects.list(f"{EXPIRY}/{hour}/{scope}")
                notes += [info.key for info in listed]
        return tuple(notes)

    def note_lessons(self, scope: Scope, at: datetime) -> None:
        """Note that an agent's lessons are to be reviewed from the month of `at` on."""
        expiry = lessons_key(month_of(at), scope)
        self.change(LedgerChanges(expiries=(expiry,)))

    def lessons_due(self, now: datetime) -> dict[Scope, tuple[str, ...]]:
        """Return the agents whose lessons are to be reviewed, with the months of the notes."""
        due: dict[Scope, list[str]] = {}
        for info in self._objects.list(LESSONS):
            _, _, month, workspace, agent, _ = info.key.split("/")
            if month > month_of(now):
                break
            due.setdefault(Scope(workspace, agent), []).append(month)
        return {scope: tuple(months) for scope, months in due.items()}

    def settle_lessons(self, scope: Scope, months: Iterable[str]) -> None:
        """Delete the notes. Call it before reading the lessons: a later write notes its own."""
        self._objects.delete([lessons_key(month, scope) for month in months])

    def standing(self, notes: Sequence[str]) -> tuple[str, ...]:
        """Return those of the notes that still exist."""
        return tuple(
            note for note in notes if self._objects.get(note) is not None
        )


def build_marks(
    scope: Scope, periods: Iterable[Period], *written: str, version: int = 0
) -> LedgerChanges:
    """Return the marks for a write below these periods.

    `written` are ids or hashes of the write; they name the marks. `version` is the version
    of the store that holds it; 0: not known.
    """
    token = f"{digest(*written, length=_TOKEN_LENGTH)}.{version}"
    below = sorted(set(periods))
    marks = [due_key(scope, period, token) for period in below]
    return LedgerChanges(marks=tuple(marks))


def _narrow(folder: str, scope: Scope | None) -> str:
    return f"{folder}/{scope}" if scope else folder


def _scope_of(key: str) -> Scope:
    """Return the agent that a key of `due` or `failed` names."""
    workspace, agent = key.split("/")[4:6]
    return Scope(workspace, agent)


def _decode_failure(stored: StoredObject) -> Failure:
    """Return the failure; for a damaged record, one attempt, to be retried immediately.

    A nightly run reads the failures of all agents. A damaged one must not stop it.
    """
    with suppress(
        AttributeError, LookupError, RecursionError, TypeError, ValueError
    ):
        body = json.loads(stored.data)
        next_try = parse_instant(body["nextTry"])
        return Failure(int(body["attempts"]), str(body["reason"]), next_try)
    return Failure(1, "the note of its failure is damaged", EARLIEST)
