"""How things stand: what memory holds, where, and how much of it."""

from typing import Any

from varve.domain.calendar import Grain, iso
from varve.domain.identity import Scope
from varve.domain.query import Filter
from varve.ports import GraphReader, MemoryReader, Objects


def status(scope: Scope, *, reader: MemoryReader, graph: GraphReader, objects: Objects) -> dict[str, Any]:
    """Counts, bytes, oldest and newest of each grain and of the graph, as JSON values."""
    triples = graph.triples(scope)
    return {
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "grains": {str(grain): _grain(scope, grain, reader, objects) for grain in Grain},
        "graph": {
            "triples": len(triples),
            "current": sum(1 for triple in triples if triple.invalid_at is None),
            "bytes": _bytes(f"graphs/{scope.workspace}/{scope.agent}", objects),
        },
        "timeline": {"bytes": _bytes(f"timeline/{scope.workspace}/{scope.agent}", objects)},
    }


def _grain(scope: Scope, grain: Grain, reader: MemoryReader, objects: Objects) -> dict[str, Any]:
    count = reader.count(scope, grain, where=Filter())
    span = reader.span(scope, grain) if count else None
    return {
        "records": count,
        "bytes": _bytes(f"vectordb/{scope.workspace}/{scope.agent}/{grain}", objects),
        "oldest": iso(span[0]) if span else None,
        "newest": iso(span[1]) if span else None,
    }


def _bytes(prefix: str, objects: Objects) -> int:
    return sum(info.size for info in objects.list(prefix))
