"""One agent's triples, as a program queries and changes them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Self

from varve.api.arguments import checks_arguments
from varve.domain.errors import Rejected
from varve.domain.graph import Neighbourhood, QueryLimits, parse_fact
from varve.domain.identity import Scope
from varve.domain.triple import Op, TripleOperation
from varve.usecases.corrections.corrected_messages import correct_messages
from varve.usecases.corrections.replaced import end_attributes, tell_operation
from varve.usecases.corrections.replaced_messages import (
    find_replaced_messages,
)
from varve.usecases.local import catch_up
from varve.usecases.triples import (
    describe_entity,
    find_neighbours,
    find_paths,
    list_neighbourhood,
    send_operations,
    suggest_names,
)
from varve.wiring.sessions import Sessions

Fact = Mapping[str, Any]


@checks_arguments
class Graph:
    """One agent's triples.

    Every query reads the triples stored at that moment. Changes are collected until
    `save()` sends them to the writer. If a write queue is configured, they can be read
    when the writer has handled them; otherwise they are written immediately. A `with`
    block saves at its end unless it ends in an error.

    >>> with memory.graph as graph:
    ...     graph.update_facts([{"source_id": "Dana", "label": "lives_in", "target_id": "Porto"}])
    >>> memory.graph.entity("Dana")["facts"]
    """

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self.scope = scope
        self._unsaved: list[TripleOperation] = []

    def insert_facts(self, facts: Iterable[Fact]) -> None:
        """Collect facts that hold.

        A fact maps source_id, label and target_id, and optionally valid_at (default:
        now) and properties (confidence, conversationId, messageIds, userId). A new value
        of a single-valued label closes the one before. Raises Rejected: no fact was
        collected.
        """
        self._collect(Op.ADD, facts)

    def update_facts(self, facts: Iterable[Fact]) -> None:
        """Collect facts that replace others.

        A fact replaces the value that `replaces` names and, with a single-valued label,
        whatever value held. Raises Rejected: no fact was collected.
        """
        self._collect(Op.UPDATE, facts)

    def delete_facts(self, facts: Iterable[Fact]) -> None:
        """Collect facts to end; without target_id every value of the label ends.

        They stay as history. What is not there is not deleted, and `save` does not count
        it. Raises Rejected: no fact was collected.
        """
        self._collect(Op.DELETE, facts)

    def save(self) -> int:
        """Send the collected changes to the writer; return how many.

        A deletion that ends nothing is not sent. If a write queue is configured it is,
        because what it ends may wait there.
        Raises Retryable: the changes stay collected.
        """
        sent = 0
        if self._unsaved:
            with self._sessions.open(self.scope) as session:
                replaced = find_replaced_messages(session, self._unsaved)
                sent = send_operations(session, self._unsaved)
                made = correct_messages(
                    session,
                    (
                        (one, partial(tell_operation, operation))
                        for operation, messages in replaced
                        for one in messages
                    ),
                )
                for operation, messages in replaced:
                    of_operation = [
                        one for one in made if one.ended in messages
                    ]
                    end_attributes(session, of_operation, operation)
                catch_up(session)
        self._unsaved.clear()
        return sent

    def close(self) -> None:
        """Discard the changes that were not saved."""
        self._unsaved.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.save()
        finally:
            self.close()

    def query_graph(
        self, sql: str, limits: QueryLimits | None = None
    ) -> list[dict[str, Any]]:
        """Run one untrusted SELECT over `facts`, `entities` and `aliases`.

        Return its rows as JSON objects. The query runs in a separate read-only process
        without files, network or settings, with bounded time, memory and output.
        Raises Rejected: field `sql`, with the reason or the limit that was exceeded.
        """
        with self._sessions.open(self.scope) as session:
            result = session.graph.query(
                self.scope, sql, limits or QueryLimits()
            )
        return result.to_dicts()

    def entity(
        self,
        name: str,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
    ) -> dict[str, Any]:
        """Return the triples that name an entity, as JSON values; `name` may be an alias.

        `as_of` selects the triples that held then, `known_at` those known then. Without
        them the result has those that hold; `history` adds those that held before.
        `ambiguous` lists the entities that claim the name if there are several, and
        `ambiguousNames` their names as people write them.
        """
        with self._sessions.open(self.scope) as session:
            return describe_entity(
                session, name, as_of=as_of, known_at=known_at, history=history
            )

    def suggest(self, name: str) -> list[str]:
        """Return the entities whose names have all words of this one, at most ten."""
        with self._sessions.open(self.scope) as session:
            return suggest_names(session, name)

    def neighbours(
        self,
        name: str,
        hops: int = 1,
        *,
        as_of: datetime | None = None,
        most: int = 100,
    ) -> list[dict[str, Any]]:
        """Return the entities within `hops` hops (1 to 6), nearest first.

        Each has the edge that reached it. Of each entity only the newest fifty edges
        are followed. Raises Rejected: hops or most out of bounds.
        """
        with self._sessions.open(self.scope) as session:
            return find_neighbours(session, name, hops, as_of=as_of, most=most)

    def paths(
        self,
        a: str,
        b: str,
        max_hops: int = 3,
        *,
        as_of: datetime | None = None,
        most: int = 10,
    ) -> list[list[dict[str, str]]]:
        """Return paths between two entities, the shortest first.

        A path is a list of edges with from, label and to. Edges count in both
        directions; a path visits no entity twice. Raises Rejected: as `neighbours`.
        """
        with self._sessions.open(self.scope) as session:
            return find_paths(session, a, b, max_hops, as_of=as_of, most=most)

    def edges(
        self,
        name: str | None = None,
        *,
        most: int = 200,
        experience: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the triples to draw, in the shape of `entity`'s facts.

        They are an entity's triples, past ones too, and those that hold about its
        neighbours; without a name, the newest that hold. `experience` adds the links
        between episodes. Raises Rejected: most out of bounds.
        """
        return self.neighbourhood(name, most=most, experience=experience).edges

    def neighbourhood(
        self,
        name: str | None = None,
        *,
        most: int = 200,
        experience: bool = False,
    ) -> Neighbourhood:
        """Return what `edges` does, and how many more there are."""
        with self._sessions.open(self.scope) as session:
            return list_neighbourhood(
                session, name, most=most, experience=experience
            )

    def _collect(self, op: Op, facts: Iterable[Fact]) -> None:
        if isinstance(facts, Mapping | str):
            raise Rejected("facts", "must be a list of facts, not one")
        now = self._sessions.clock()
        self._unsaved += [
            parse_fact(op, fact, now, f"facts[{index}]")
            for index, fact in enumerate(facts)
        ]
