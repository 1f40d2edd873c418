"""An agent's triples in one Parquet object, replaced by conditional puts."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from varve.domain import triple
from varve.domain.calendar import EARLIEST
from varve.domain.errors import Contended
from varve.domain.graph import QueryLimits, QueryResult
from varve.domain.identity import Scope
from varve.domain.names import ALSO_KNOWN_AS, Names, normalized
from varve.domain.triple import Op, Triple, TripleOperation
from varve.ports.objects import Objects, StoredObject

if TYPE_CHECKING:
    from varve.adapters.graph.table import GraphTable

MAX_GRAPH_RACES = 20


class ParquetGraph:
    """GraphReader, GraphQueries and GraphWriter over one object for each agent.

    Its key is `graphs/{workspace}/{agent}/facts.parquet`. DuckDB is imported on first
    use, so that a writer of other stores does not pay for it. All methods that read raise
    Damaged if the object is not such a table.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._lock = Lock()
        self._opened: tuple[Scope, str | None, GraphTable] | None = None
        self._cached: tuple[GraphTable, list[Triple]] | None = None

    def triples(self, scope: Scope) -> list[Triple]:
        table = self.open(scope)
        with self._lock:
            if self._cached is None or self._cached[0] is not table:
                self._cached = (table, table.triples())
            _, triples = self._cached
            return list(triples)

    def open(self, scope: Scope) -> "GraphTable":
        """Open the agent's current table.

        It takes one GET, and loads the table only if the object has changed.
        """
        stored = self._objects.get(_key(scope))
        etag = stored.etag if stored else None
        with self._lock:
            opened = self._opened
            if opened is None or opened[:2] != (scope, etag):
                opened = (scope, etag, _load_table(scope, stored))
                self._opened = opened
        _, _, table = opened
        return table

    def counts(self, scope: Scope, at: datetime) -> tuple[int, int]:
        return self.open(scope).counts(at)

    def query(
        self, scope: Scope, sql: str, limits: QueryLimits
    ) -> QueryResult:
        from varve.adapters.graph import sandbox
        from varve.adapters.graph.table import require_footer

        key = _key(scope)
        stored = self._objects.get(key)
        if stored is None:
            empty = _load_table(scope, None)
            return sandbox.query(empty.encode(), sql, limits)
        require_footer(key, stored.data)
        return sandbox.query(stored.data, sql, limits)

    def apply(
        self, scope: Scope, operations: Sequence[TripleOperation]
    ) -> int:
        """Fold the operations in; return how many were new.

        After a lost race it reads and applies again. A put whose answer was lost is safe:
        `put_if` recognizes the same bytes. If another writer has written since, the
        operations are not new.
        Raises Retryable: the storage failed; Contended: every race was lost.
        """

        def fold(table: "GraphTable") -> int | None:
            return change(table, operations)

        return self._replace(scope, fold)

    def erase(self, scope: Scope, operation_ids: Iterable[str]) -> int:
        doomed = frozenset(operation_ids)

        def fold(table: "GraphTable") -> int | None:
            return _remove(table, doomed) or None

        return self._replace(scope, fold)

    def _replace(
        self, scope: Scope, fold: "Callable[[GraphTable], int | None]"
    ) -> int:
        """Change the table and put it in place of the one it was read from.

        `fold` returns a count, or None if it changes nothing. Returns that count.
        """
        key = _key(scope)
        for _ in range(MAX_GRAPH_RACES):
            stored = self._objects.get(key)
            etag = stored.etag if stored else None
            table = _load_table(scope, stored)
            try:
                changed = fold(table)
                if changed is None:
                    return 0
                if self._objects.put_if(key, table.encode(), etag):
                    return changed
            finally:
                table.close()
        raise Contended(
            f"graph {scope}: lost {MAX_GRAPH_RACES} races for facts.parquet"
        )


def _remove(table: "GraphTable", doomed: frozenset[str]) -> int:
    """Remove operations and fold all others again; return how many there were.

    An alias among the removed ones may have joined any groups.
    """
    triples = table.triples()
    known = triple.evidence_of(triples)
    left = triple.remove_operations(known, doomed)
    if len(left) < len(known):
        table.replace(triples, triple.fold(left.values()))
    return len(known) - len(left)


def change(
    table: "GraphTable", operations: Sequence[TripleOperation]
) -> int | None:
    """Fold the operations into the table.

    Returns how many were new, or None if they change nothing. Only groups (one
    predicate of one entity) that can change are folded again. Those are the operations' own
    groups, from the first changed time on. If a name now stands for another entity, all
    groups that name either are folded whole.
    """
    if not operations:
        return None
    aliases = triple.evidence_of(table.aliases())
    before = triple.stated_names(aliases.values())
    after = _names_with(aliases, operations) or before
    changed = before.changed(after)
    entities = set(changed)
    for name in changed:
        entities |= {before.entity(name), after.entity(name)}
    groups = table.groups(_changed_since(operations, after), entities)
    known = triple.evidence_of(groups)
    merged = dict(known)
    for operation in operations:
        earlier = merged.get(operation.id, operation)
        merged[operation.id] = triple.first_learnt(earlier, operation)
    if merged == known:
        return None
    table.replace(groups, triple.fold(merged.values(), after))
    return len(merged) - len(known)


def _changed_since(
    operations: Sequence[TripleOperation], names: Names
) -> dict[tuple[str, str], datetime]:
    """Return the groups that the operations change, each with the first time of a change.

    A deletion may add to the evidence of any earlier ending.
    """
    since: dict[tuple[str, str], datetime] = {}
    for operation in operations:
        key = triple.group_key(operation, names)
        time = operation.event_time
        if operation.op is Op.DELETE:
            time = EARLIEST
        since[key] = min(time, since.get(key, time))
    return since


def _names_with(
    aliases: dict[str, TripleOperation], operations: Sequence[TripleOperation]
) -> Names | None:
    """Return the names after the operations, or None if they state no alias."""
    stated = {}
    for operation in operations:
        if normalized(operation.predicate) == ALSO_KNOWN_AS:
            stated[operation.id] = operation
    if not stated:
        return None
    merged = aliases | stated
    return triple.stated_names(merged.values())


def _load_table(scope: Scope, stored: StoredObject | None) -> "GraphTable":
    from varve.adapters.graph.table import GraphTable

    data = stored.data if stored else None
    return GraphTable(data, _key(scope))


def _key(scope: Scope) -> str:
    return f"graphs/{scope.workspace}/{scope.agent}/facts.parquet"
