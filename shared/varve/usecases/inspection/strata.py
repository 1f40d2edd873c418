"""Strata: every period with its state and counts, and the counts of any span."""

from collections import defaultdict
from collections.abc import Iterable

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, is_closed
from varve.domain.ledger import Failure
from varve.domain.record import MemoryType
from varve.domain.search.query import Filter
from varve.domain.strata import Calendar, Kept, Strata, build_strata
from varve.domain.tally import Tally
from varve.usecases.plan import GRACE
from varve.usecases.session import Session
from varve.usecases.timeline import list_days


def read_strata(session: Session, *, user_id: str | None = None) -> Strata:
    """Return all periods of which memory holds or held something; reads no words.

    With `user_id` the counts are of that user's records. Raises Retryable.
    """
    kept = _read_kept(session, Filter(user_id=user_id))
    if user_id is None:
        for day in list_days(session.scope, objects=session.objects):
            kept.setdefault(Period(Grain.DAILY, day), Kept())
    pending = session.ledger.pending(session.scope)
    calendar = Calendar(session.now, session.zone, GRACE, session.config.limit)
    return build_strata(
        kept, pending, _read_failures(session, pending), calendar
    )


def count_span(session: Session, where: Filter) -> Tally | None:
    """Count the turns and facts that pass a filter; None: there are none."""
    tallies = session.records.tally(
        session.scope, Grain.WORKING, (), where=where
    )
    return tallies[0] if tallies else None


def _read_kept(session: Session, where: Filter) -> dict[Period, Kept]:
    reader = session.records.at(session.scope)
    by_type: defaultdict[str, dict[str, int]] = defaultdict(dict)
    working = reader.tally(
        session.scope, Grain.WORKING, ("period", "memory_type"), where=where
    )
    for tally in working:
        day, memory_type = tally.key
        by_type[str(day)][str(memory_type)] = tally.records
    kept = {
        Period(Grain.DAILY, day): _count_day(by_type[day]) for day in by_type
    }
    for grain in SUMMARY_GRAINS:
        tallies = reader.tally(session.scope, grain, ("period",), where=where)
        for tally in tallies:
            (label,) = tally.key
            period = Period(grain, str(label))
            said = kept.get(period, Kept())
            kept[period] = Kept(
                said.turns, said.facts, tally.records, tally.sources
            )
    return kept


def _count_day(by_type: dict[str, int]) -> Kept:
    turns = by_type.get(MemoryType.TURN, 0)
    return Kept(turns=turns, facts=sum(by_type.values()) - turns)


def _read_failures(
    session: Session, pending: Iterable[Period]
) -> dict[Period, Failure]:
    """Return the failures of the closed periods that wait for a summary."""
    failures: dict[Period, Failure] = {}
    for period in pending:
        if is_closed(period, session.now, session.zone, GRACE):
            failure = session.ledger.failure(session.scope, period)
            if failure is not None:
                failures[period] = failure
    return failures
