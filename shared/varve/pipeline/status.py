"""How things stand: what memory holds, which periods wait, and why some have failed."""

from datetime import datetime
from typing import Any

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, is_closed, iso
from varve.domain.identity import Scope
from varve.domain.workspace import WorkspaceConfig
from varve.pipeline.ledger import Ledger
from varve.pipeline.plan import GRACE
from varve.ports import GraphReader, MemoryReader, Objects


def status(
    scope: Scope,
    now: datetime,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
    graph: GraphReader,
    ledger: Ledger,
    objects: Objects,
) -> dict[str, Any]:
    """Counts, bytes, oldest and newest of each grain, its periods' states, and the graph, as JSON values."""
    triples = graph.triples(scope)
    grains = {str(grain): _grain(scope, grain, reader, objects) for grain in Grain}
    for grain in SUMMARY_GRAINS:
        grains[grain]["periods"] = _periods(scope, grain, now, config, reader, ledger)
    return {
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "plan": str(config.plan),
        "timezone": config.timezone,
        "grains": grains,
        "graph": {
            "triples": len(triples),
            "current": sum(1 for triple in triples if triple.invalid_at is None),
            "bytes": _bytes(f"graphs/{scope}", objects),
        },
        "timeline": {"bytes": _bytes(f"timeline/{scope}", objects)},
    }


def _grain(scope: Scope, grain: Grain, reader: MemoryReader, objects: Objects) -> dict[str, Any]:
    count = sum(reader.periods(scope, grain).values())
    span = reader.span(scope, grain) if count else None
    return {
        "records": count,
        "bytes": _bytes(f"vectordb/{scope}/{grain}", objects),
        "oldest": iso(span[0]) if span else None,
        "newest": iso(span[1]) if span else None,
    }


def _periods(
    scope: Scope, grain: Grain, now: datetime, config: WorkspaceConfig, reader: MemoryReader, ledger: Ledger
) -> dict[str, Any]:
    """How many are ready; which are due (closed, no summary), stale (something new below) and failed.

    A period that is still open is none of these.
    """
    ready = {Period(grain, label) for label in reader.periods(scope, grain)}
    marked = {due.period for due in ledger.due(grain, scope)}
    closed = {period for period in marked if is_closed(period, now, config.zone, GRACE)}
    failures = {period: failure for (_, period), failure in ledger.failures(grain, scope).items()}
    return {
        "ready": len(ready - marked),
        "due": [period.label for period in sorted(closed - ready - set(failures))],
        "stale": [period.label for period in sorted((closed & ready) - set(failures))],
        "failed": [
            {
                "period": period.label,
                "attempts": failure.attempts,
                "reason": failure.reason,
                "nextTry": iso(failure.next_try),
            }
            for period, failure in sorted(failures.items())
        ],
    }


def _bytes(prefix: str, objects: Objects) -> int:
    return sum(info.size for info in objects.list(prefix))
