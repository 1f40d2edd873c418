"""Report: a workspace's month, for its operator."""

from collections.abc import Iterator
from datetime import date, datetime

from varve.domain.calendar import start_of_day
from varve.domain.errors import Rejected
from varve.domain.graph import QueryLimits
from varve.domain.identity import Scope
from varve.domain.monthly_report import (
    MEASURES,
    AgentMonth,
    Erasure,
    MonthlyReport,
    build_query,
)
from varve.domain.validation import valid_text
from varve.ports.analytics import OpenStage
from varve.usecases.analytics.query import query_workspace
from varve.usecases.erasure import receipts
from varve.usecases.operate.agents import list_agent_names
from varve.usecases.operate.costs import read_month
from varve.usecases.session import Session


def report(
    session: Session, month: str, open_stage: OpenStage
) -> MonthlyReport:
    """Report a calendar month of the session's workspace, in its time zone.

    The session must be the owner's. Raises Rejected: `month` is not like `2026-10`;
    Retryable.
    """
    start, end = _find_bounds(session, month)
    found = query_workspace(
        session, build_query(start, end), open_stage, QueryLimits()
    )
    figures: dict[str, dict[str, int]] = {}
    for agent, measure, number in found.rows:
        figures.setdefault(agent, dict.fromkeys(MEASURES, 0))[measure] = number
    agents = [AgentMonth(agent, figures[agent]) for agent in sorted(figures)]
    return MonthlyReport(
        session.scope.workspace,
        month,
        tuple(agents),
        tuple(_find_erasures(session, month)),
        read_month(session, month),
    )


def _find_bounds(session: Session, month: str) -> tuple[datetime, datetime]:
    """Return the first instants of the calendar month and of the next.

    A monthly `Period` begins with a week, so it is no calendar month.
    """
    valid_text(month, "month")
    try:
        first = date.fromisoformat(f"{month}-01")
        year = first.year + first.month // 12
        after = date(year, first.month % 12 + 1, 1)
    except ValueError as error:
        raise Rejected(
            "month", f"{month[:40]!r} is not like 2026-10"
        ) from error
    return start_of_day(first, session.zone), start_of_day(after, session.zone)


def _find_erasures(session: Session, month: str) -> Iterator[Erasure]:
    workspace = session.scope.workspace
    for agent in list_agent_names(session):
        scope = Scope(workspace, agent)
        for one in receipts.of_month(scope, month, objects=session.objects):
            yield Erasure(
                agent, one["receipt"], one["complete"], one["proved"]
            )
