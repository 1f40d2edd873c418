"""Clean up: delete expired periods, from working upward, whose parents are ready."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key, noted_grain
from varve.domain.record import Store, StoreName
from varve.domain.retention import expires_at, oldest_kept, timeline_limit
from varve.domain.search.query import Filter
from varve.domain.tally import TallyColumn
from varve.domain.workspace import SummaryScope, WorkspaceConfig
from varve.messages.write import ExpirePeriods, send_expiry
from varve.ports.records import MemoryReader
from varve.usecases.experience.forgetting import find_forgotten
from varve.usecases.experience.rows import delete_rows
from varve.usecases.forget.expiring_requests import (
    ExpiringRequests,
    find_expiring,
    settle_expiring,
)
from varve.usecases.ledger import Ledger
from varve.usecases.operate.cost_objects import expire_costs
from varve.usecases.search.objects import expire_searches
from varve.usecases.session import Session
from varve.usecases.timeline import (
    delete_days,
    list_days,
    timeline_expiry_notes,
)

FOREVER = "forever"
LOOK_AGAIN = timedelta(hours=23)
"""When to look again at a period that waits for its parent: before tomorrow's run."""


@dataclass(frozen=True, slots=True)
class GrainReport:
    """Cleanup result for one store.

    `expired` are the records to delete by period, `unsealed` those kept because their
    parent's summary is missing or out of date. `incomplete` are the parents of those that
    have summaries, but not of every user. `oldest_kept` is the oldest period within the
    limit. `next_expiry` is when to look again; None: nothing will expire.
    """

    grain: StoreName
    limit: str
    expired: Mapping[str, int]
    unsealed: Mapping[str, int]
    oldest_kept: str
    next_expiry: datetime | None
    incomplete: frozenset[Period] = frozenset()

    @property
    def records(self) -> int:
        """How many records are to be deleted."""
        return sum(self.expired.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "limit": self.limit,
            "oldestKept": None if self.limit == FOREVER else self.oldest_kept,
            "expiredPeriods": len(self.expired),
            "expiredRecords": self.records,
            "unsealed": dict(self.unsealed),
        }


@dataclass(frozen=True, slots=True)
class CleanupReport:
    """One agent's cleanup.

    `timeline` are the days whose messages are to be deleted. `next_notes` are the expiry
    notes for the next day's messages. `forgotten` are the rows of experience to delete
    beside retention, with their reasons. `requests` are those of users to forget, if words
    in working memory go.
    """

    grains: tuple[GrainReport, ...]
    timeline: tuple[str, ...]
    force: bool = False
    next_notes: tuple[str, ...] = ()
    forgotten: Mapping[str, str] = field(default_factory=dict)
    requests: ExpiringRequests = field(default_factory=ExpiringRequests)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        grains = {str(one.grain): one.to_dict() for one in self.grains}
        return {
            "grains": grains,
            "timelineDays": len(self.timeline),
            "requestsToForget": self.requests.lost,
            "forgotten": dict(self.forgotten),
        }


def inspect(
    session: Session, grains: Collection[Grain], *, force: bool = False
) -> CleanupReport:
    """Return what cleanup would do in these grains; `force` takes unsealed periods too.

    A request to forget stays as long as words or a summary of before wait for a rebuild.
    """
    scope = session.scope
    config = session.config
    store = _Store(scope, session.now, config, session.records, session.ledger)
    reports: list[GrainReport] = []
    for grain in Grain:
        if grain in grains:
            reports.append(_inspect_grain(grain, store, force))
    if Grain.YEARLY in grains:
        reports.append(_inspect_experience(store))
    own = config.retention.timeline_limit
    limit = timeline_limit(config.plan, own, session.now, config.zone)
    oldest = oldest_kept(Grain.DAILY, limit, session.now, config.zone).label
    days = list_days(scope, objects=session.objects)
    gone = tuple(day for day in days if day < oldest)
    left = days[len(gone) :]
    next_notes: tuple[str, ...] = ()
    if left:
        next_notes = timeline_expiry_notes(left[0], scope, config)
    next_notes = (*next_notes, *_note_forgetting(store))
    requests = find_expiring(session, _list_expired_days(reports))
    needed = frozenset() if force else _list_needed(requests, reports, store)
    if needed:
        reports = [_keep_days(one, needed, store) for one in reports]
        requests = find_expiring(session, _list_expired_days(reports))
    return CleanupReport(
        tuple(reports),
        gone,
        force,
        next_notes,
        find_forgotten(session),
        requests,
    )


