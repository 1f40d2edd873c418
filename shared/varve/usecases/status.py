"""How things stand: what memory holds, which periods wait, and why some have failed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, is_closed, iso
from varve.domain.identity import Scope
from varve.domain.ledger import Failure, noted_grain
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.ports.transfer import StoreReader
from varve.usecases.erasure import receipts
from varve.usecases.plan import GRACE
from varve.usecases.session import Session


def status(session: Session) -> dict[str, Any]:
    """Return counts, bytes, model and span of each grain, its periods, and the graph.

    `backlog`: closed periods whose summary is missing or stale and has not failed, and
    the grains of which something has expired. `erasure`: the last receipt, or None.
    """
    scope = session.scope
    config = session.config
    objects = session.objects
    ledger = session.ledger
    stores = session.store.stores
    now = session.now
    reader = session.records.at(scope)
    graph = session.graph
    triples, current = graph.counts(scope, now)
    grains = {
        str(grain): _grain(scope, grain, reader, objects, stores) for grain in Grain
    }
    due = ledger.pending(scope)
    closed = [
        period for period in sorted(due) if is_closed(period, now, config.zone, GRACE)
    ]
    failures = {
        period: failure
        for period in closed
        if (failure := ledger.failure(scope, period))
    }
    for grain in SUMMARY_GRAINS:
        ready = {Period(grain, label) for label in reader.periods(scope, grain)}
        waiting = [period for period in closed if period.grain is grain]
        grains[grain]["periods"] = {
            "ready": len(ready - due),
            **_states(waiting, ready, failures),
        }
    return {
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "plan": str(config.plan),
        "timezone": config.timezone,
        "grains": grains,
        "backlog": {
            "periods": len(closed) - len(failures),
            "cleanups": len(
                {noted_grain(note) for note in ledger.expired_of(scope, now)}
            ),
        },
        "graph": {
            "triples": triples,
            "current": current,
            "bytes": _bytes(f"graphs/{scope}", objects),
        },
        "timeline": {"bytes": _bytes(f"timeline/{scope}", objects)},
        "erasure": receipts.last(scope, objects=objects),
    }


def _grain(
    scope: Scope,
    grain: Grain,
    reader: MemoryReader,
    objects: Objects,
    stores: StoreReader,
) -> dict[str, Any]:
    count = sum(reader.periods(scope, grain).values())
    span = reader.span(scope, grain) if count else None
    return {
        "records": count,
        "bytes": _bytes(f"vectordb/{scope}/{grain}", objects),
        "model": stores.model(scope, grain),
        "oldest": iso(span[0]) if span else None,
        "newest": iso(span[1]) if span else None,
    }


def _states(
    closed: Sequence[Period],
    ready: Collection[Period],
    failures: Mapping[Period, Failure],
) -> dict[str, Any]:
    """Which periods are due (closed, no summary), stale (something new below) and failed.

    A period that is still open is none of these.
    """
    well = [period for period in closed if period not in failures]
    return {
        "due": [period.label for period in well if period not in ready],
        "stale": [period.label for period in well if period in ready],
        "failed": [
            {
                "period": period.label,
                "attempts": failures[period].attempts,
                "reason": failures[period].reason,
                "nextTry": iso(failures[period].next_try),
            }
            for period in closed
            if period in failures
        ],
    }


def _bytes(prefix: str, objects: Objects) -> int:
    return sum(info.size for info in objects.list(prefix))
