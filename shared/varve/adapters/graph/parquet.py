"""An agent's triples in one Parquet object, replaced under the condition that nobody else did."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from varve.domain import triple
from varve.domain.errors import Retryable
from varve.domain.graph import QueryLimits, QueryResult
from varve.domain.identity import Scope
from varve.domain.names import ALSO_KNOWN_AS, Names, normalized
from varve.domain.triple import Triple, TripleOperation
from varve.ports.objects import Objects, StoredObject

if TYPE_CHECKING:
    from varve.adapters.graph.table import GraphTable

MAX_RACES = 20


class ParquetGraph:
    """GraphReader, GraphQueries and GraphWriter over `graphs/{workspace}/{agent}/facts.parquet`.

    DuckDB is imported on first use: who only holds the writer for other stores does not pay for it.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._lock = Lock()
        self._opened: tuple[Scope, str | None, GraphTable] | None = None
        self._read: tuple[GraphTable, list[Triple]] | None = None

    def triples(self, scope: Scope) -> list[Triple]:
        table = self.open(scope)
        with self._lock:
            if self._read is None or self._read[0] is not table:
                self._read = (table, table.triples())
            return [*self._read[1]]

    def open(self, scope: Scope) -> "GraphTable":
        """The agent's table as it is stored now: one GET, and no loading where nothing has changed.

        Raises Damaged, as all of this class that reads: the object is not such a table.
        """
        stored = self._objects.get(_key(scope))
        etag = stored.etag if stored else None
        with self._lock:
            if self._opened is None or self._opened[:2] != (scope, etag):
                self._opened = (scope, etag, _table(scope, stored))
            return self._opened[2]

    def counts(self, scope: Scope, at: datetime) -> tuple[int, int]:
        return self.open(scope).counts(at)

    def query(self, scope: Scope, sql: str, limits: QueryLimits) -> QueryResult:
        from varve.adapters.graph import sandbox
        from varve.adapters.graph.table import require_footer

        stored = self._objects.get(_key(scope))
        if stored is None:
            return sandbox.query(_table(scope, None).encoded(), sql, limits)
        require_footer(_key(scope), stored.data)
        return sandbox.query(stored.data, sql, limits)

    def apply(self, scope: Scope, operations: Sequence[TripleOperation]) -> int:
        """Fold the operations in; the number of those that were new.

        A lost race reads again, applies again and tries again. One whose acknowledgement got lost
        finds its own bytes in place (`put_if` says so) or, if another has written since, that nothing
        it brings is new. Raises Retryable: the storage failed, or every race was lost.
        """
        for _ in range(MAX_RACES):
            stored = self._objects.get(_key(scope))
            table = _table(scope, stored)
            try:
                new = change(table, operations)
                if new is None:
                    return 0
                if self._objects.put_if(
                    _key(scope), table.encoded(), stored.etag if stored else None
                ):
                    return new
            finally:
                table.close()
        raise Retryable(f"graph {scope}: lost {MAX_RACES} races for facts.parquet")

    def erase(self, scope: Scope, operation_ids: Iterable[str]) -> int:
        doomed = frozenset(operation_ids)
        for _ in range(MAX_RACES):
            stored = self._objects.get(_key(scope))
            table = _table(scope, stored)
            try:
                gone = _take_back(table, doomed)
                etag = stored.etag if stored else None
                if not gone or self._objects.put_if(_key(scope), table.encoded(), etag):
                    return gone
            finally:
                table.close()
        raise Retryable(f"graph {scope}: lost {MAX_RACES} races for facts.parquet")


def _take_back(table: "GraphTable", doomed: frozenset[str]) -> int:
    """Fold everything anew without these operations, for an alias among them may have joined any groups."""
    triples = table.triples()
    known = triple.evidence_of(triples)
    left = triple.remove_operations(known, doomed)
    if len(left) < len(known):
        table.groups({(t.source_id, t.label) for t in triples}, ())
        table.replace_groups(triple.fold(left.values()))
    return len(known) - len(left)


def change(table: "GraphTable", operations: Sequence[TripleOperation]) -> int | None:
    """Fold the operations into the table; how many were new, None where they leave it as it is.

    Only groups (one entity's one predicate) that they can change are folded again: their own, and
    where an alias now stands for another entity, all in which any of its names occurs.
    """
    if not operations:
        return None
    aliases = triple.evidence_of(table.aliases())
    before = triple.stated_names(aliases.values())
    after = _names_with(aliases, operations) or before
    changed = before.changed(after)
    entities = changed | {
        names.entity(name) for name in changed for names in (before, after)
    }
    keys = {triple.group_key(operation, after) for operation in operations}
    known = triple.evidence_of(table.groups(keys, entities))
    merged = dict(known)
    for operation in operations:
        merged[operation.id] = triple.first_learnt(
            merged.get(operation.id, operation), operation
        )
    if merged == known:
        return None
    table.replace_groups(triple.fold(merged.values(), after))
    return len(merged) - len(known)


def _names_with(
    aliases: dict[str, TripleOperation], operations: Sequence[TripleOperation]
) -> Names | None:
    """The names with what the operations say of them; None where they say nothing of names."""
    stated = [o for o in operations if normalized(o.predicate) == ALSO_KNOWN_AS]
    return (
        triple.stated_names({**aliases, **{o.id: o for o in stated}}.values())
        if stated
        else None
    )


def _table(scope: Scope, stored: StoredObject | None) -> "GraphTable":
    from varve.adapters.graph.table import GraphTable

    return GraphTable(stored.data if stored else None, _key(scope))


def _key(scope: Scope) -> str:
    return f"graphs/{scope.workspace}/{scope.agent}/facts.parquet"
