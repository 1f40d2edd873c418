"""Costs: fold what this process has counted into the store, and read it with prices.

An agent's month is one object, so a fold takes one read and one conditional write, and
two more for the workspace's sums where models were asked.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Lock
from uuid import uuid4
from zoneinfo import ZoneInfo

from varve.domain.calendar import day_of
from varve.domain.costs import (
    CostRow,
    Costs,
    Days,
    add_counts,
    encode_days,
    merge,
    models_share,
    month_of_day,
    parse_days,
    price_rows,
)
from varve.domain.errors import Contended, Rejected
from varve.domain.identity import Scope
from varve.domain.prices import prices_with
from varve.domain.usage import Item, Purpose
from varve.ports.clock import Clock
from varve.ports.meter import Meter, doing
from varve.ports.objects import Objects
from varve.usecases.behind import Behind
from varve.usecases.operate.cost_objects import (
    WHOLE,
    month_key,
    months_in,
    read_days,
    store_key,
    workspace_key,
)
from varve.usecases.session import OpenSession, Session
from varve.usecases.write.contention import until_uncontended

FOLD = "fold"
"""The verb under which a fold counts its own requests."""
FOLD_AFTER_SECONDS = 300.0
_OWN_PUT = Counter({str(Item.PUTS): 1})
UTC_ZONE = ZoneInfo("UTC")


@dataclass(slots=True)
class _Unfolded:
    """One agent's counts that are not in the store yet; `models` for the workspace."""

    counts: dict[Purpose, Counter[str]] = field(default_factory=dict)
    models: dict[Purpose, Counter[str]] = field(default_factory=dict)

    def add(self, purpose: Purpose, counts: Counter[str]) -> None:
        """Take counts in."""
        self.counts.setdefault(purpose, Counter()).update(counts)
        share = models_share(counts)
        if share and purpose.scope is not None:
            self.models.setdefault(purpose, Counter()).update(share)


class CostFolder:
    """Folds one process's counts into the store; a failed fold keeps them."""

    def __init__(
        self,
        meter: Meter,
        open_session: OpenSession,
        objects: Callable[[], Objects],
        clock: Clock,
    ) -> None:
        self._meter = meter
        self._open = open_session
        self._objects = objects
        self._clock = clock
        self._lock = Lock()
        self._waiting: dict[Scope | None, _Unfolded] = {}
        self._behind = Behind("varve-costs")

    def fold_behind(self) -> None:
        """Fold in the background if the oldest count waits for `FOLD_AFTER_SECONDS`."""
        if self._meter.age >= FOLD_AFTER_SECONDS:
            self._behind.start(self.fold)

    def finish(self) -> None:
        """Wait for the fold in the background, if there is one."""
        self._behind.finish()

    def fold(self) -> None:
        """Add the counts to the objects of their months.

        Raises Retryable, Misconfigured, Rejected: the next fold tries again.
        """
        with self._lock:
            for purpose, counts in self._meter.take().items():
                waiting = self._waiting.setdefault(purpose.scope, _Unfolded())
                waiting.add(purpose, counts)
            for scope in list(self._waiting):
                self._fold_one(scope, self._waiting[scope])
                del self._waiting[scope]

    def _fold_one(self, scope: Scope | None, waiting: _Unfolded) -> None:
        now = self._clock()
        if scope is None:
            objects = self._objects()
            self._put_months(
                objects, None, store_key, waiting.counts, now, UTC_ZONE
            )
            return
        with self._meter.serve(scope, FOLD):
            session = self._open(scope)
            zone = session.zone
        if waiting.models:
            key_of = partial(workspace_key, scope.workspace)
            self._put_months(
                session.objects,
                scope,
                key_of,
                waiting.models,
                now,
                zone,
                own=False,
            )
            waiting.models.clear()
        key_of = partial(month_key, scope)
        self._put_months(
            session.objects, scope, key_of, waiting.counts, now, zone
        )

    def _put_months(
        self,
        objects: Objects,
        scope: Scope | None,
        key_of: Callable[[str], str],
        counts: dict[Purpose, Counter[str]],
        now: datetime,
        zone: ZoneInfo,
        *,
        own: bool = True,
    ) -> None:
        """Add counts to the objects of their months, and what that takes if `own`."""
        months: dict[str, Days] = {}
        for purpose, counted in counts.items():
            day = day_of(purpose.quarter or now, zone)
            days = months.setdefault(month_of_day(day), {})
            add_counts(days, day, purpose.verb, counted)
        for month, days in sorted(months.items()):
            add = partial(
                self._add_to_month,
                objects,
                scope,
                key_of(month),
                days,
                own=own,
            )
            until_uncontended(add)

    def _add_to_month(
        self,
        objects: Objects,
        scope: Scope | None,
        key: str,
        days: Days,
        *,
        own: bool,
    ) -> None:
        """Add the days to a month's object. Raises Contended: another process was first."""
        purpose = Purpose(scope, FOLD)
        with self._meter.serve(scope, FOLD):
            stored = objects.get(key)
        known = parse_days(stored.data, key) if stored else {}
        used = self._meter.take_of(purpose) if own else Counter()
        if used:
            # A put cannot be counted after itself, so its own content counts it.
            add_counts(days, max(days), FOLD, used + _OWN_PUT)
        data = encode_days(merge(known, days), uuid4().hex)
        etag = stored.etag if stored else None
        with self._meter.serve(scope, FOLD):
            done = objects.put_if(key, data, etag)
        used = self._meter.take_of(purpose) if own else Counter()
        if not done:
            add_counts(days, max(days), FOLD, used - _OWN_PUT)
            raise Contended(f"{key}: another process counted")


