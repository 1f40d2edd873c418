"""Clean up: what has outlived its plan goes, from working upward, unless its parent is not ready."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key, noted_grain
from varve.domain.record import Store, StoreName
from varve.domain.retention import expires_at, oldest_kept, timeline_limit
from varve.domain.workspace import WorkspaceConfig
from varve.messages.write import ExpirePeriods, send_expiry
from varve.ports.records import MemoryReader
from varve.usecases.ledger import Ledger
from varve.usecases.session import Session
from varve.usecases.timeline import delete_days, ending, kept_days

LOOK_AGAIN = timedelta(hours=23)
"""After this, noted by the full hour, what waits for its parent is looked at: by tomorrow's pass."""


@dataclass(frozen=True, slots=True)
class GrainReport:
    """What of one grain goes, what should but is kept because its parent is not ready, and what stays."""

    grain: StoreName
    limit: str
    expired: Mapping[str, int]
    unsealed: Mapping[str, int]
    oldest_kept: str
    next_expiry: datetime | None

    @property
    def records(self) -> int:
        """How many records go."""
        return sum(self.expired.values())


@dataclass(frozen=True, slots=True)
class CleanupReport:
    """One agent's cleanup; `timeline` are the days whose messages go, `ending` notes when the next do."""

    grains: tuple[GrainReport, ...]
    timeline: tuple[str, ...]
    force: bool = False
    ending: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "grains": {
                str(g.grain): {
                    "limit": g.limit,
                    "oldestKept": g.oldest_kept,
                    "expiredPeriods": len(g.expired),
                    "expiredRecords": g.records,
                    "unsealed": dict(g.unsealed),
                }
                for g in self.grains
            },
            "timelineDays": len(self.timeline),
        }


def inspect(
    session: Session, grains: Collection[Grain], *, force: bool = False
) -> CleanupReport:
    """Report what cleanup would do in these grains; `force` takes unsealed periods too."""
    scope = session.scope
    config = session.config
    store = _Store(scope, session.now, config, session.records, session.ledger)
    reports = tuple(_inspect(grain, store, force) for grain in Grain if grain in grains)
    if Grain.YEARLY in grains:
        reports += (_inspect_experience(store),)
    own = config.retention.timeline_limit
    limit = timeline_limit(config.plan, own, session.now, config.zone)
    oldest = oldest_kept(Grain.DAILY, limit, session.now, config.zone).label
    days = kept_days(scope, objects=session.objects)
    gone = tuple(day for day in days if day < oldest)
    left = days[len(gone) :]
    next_note = ending(left[0], scope, config) if left else ()
    return CleanupReport(reports, gone, force, next_note)


def clean(session: Session, report: CleanupReport, notes: Iterable[str] = ()) -> None:
    """Send the deletions, one message a store, in the store's own group.

    No write is overtaken that way. The `notes` of expiry that called for it go when it
    is done, and one stays for what expires next. Raises Retryable.
    """
    scope = session.scope
    objects = session.objects
    noted = list(notes)
    for grain in report.grains:
        settles = tuple(note for note in noted if noted_grain(note) is grain.grain)
        expiries: tuple[str, ...] = ()
        if grain.next_expiry:
            expiries = (expiry_key(grain.next_expiry, scope, grain.grain),)
        changes = LedgerChanges(settles, expiries)
        if not grain.expired:
            session.ledger.change(changes)
            continue
        message = ExpirePeriods(
            scope, grain.grain, tuple(grain.expired), changes, report.force
        )
        send_expiry(message, queue=session.queues.write, objects=objects)
    delete_days(report.timeline, scope, objects=objects)
    session.ledger.change(LedgerChanges(expiries=report.ending))


@dataclass(frozen=True)
class _Store:
    """One agent's stores at one moment; each is asked once for its periods."""

    scope: Scope
    now: datetime
    config: WorkspaceConfig
    reader: MemoryReader
    ledger: Ledger
    _periods: dict[Grain, Mapping[Period, int]] = field(default_factory=dict)

    def periods(self, grain: Grain) -> Mapping[Period, int]:
        """The records of each period."""
        if grain not in self._periods:
            labels = self.reader.periods(self.scope, grain)
            self._periods[grain] = {
                Period(grain, label): count for label, count in labels.items()
            }
        return self._periods[grain]

    def oldest_kept(self, grain: Grain) -> Period:
        """The first period whose time is not over."""
        return oldest_kept(grain, self.config.limit(grain), self.now, self.config.zone)

    @cached_property
    def pending(self) -> frozenset[Period]:
        """The due periods of all grains. What comes to one after this look, the writer sees."""
        return self.ledger.pending(self.scope)


def _inspect(grain: Grain, store: _Store, force: bool) -> GrainReport:
    oldest, counts = store.oldest_kept(grain), store.periods(grain)
    over = {period: n for period, n in counts.items() if period < oldest}
    unsealed = _unsealed(over, grain, store) if over and not force else set[Period]()
    return GrainReport(
        grain=grain,
        limit=str(store.config.limit(grain)),
        expired={
            period.label: n
            for period, n in sorted(over.items())
            if period not in unsealed
        },
        unsealed={
            period.label: n for period, n in sorted(over.items()) if period in unsealed
        },
        oldest_kept=oldest.label,
        next_expiry=_next_expiry(set(counts) - set(over), unsealed, grain, store),
    )


def _inspect_experience(store: _Store) -> GrainReport:
    """Experience is kept by the year, as long as yearly summaries are, and is looked at when they are."""
    limit = store.config.limit(Grain.YEARLY)
    oldest = oldest_kept(Grain.YEARLY, limit, store.now, store.config.zone).label
    counts = store.reader.periods(store.scope, Store.EXPERIENCE)
    expired = {label: n for label, n in sorted(counts.items()) if label < oldest}
    return GrainReport(Store.EXPERIENCE, str(limit), expired, {}, oldest, None)


def _next_expiry(
    kept: set[Period], unsealed: set[Period], grain: Grain, store: _Store
) -> datetime | None:
    """When to look again: tomorrow for what waits for its parent, else when the oldest kept expires."""
    if unsealed:
        return store.now + LOOK_AGAIN
    limit, zone = store.config.limit(grain), store.config.zone
    return min((expires_at(period, limit, zone) for period in kept), default=None)


def _unsealed(periods: Iterable[Period], grain: Grain, store: _Store) -> set[Period]:
    """Those whose parent has no summary yet, or that, or whose parent, something new has made stale.

    A parent that is gone because its own time was over had been ready before.
    """
    above, order = grain.parent, list(Grain)
    if above is None:
        return set()
    finer = order[: order.index(above)]
    stale = store.pending | {
        Period.of_day(one.days[0], grain) for one in store.pending if one.grain in finer
    }
    ready, oldest = store.periods(above), store.oldest_kept(above)
    sealed = (
        p
        for p in periods
        if (up := p.parent()) and (up in ready or up < oldest) and not {p, up} & stale
    )
    return {*periods}.difference(sealed)
