"""What is known about whom, as a program asks and changes it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from varve.domain import entities
from varve.domain.calendar import aware, iso
from varve.domain.errors import Rejected
from varve.domain.graph import PathStep, QueryLimits, parse_fact
from varve.domain.identity import Scope
from varve.domain.names import ALSO_KNOWN_AS, Names
from varve.domain.triple import Op, Triple, TripleOperation
from varve.domain.validation import valid_text
from varve.ports.graph import GraphView
from varve.usecases.triples import send_operations
from varve.wiring.sessions import Sessions

MAX_HOPS = 6
MAX_ANSWERS = 1_000

Fact = Mapping[str, Any]


class Graph:
    """One agent's triples.

    Every question reads what is stored when it is asked. Changes are collected and go nowhere until
    `save()` sends them: through the write queue where there is one, then they can be read once the
    writer has been there, else at once. A `with` block saves at its end unless it ends in an error.

    >>> with memory.graph as graph:
    ...     graph.update_facts([{"source_id": "Dana", "label": "lives_in", "target_id": "Porto"}])
    >>> memory.graph.entity("Dana")["facts"]
    """

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self.scope = scope
        self._unsaved: list[TripleOperation] = []

    def insert_facts(self, facts: Iterable[Fact]) -> None:
        """Note facts that hold: mappings of source_id, label, target_id, and optionally valid_at (default:
        now) and properties (confidence, conversationId, messageIds, userId).

        A new value of a single-valued label closes the one before. Raises Rejected: none was noted.
        """
        self._note(Op.ADD, facts)

    def update_facts(self, facts: Iterable[Fact]) -> None:
        """Note facts that take the place of others: of the one that `replaces` names, and with a
        single-valued label of whatever held. Raises Rejected: none was noted.
        """
        self._note(Op.UPDATE, facts)

    def delete_facts(self, facts: Iterable[Fact]) -> None:
        """Note facts that hold no longer; without target_id every value of the label. They stay as history.

        Raises Rejected: none was noted.
        """
        self._note(Op.DELETE, facts)

    def save(self) -> int:
        """Send what was noted to the writer; how many operations. Raises Retryable: they stay noted."""
        if self._unsaved:
            with self._sessions.open(self.scope) as session:
                send_operations(session, self._unsaved)
        sent = len(self._unsaved)
        self._unsaved.clear()
        return sent

    def close(self) -> None:
        """Forget what was noted and not saved."""
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
        """The rows of one SELECT over `facts`, `entities` and `aliases`, as JSON objects.

        For SQL that nobody vouches for: it runs in a process of its own, read-only, without files,
        network or settings, and bounded in time, memory and output.
        Raises Rejected: field `sql`, with the reason or the limit it passed.
        """
        return (
            self._sessions.open(self.scope)
            .graph.query(self.scope, sql, limits or QueryLimits())
            .to_dicts()
        )

    def entity(
        self,
        name: str,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
    ) -> dict[str, Any]:
        """What is known about an entity, by any of its names, as JSON values.

        `as_of` asks what held then, `known_at` what we believed then; without them what holds, with
        `history` also what held. `ambiguous` lists the entities that claim the name where several do.
        """
        view = self._open_view()
        names = view.names()
        id_ = names.entity(valid_text(name, "name"))
        found = view.about(id_)
        written = entities.find_spellings([*view.aliases(), *found])
        if known_at is not None:
            found = entities.fold_known_at(found, aware(known_at, "known_at"), names)
        if not history or as_of is not None:
            at = self._moment(as_of)
            found = [t for t in found if t.holds(at)]
        own = [
            t
            for t in found
            if id_ in (t.source_id, t.target_id) and t.label != ALSO_KNOWN_AS
        ]
        return {
            "id": id_,
            "name": written.get(id_, id_),
            "aliases": sorted(
                alias for alias, owner in names.resolved().items() if owner == id_
            ),
            "ambiguous": list(names.claimants(name)),
            "facts": [fact_json(t, written) for t in own if t.source_id == id_],
            "mentions": [fact_json(t, written) for t in own if t.source_id != id_],
        }

    def neighbours(
        self,
        name: str,
        hops: int = 1,
        *,
        as_of: datetime | None = None,
        most: int = 100,
    ) -> list[dict[str, Any]]:
        """The entities within so many hops, nearest first, each with the edge by which it was reached.

        Of each entity the newest fifty edges are followed. Raises Rejected: hops or most out of bounds.
        """
        _within("hops", hops, MAX_HOPS)
        _within("most", most, MAX_ANSWERS)
        view = self._open_view()
        start = view.names().entity(valid_text(name, "name"))
        found = view.neighbours(start, hops, self._moment(as_of), most)
        return [
            {
                "id": n.entity,
                "hops": n.hops,
                "label": n.label,
                "from": n.other if n.forward else n.entity,
                "to": n.entity if n.forward else n.other,
            }
            for n in found
        ]

    def paths(
        self,
        a: str,
        b: str,
        max_hops: int = 3,
        *,
        as_of: datetime | None = None,
        most: int = 10,
    ) -> list[list[dict[str, str]]]:
        """Ways from one entity to the other, the shortest first, each a list of edges from, label, to.

        Edges count in both directions; none passes an entity twice. Raises Rejected: as `neighbours`.
        """
        _within("max_hops", max_hops, MAX_HOPS)
        _within("most", most, MAX_ANSWERS)
        view = self._open_view()
        names = view.names()
        ends = names.entity(valid_text(a, "a")), names.entity(valid_text(b, "b"))
        if ends[0] == ends[1]:
            return []
        found = view.paths(*ends, max_hops, self._moment(as_of), most)
        return [[_step(link) for link in path] for path in found]

    def edges(
        self, name: str | None = None, *, most: int = 200
    ) -> list[dict[str, Any]]:
        """What there is to draw: an entity's facts, past ones too, and what holds about its neighbours;
        without a name the newest that hold. Facts as `entity` gives them.
        """
        _within("most", most, MAX_ANSWERS)
        view = self._open_view()
        now = self._moment(None)
        chosen = (
            view.newest(most, now)
            if name is None
            else _around(view, view.names(), name, now)
        )
        written = entities.find_spellings([*view.aliases(), *chosen])
        return [fact_json(t, written) for t in chosen if t.label != ALSO_KNOWN_AS][
            :most
        ]

    def _open_view(self) -> GraphView:
        return self._sessions.open(self.scope).graph.open(self.scope)

    def _moment(self, as_of: datetime | None) -> datetime:
        return self._sessions.clock() if as_of is None else aware(as_of, "as_of")

    def _note(self, op: Op, facts: Iterable[Fact]) -> None:
        now = self._sessions.clock()
        if isinstance(facts, Mapping | str):
            raise Rejected("facts", "must be a list of facts, not one")
        self._unsaved += [
            parse_fact(op, fact, now, f"facts[{i}]") for i, fact in enumerate(facts)
        ]


def fact_json(t: Triple, written: Mapping[str, str]) -> dict[str, Any]:
    """A triple as JSON values, its ends as they are written."""
    last = t.evidence[-1]
    return {
        "id": t.id,
        "source": written.get(t.source_id, t.source_id),
        "sourceId": t.source_id,
        "label": t.label,
        "target": written.get(t.target_id, t.target_id),
        "targetId": t.target_id,
        "validAt": iso(t.valid_at),
        "invalidAt": t.invalid_at and iso(t.invalid_at),
        "createdAt": iso(t.created_at),
        "expiredAt": t.expired_at and iso(t.expired_at),
        "confidence": t.confidence,
        "conversationId": last.conversation_id,
        "messageIds": list(last.message_ids),
        "userId": last.user_id,
    }


def _around(
    view: GraphView, names: Names, name: str, now: datetime
) -> Sequence[Triple]:
    """The entity's own triples, and those that hold about the entities next to it."""
    id_ = names.entity(valid_text(name, "name"))
    own = [
        t
        for t in view.about(id_)
        if id_ in (t.source_id, t.target_id) and t.valid_at != t.invalid_at
    ]
    chosen = {t.id: t for t in own}
    beyond = {
        t.target_id if t.source_id == id_ else t.source_id for t in own if t.holds(now)
    }
    for other in sorted(beyond):
        chosen |= {
            t.id: t for t in view.about(other) if t.source_id == other and t.holds(now)
        }
    return list(chosen.values())


def _step(link: PathStep) -> dict[str, str]:
    source, target = (
        (link.source, link.target) if link.forward else (link.target, link.source)
    )
    return {"from": source, "label": link.label, "to": target}


def _within(field: str, value: int, limit: int) -> None:
    if not 1 <= value <= limit:
        raise Rejected(field, f"must be from 1 to {limit:,}")