def _list_expired_days(reports: Iterable[GrainReport]) -> Collection[str]:
    """Return the days of working memory that expire."""
    for one in reports:
        if one.grain is Grain.WORKING:
            return one.expired
    return ()


def _list_needed(
    requests: ExpiringRequests, reports: Iterable[GrainReport], store: "_Store"
) -> frozenset[str]:
    """Return the expired days of requests to forget that must stay.

    Without its request, what is built of the words of before has what was to be forgotten.
    """
    waiting: list[str] = []
    if requests.days:
        for one in reports:
            if one.grain is Grain.WORKING:
                waiting += one.unsealed
        for period in store.pending:
            if period in store.periods(period.grain):
                waiting.append(period.days[0].isoformat())
    first = min(waiting, default=None)
    return frozenset(
        day for day in requests.days if first is not None and first <= day
    )


def _keep_days(
    report: GrainReport, days: Collection[str], store: "_Store"
) -> GrainReport:
    """Return a store's report with days of working memory kept until tomorrow's run."""
    if report.grain is not Grain.WORKING:
        return report
    kept = {day: n for day, n in report.expired.items() if day in days}
    expired = {day: n for day, n in report.expired.items() if day not in days}
    return replace(
        report,
        expired=expired,
        unsealed={**report.unsealed, **kept},
        next_expiry=store.now + LOOK_AGAIN,
    )


def clean(
    session: Session, report: CleanupReport, notes: Iterable[str] = ()
) -> None:
    """Send the deletions, one message per store, in the store's own group.

    So a deletion overtakes no earlier write. The expiry `notes` that called for it are
    settled with it, and each store gets a note for its next expiry. What users asked to
    forget is proposed to a person and ended before words of it go. Raises Retryable.
    """
    scope = session.scope
    objects = session.objects
    noted = list(notes)
    settle_expiring(session, report.requests)
    for grain in report.grains:
        # Nothing else may say that they are due: as for an older store's summaries.
        session.ledger.mark(scope, grain.incomplete, "incomplete")
        settles = tuple(
            note for note in noted if noted_grain(note) is grain.grain
        )
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
    delete_rows(session, list(report.forgotten))
    expire_costs(session)
    expire_searches(session)
    session.ledger.change(LedgerChanges(expiries=report.next_notes))


@dataclass(frozen=True)
class _Store:
    """One agent's stores at one moment; the periods of each are read once."""

    scope: Scope
    now: datetime
    config: WorkspaceConfig
    reader: MemoryReader
    ledger: Ledger
    _periods: dict[Grain, Mapping[Period, int]] = field(default_factory=dict)

    def periods(self, grain: Grain) -> Mapping[Period, int]:
        """Return the number of records by period."""
        if grain not in self._periods:
            counts = self.reader.periods(self.scope, grain).items()
            self._periods[grain] = {
                Period(grain, label): n for label, n in counts
            }
        return self._periods[grain]

    def users(self, grain: Grain) -> Mapping[str, set[str | None]]:
        """Return the users with records in each period, by the period's label."""
        users: dict[str, set[str | None]] = {}
        columns: tuple[TallyColumn, ...] = ("period", "user_id")
        tallies = self.reader.tally(self.scope, grain, columns, where=Filter())
        for tally in tallies:
            label, user_id = tally.key
            users.setdefault(label or "", set()).add(user_id)
        return users

    def oldest_kept(self, grain: Grain) -> Period:
        """Return the oldest period within the limit."""
        return oldest_kept(
            grain, self.config.limit(grain), self.now, self.config.zone
        )

    @cached_property
    def pending(self) -> frozenset[Period]:
        """The due periods of all grains. The writer checks for marks put after this."""
        return self.ledger.pending(self.scope)


