"""The GraphReader and GraphWriter ports over a dictionary."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from varve.domain import triple
from varve.domain.identity import Scope
from varve.domain.triple import Triple, TripleOperation


class InMemoryGraph:
    """The operations of each agent by id, folded into triples on every read."""

    def __init__(self) -> None:
        self._operations: dict[Scope, dict[str, TripleOperation]] = {}

    def apply(
        self, scope: Scope, operations: Sequence[TripleOperation]
    ) -> int:
        known = self._operations.setdefault(scope, {})
        before = len(known)
        for operation in operations:
            earlier = known.get(operation.id, operation)
            known[operation.id] = triple.first_learnt(earlier, operation)
        return len(known) - before

    def erase(self, scope: Scope, operation_ids: Iterable[str]) -> int:
        known = self._operations.get(scope, {})
        left = triple.remove_operations(known, operation_ids)
        self._operations[scope] = left
        return len(known) - len(left)

    def triples(self, scope: Scope) -> list[Triple]:
        known = self._operations.get(scope, {})
        return triple.fold(known.values())

    def counts(self, scope: Scope, at: datetime) -> tuple[int, int]:
        triples = self.triples(scope)
        holding = [one for one in triples if one.holds(at)]
        return len(triples), len(holding)