@doing("costs")
def read_costs(
    session: Session, since: datetime | None = None, *, everyone: bool = False
) -> Costs:
    """Return what the workspace's agents have used since the day of an instant.

    By default since the calendar month began. With `everyone` of all the store's
    workspaces, each at its own prices, and of the work that is no agent's. The session
    must be the owner's. Raises Rejected: `since` lies after today; Retryable, Misconfigured.
    """
    until = day_of(session.now, session.zone)
    first = month_of_day(until) + "-01"
    if since is not None:
        first = day_of(since, session.zone)
    if first > until:
        raise Rejected("since", f"{first} lies after today, {until}")
    rows: list[CostRow] = []
    for workspace in _workspaces(session, everyone=everyone):
        rows += _read_workspace(session, workspace, first, until)
    if everyone:
        days = _read_folder(session.objects, f"costs/{WHOLE}", first, until)
        rows += price_rows(None, None, days, prices_with(None))
    return Costs(first, until, tuple(rows))


@doing("costs")
def read_month(session: Session, month: str) -> Costs:
    """Return what the workspace's agents have used in a calendar month.

    The session must be the owner's. Raises Retryable, Misconfigured, Rejected.
    """
    first, last = f"{month}-01", f"{month}-31"
    rows = _read_workspace(session, session.scope.workspace, first, last)
    return Costs(first, last, tuple(rows))


def list_months(session: Session) -> list[str]:
    """Return the calendar months of which the workspace has costs, oldest first."""
    found: set[str] = set()
    workspace = session.scope.workspace
    for agent in session.objects.folders(f"costs/{workspace}"):
        found.update(months_in(session.objects, f"costs/{workspace}/{agent}"))
    return sorted(found)


def _read_workspace(
    session: Session, workspace: str, first: str, last: str
) -> list[CostRow]:
    prices = prices_with(session.read_config(workspace).costs.prices)
    rows: list[CostRow] = []
    for agent in session.objects.folders(f"costs/{workspace}"):
        if agent != WHOLE:
            folder = f"costs/{workspace}/{agent}"
            days = _read_folder(session.objects, folder, first, last)
            rows += price_rows(workspace, agent, days, prices)
    return rows


def _workspaces(session: Session, *, everyone: bool) -> Iterator[str]:
    if not everyone:
        yield session.scope.workspace
        return
    for name in session.objects.folders("costs"):
        if name != WHOLE:
            yield name


def _read_folder(objects: Objects, folder: str, first: str, last: str) -> Days:
    """Return the days from `first` to `last` in a folder's months."""
    days: Days = {}
    for month, key in months_in(objects, folder).items():
        if not month_of_day(first) <= month <= month_of_day(last):
            continue
        for day, verbs in read_days(objects, key).items():
            for verb, counts in verbs.items():
                if first <= day <= last:
                    add_counts(days, day, verb, counts)
    return days
