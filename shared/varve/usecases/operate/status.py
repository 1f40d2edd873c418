"""Status: the contents of memory, the periods that wait, and why some have failed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, is_closed, iso
from varve.domain.experience.link_types import is_link
from varve.domain.identity import Scope
from varve.domain.ledger import Failure, noted_grain
from varve.domain.mention import in_words
from varve.domain.notes import is_note_key
from varve.domain.search.query import Filter
from varve.domain.tally import SPAN, Tally
from varve.ports.meter import doing
from varve.ports.records import MemoryReader
from varve.usecases.corrections.superseded import confirm_triples
from varve.usecases.erasure import receipts
from varve.usecases.erasure.rereads import read_plan
from varve.usecases.ingest.waiting import folder_of
from varve.usecases.inspection.occurring import list_people, list_topics
from varve.usecases.operate.budget import read_budget
from varve.usecases.plan import GRACE
from varve.usecases.search.find import Stock
from varve.usecases.session import Session


@doing("status")
def status(
    session: Session, *, people: bool = False, topics: bool = False
) -> dict[str, Any]:
    """Return counts, bytes, model and span of each grain, its periods, and the graph.

    `backlog`: closed periods whose summary is missing or stale and has not failed, and
    the grains of which something has expired. `graph.confirmed`: when what holds was last
    confirmed, and the statement for which that was longest ago. `erasure`: the last receipt, or None.
    `budget`: that of the workspace's month for models, or None; `waiting`: parts of
    conversations, and periods, that wait for it.
    `rereads`: conversations that an interrupted erasure left to be read again.
    `people` and `topics` are listed on request.
    """
    scope = session.scope
    now = session.now
    ledger = session.ledger
    reader = session.records.at(scope)
    due = ledger.pending(scope)
    closed = [
        period
        for period in sorted(due)
        if is_closed(period, now, session.zone, GRACE)
    ]
    failures = _failures(session, closed)
    grains = {str(grain): _grain(session, grain, reader) for grain in Grain}
    for grain in SUMMARY_GRAINS:
        ready = {
            Period(grain, label) for label in reader.periods(scope, grain)
        }
        waiting = [period for period in closed if period.grain is grain]
        states = _states(waiting, ready, failures)
        grains[grain]["periods"] = {"ready": len(ready - due), **states}
    expired = {noted_grain(note) for note in ledger.expired_of(scope, now)}
    return {
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "plan": str(session.config.plan),
        "timezone": session.config.timezone,
        "grains": grains,
        "backlog": {
            "periods": len(closed) - len(failures),
            "cleanups": len(expired),
        },
        "graph": _graph(session, reader),
        "notes": _notes(session),
        "timeline": {"bytes": _bytes(session, f"timeline/{scope}")},
        "erasure": receipts.last(scope, objects=session.objects),
        **_budget(session),
        "rereads": len(read_plan(scope, objects=session.objects)),
        **_list_occurring(session, people=people, topics=topics),
    }


def _list_occurring(
    session: Session, *, people: bool, topics: bool
) -> dict[str, Any]:
    listed: dict[str, Any] = {}
    if people:
        listed["people"] = list_people(session)
    if topics:
        listed["topics"] = list_topics(session)
    return listed


def _budget(session: Session) -> dict[str, Any]:
    """Return the month's budget for models, and how many marks wait for it."""
    budget = read_budget(session)
    marks = session.objects.list(folder_of(session.scope))
    return {
        "budget": None if budget is None else budget.to_dict(),
        "waiting": sum(1 for _ in marks),
    }


def _failures(
    session: Session, periods: Iterable[Period]
) -> dict[Period, Failure]:
    failures: dict[Period, Failure] = {}
    for period in periods:
        failure = session.ledger.failure(session.scope, period)
        if failure:
            failures[period] = failure
    return failures


def _grain(
    session: Session, grain: Grain, reader: MemoryReader
) -> dict[str, Any]:
    scope = session.scope
    counted = _count(scope, grain, reader)
    oldest = min((one.oldest for one in counted), default=None)
    newest = max((one.newest for one in counted), default=None)
    return {
        "records": sum(one.records for one in counted),
        "bytes": _bytes(session, f"vectordb/{scope}/{grain}"),
        "model": session.store.stores.model(scope, grain),
        "oldest": oldest and iso(oldest),
        "newest": newest and iso(newest),
    }


def _count(scope: Scope, grain: Grain, reader: MemoryReader) -> list[Tally]:
    """Return the tallies of a grain; those of summaries have the days of their sources."""
    by = () if grain is Grain.WORKING else SPAN
    tallies = reader.tally(scope, grain, by, where=Filter())
    return [one.date_by_sources() for one in tallies] if by else tallies


def _graph(session: Session, reader: MemoryReader) -> dict[str, Any]:
    triples, current = session.graph.counts(session.scope, session.now)
    size = _bytes(session, f"graphs/{session.scope}")
    return {
        "triples": triples,
        "current": current,
        "bytes": size,
        "confirmed": _confirmed(session, reader) if current else None,
    }


def _confirmed(
    session: Session, reader: MemoryReader
) -> dict[str, Any] | None:
    """Return when the current triples were last confirmed: the longest ago, and the newest.

    Links between episodes are no statements.
    """
    triples = session.graph.triples(session.scope)
    held = {
        one.id: one
        for one in triples
        if one.holds(session.now) and not is_link(one)
    }
    if not held:
        return None
    stated = {
        id_: max(one.event_time for one in triple.evidence)
        for id_, triple in held.items()
    }
    stock = Stock(
        session.scope,
        reader,
        session.embedder,
        triples=lambda: triples,
    )
    confirmed = confirm_triples(stated, list(held.values()), stock)
    oldest, id_ = min((time, id_) for id_, time in confirmed.items())
    return {
        "oldest": iso(oldest),
        "statement": in_words(held[id_]),
        "newest": iso(max(confirmed.values())),
    }


def _notes(session: Session) -> dict[str, Any]:
    """Return how many notes there are, of the agent and its users, and their bytes."""
    sizes: list[int] = []
    for one in session.objects.list(f"notes/{session.scope}"):
        if is_note_key(one.key):
            sizes.append(one.size)
    return {"count": sum(map(bool, sizes)), "bytes": sum(sizes)}


def _states(
    closed: Sequence[Period],
    ready: Collection[Period],
    failures: Mapping[Period, Failure],
) -> dict[str, Any]:
    """Return which closed periods are due (no summary), stale (new sources) and failed."""
    due: list[str] = []
    stale: list[str] = []
    failed: list[dict[str, Any]] = []
    for period in closed:
        failure = failures.get(period)
        if failure is not None:
            failed.append(_failure_as_json(period, failure))
        elif period in ready:
            stale.append(period.label)
        else:
            due.append(period.label)
    return {"due": due, "stale": stale, "failed": failed}


def _failure_as_json(period: Period, failure: Failure) -> dict[str, Any]:
    return {
        "period": period.label,
        "attempts": failure.attempts,
        "reason": failure.reason,
        "nextTry": iso(failure.next_try),
    }


def _bytes(session: Session, prefix: str) -> int:
    return sum(info.size for info in session.objects.list(prefix))
