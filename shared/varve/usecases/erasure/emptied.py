"""Periods of which an erasure left nothing: they are due no more."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period
from varve.domain.errors import Retryable
from varve.usecases.session import Session
from varve.usecases.summaries.summarize import summarize


def settle_emptied(session: Session) -> None:
    """Settle the due periods that have no summary and nothing below them.

    If the store fails, they stay due, and the next run of their grain settles them.
    """
    with suppress(Retryable):
        _settle(session)


def _settle(session: Session) -> None:
    scope = session.scope
    # Listed before anything is read: a later write adds its own marks.
    due = set(session.ledger.pending(scope))
    for grain in SUMMARY_GRAINS:
        waiting = sorted(period for period in due if period.grain is grain)
        for period in _find_empty(session, waiting, due):
            summarize(session, period)
            due.discard(period)


def _find_empty(
    session: Session, waiting: Sequence[Period], due: Collection[Period]
) -> list[Period]:
    """Return the periods of one grain that have no summary, and no period below them."""
    if not waiting:
        return []
    scope, grain = session.scope, waiting[0].grain
    held = session.records.periods(scope, grain)
    below = session.records.periods(scope, grain.child or Grain.WORKING)
    return [
        period
        for period in waiting
        if period.label not in held
        and not any(
            one in due or one.label in below for one in _list_children(period)
        )
    ]


def _list_children(period: Period) -> list[Period]:
    if period.grain is Grain.DAILY:
        return [Period(Grain.WORKING, period.label)]
    return list(period.children())