def _inspect_grain(grain: Grain, store: _Store, force: bool) -> GrainReport:
    oldest = store.oldest_kept(grain)
    counts = store.periods(grain)
    over = sorted(period for period in counts if period < oldest)
    unsealed: set[Period] = set()
    incomplete: frozenset[Period] = frozenset()
    if over and not force:
        incomplete = _find_incomplete(over, grain, store)
        unsealed = _find_unsealed(over, grain, store)
        unsealed.update(one for one in over if one.parent() in incomplete)
    expired: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for period in over:
        found = waiting if period in unsealed else expired
        found[period.label] = counts[period]
    return GrainReport(
        grain=grain,
        limit=str(store.config.limit(grain)),
        expired=expired,
        unsealed=waiting,
        oldest_kept=oldest.label,
        next_expiry=_next_expiry(
            set(counts) - set(over), unsealed, grain, store
        ),
        incomplete=incomplete,
    )


def _find_incomplete(
    periods: Iterable[Period], grain: Grain, store: _Store
) -> frozenset[Period]:
    """Return the summarized parents of the periods that lack a user's summary.

    A period with records of a user may only be deleted if its parent has a summary of
    that user. Messages without a user, and the summaries of whole agents, need any.
    """
    above = grain.parent
    if above is None or store.config.summaries.scope is SummaryScope.AGENT:
        return frozenset()
    summarized = store.users(above)
    users = store.users(grain)
    incomplete: set[Period] = set()
    for period in periods:
        parent = period.parent()
        if parent is None or parent.label not in summarized:
            continue
        named = users.get(period.label, set()) - {None}
        if named - summarized[parent.label]:
            incomplete.add(parent)
    return frozenset(incomplete)


def _inspect_experience(store: _Store) -> GrainReport:
    """Inspect the experience store: it is kept by the year, as long as yearly summaries."""
    limit = store.config.limit(Grain.YEARLY)
    oldest = oldest_kept(
        Grain.YEARLY, limit, store.now, store.config.zone
    ).label
    counts = store.reader.periods(store.scope, Store.EXPERIENCE)
    expired = {
        label: n for label, n in sorted(counts.items()) if label < oldest
    }
    return GrainReport(Store.EXPERIENCE, str(limit), expired, {}, oldest, None)


def _note_forgetting(store: _Store) -> tuple[str, ...]:
    """Return a note to look again tomorrow at experience that may be forgotten."""
    years = store.reader.periods(store.scope, Store.EXPERIENCE)
    if not store.config.experience.forgets or not years:
        return ()
    return (expiry_key(store.now + LOOK_AGAIN, store.scope, Grain.YEARLY),)


def _next_expiry(
    kept: set[Period], unsealed: set[Period], grain: Grain, store: _Store
) -> datetime | None:
    """Return when to look again: when the oldest kept period expires.

    If a period waits for its parent, that is tomorrow.
    """
    if unsealed:
        return store.now + LOOK_AGAIN
    limit = store.config.limit(grain)
    zone = store.config.zone
    expiries = [expires_at(period, limit, zone) for period in kept]
    return min(expiries, default=None)


def _find_unsealed(
    periods: Iterable[Period], grain: Grain, store: _Store
) -> set[Period]:
    """Return the periods whose parent has no summary that is up to date.

    A summary is out of date if new records make its period or the period below it stale.
    An expired parent counts as ready, because it was ready before it expired.
    """
    above = grain.parent
    if above is None:
        return set()
    grains = list(Grain)
    finer = grains[: grains.index(above)]
    stale = set(store.pending)
    for due in store.pending:
        if due.grain in finer:
            stale.add(Period.of_day(due.days[0], grain))
    ready = store.periods(above)
    oldest = store.oldest_kept(above)
    unsealed: set[Period] = set()
    for period in periods:
        parent = period.parent()
        is_ready = parent is not None and (parent in ready or parent < oldest)
        is_stale = period in stale or parent in stale
        if is_stale or not is_ready:
            unsealed.add(period)
    return unsealed
