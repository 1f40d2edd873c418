"""Triples: describe an entity, walk the graph, and send operations to the writer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from varve.domain.calendar import aware
from varve.domain.entities import find_spellings, fold_known_at
from varve.domain.errors import Rejected
from varve.domain.experience.link_types import is_experience, is_link
from varve.domain.graph import Neighbour, Neighbourhood, PathStep
from varve.domain.idle_deletions import idle_deletions, list_stating
from varve.domain.known_names import KnownNames
from varve.domain.names import ALSO_KNOWN_AS, Names
from varve.domain.triple import (
    Op,
    Triple,
    TripleOperation,
    evidence_of,
    may_end,
)
from varve.domain.validation import valid_text
from varve.messages.write import WriteTriples, send_triples
from varve.ports.graph import GraphView
from varve.usecases.forget.asked_triples import triples_as_json
from varve.usecases.privacy import filter_operation
from varve.usecases.session import Session

MAX_HOPS = 6
MAX_GRAPH_ANSWERS = 1_000
MAX_SUGGESTIONS = 10


def send_operations(
    session: Session, operations: Sequence[TripleOperation]
) -> int:
    """Send triple operations, filtered as extracted ones are, to the writer; return how many.

    A deletion of what begins only then or later ends it where it begins. One that ends
    nothing is not sent, unless a queue may still hold what it ends.
    Raises Rejected, Retryable, Misconfigured.
    """
    filtered = [filter_operation(one, session.privacy) for one in operations]
    sent = tuple(_arrange_deletions(session, filtered))
    if sent:
        message = WriteTriples(session.scope, sent)
        queue = session.queues.write
        send_triples(message, queue=queue, objects=session.objects)
    return len(sent)


def _arrange_deletions(
    session: Session, operations: Sequence[TripleOperation]
) -> list[TripleOperation]:
    """Return the operations, each deletion no earlier than the beginning of its triple.

    Operations apply in the order of their event times, endings first: an earlier deletion
    would change nothing. A deletion of what was not stated is left out.
    """
    if not any(operation.op is Op.DELETE for operation in operations):
        return list(operations)
    triples = session.graph.triples(session.scope)
    known = list(evidence_of(triples).values())
    sent: list[TripleOperation] = []
    for operation in operations:
        if operation.op is Op.DELETE:
            operation = _after_beginnings(operation, [*known, *sent])
        sent.append(operation)
    if session.queues.delivers_writes:
        return sent
    deletions = [one for one in sent if one.op is Op.DELETE]
    idle = idle_deletions(deletions, [*known, *sent])
    return [operation for operation in sent if operation.id not in idle]


def _after_beginnings(
    deletion: TripleOperation, others: Sequence[TripleOperation]
) -> TripleOperation:
    """Return the deletion at the first beginning, if nothing began before it."""
    beginnings = [
        (other.event_time, other.object)
        for other in list_stating(deletion, others)
        if may_end(deletion.user_id, other.user_id)
    ]
    if not beginnings:
        return deletion
    first, value = min(beginnings)
    if first < deletion.event_time:
        return deletion
    return replace(deletion, event_time=first, replaces=value)


def describe_entity(
    session: Session,
    name: str,
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    history: bool = False,
) -> dict[str, Any]:
    """Return the triples that name an entity, as JSON values; `name` may be an alias.

    `as_of` selects the triples that held then, `known_at` those known then. Without
    `as_of`, `history` adds those that held before. `ambiguousNames` are the claimants of
    `ambiguous` as people write them. Raises Rejected: names the field.
    """
    view = _open_view(session)
    names = view.names()
    id_ = names.entity(valid_text(name, "name"))
    found = view.about(id_)
    spellings = find_spellings([*view.aliases(), *found])
    if known_at is not None:
        found = fold_known_at(found, aware(known_at, "known_at"), names)
    if as_of is not None or not history:
        at = _moment(session, as_of)
        found = [triple for triple in found if triple.holds(at)]
    facts, mentions = _split_by_role(found, id_)
    told = triples_as_json(session, [*facts, *mentions], spellings)
    claimants = names.claimants(name)
    return {
        "id": id_,
        "name": spellings.get(id_, id_),
        "aliases": _aliases_of(id_, names),
        "ambiguous": list(claimants),
        "ambiguousNames": [_spell(view, one) for one in claimants],
        "facts": told[: len(facts)],
        "mentions": told[len(facts) :],
    }


def _spell(view: GraphView, id_: str) -> str:
    """Return an entity's name as people write it."""
    return find_spellings([*view.aliases(), *view.about(id_)]).get(id_, id_)


def _split_by_role(
    found: Iterable[Triple], id_: str
) -> tuple[list[Triple], list[Triple]]:
    """Return the triples with the entity as subject, and those with it as object.

    Aliases are left out.
    """
    facts: list[Triple] = []
    mentions: list[Triple] = []
    for triple in found:
        if triple.label == ALSO_KNOWN_AS:
            continue
        if triple.source_id == id_:
            facts.append(triple)
        elif triple.target_id == id_:
            mentions.append(triple)
    return facts, mentions


def _aliases_of(id_: str, names: Names) -> list[str]:
    owners = names.resolved().items()
    return sorted(alias for alias, owner in owners if owner == id_)


def suggest_names(session: Session, name: str) -> list[str]:
    """Return the entities whose names have all words of this one, as people write them."""
    known = KnownNames(session.graph.triples(session.scope))
    found = known.suggest(valid_text(name, "name"))
    return known.spell(found[:MAX_SUGGESTIONS])


def find_neighbours(
    session: Session,
    name: str,
    hops: int,
    *,
    as_of: datetime | None,
    most: int,
) -> list[dict[str, Any]]:
    """Return the entities within `hops` hops, each with the edge that reached it.

    Raises Rejected: hops or most out of bounds.
    """
    _require_within("hops", hops, MAX_HOPS)
    _require_within("most", most, MAX_GRAPH_ANSWERS)
    view = _open_view(session)
    start = view.names().entity(valid_text(name, "name"))
    found = view.neighbours(start, hops, _moment(session, as_of), most)
    return [_neighbour_as_json(neighbour) for neighbour in found]


def find_paths(
    session: Session,
    a: str,
    b: str,
    max_hops: int,
    *,
    as_of: datetime | None,
    most: int,
) -> list[list[dict[str, str]]]:
    """Return paths from `a` to `b`, the shortest first, each a list of edges.

    Raises Rejected: max_hops or most out of bounds.
    """
    _require_within("max_hops", max_hops, MAX_HOPS)
    _require_within("most", most, MAX_GRAPH_ANSWERS)
    view = _open_view(session)
    names = view.names()
    start = names.entity(valid_text(a, "a"))
    goal = names.entity(valid_text(b, "b"))
    if start == goal:
        return []
    found = view.paths(start, goal, max_hops, _moment(session, as_of), most)
    return [list(map(_step_as_json, path)) for path in found]


def list_neighbourhood(
    session: Session, name: str | None, *, most: int, experience: bool = False
) -> Neighbourhood:
    """Return the triples to draw: those around an entity, or the newest that hold.

    Links between episodes are left out, unless `experience` or the entity is one of
    experience itself. Raises Rejected: most out of bounds.
    """
    _require_within("most", most, MAX_GRAPH_ANSWERS)
    view = _open_view(session)
    if name is None:
        chosen = view.newest(most, session.now, links=experience)
        total = view.holding(session.now, links=experience)
    else:
        id_ = view.names().entity(valid_text(name, "name"))
        with_links = experience or is_experience(id_)
        around = _triples_around(view, id_, session.now, with_links=with_links)
        chosen = around[:most]
        total = len(around)
    spellings = find_spellings([*view.aliases(), *chosen])
    edges = triples_as_json(session, chosen, spellings)
    return Neighbourhood(edges, total - len(edges))


def _open_view(session: Session) -> GraphView:
    return session.graph.open(session.scope)


def _moment(session: Session, as_of: datetime | None) -> datetime:
    return session.now if as_of is None else aware(as_of, "as_of")


def _triples_around(
    view: GraphView, id_: str, now: datetime, *, with_links: bool
) -> list[Triple]:
    """Return an entity's triples, past ones too, then those its neighbours have at `now`.

    Of each part, those that hold come first, the newest of them at the beginning.
    """
    own: list[Triple] = []
    for triple in _select_drawn(view.about(id_), with_links):
        if id_ in (triple.source_id, triple.target_id):
            own.append(triple)
    known = {triple.id for triple in own}
    further: list[Triple] = []
    for neighbour in _list_neighbours(own, id_, now):
        stated = _select_drawn(view.about(neighbour), with_links)
        held = _select_held(stated, neighbour, now)
        further += [triple for triple in held if triple.id not in known]
    return [*_sort_current_first(own), *_sort_current_first(further)]


def _list_neighbours(
    own: Iterable[Triple], id_: str, now: datetime
) -> list[str]:
    """Return the entities that a current triple joins to this one, in order."""
    ends: set[str] = set()
    for triple in own:
        if triple.holds(now):
            ends |= {triple.source_id, triple.target_id}
    return sorted(ends - {id_})


def _select_held(
    triples: Iterable[Triple], subject: str, now: datetime
) -> Iterator[Triple]:
    for triple in triples:
        if triple.source_id == subject and triple.holds(now):
            yield triple


def _select_drawn(
    found: Iterable[Triple], with_links: bool
) -> Iterator[Triple]:
    """Yield the triples to draw: no aliases, and none that never held."""
    for triple in found:
        if (
            triple.label == ALSO_KNOWN_AS
            or triple.valid_at == triple.invalid_at
        ):
            continue
        if with_links or not is_link(triple):
            yield triple


def _sort_current_first(triples: Iterable[Triple]) -> list[Triple]:
    newest = sorted(triples, key=lambda triple: triple.valid_at, reverse=True)
    return sorted(newest, key=lambda triple: triple.invalid_at is not None)


def _require_within(field: str, value: int, limit: int) -> None:
    if not 1 <= value <= limit:
        raise Rejected(field, f"must be from 1 to {limit:,}")


def _neighbour_as_json(found: Neighbour) -> dict[str, Any]:
    source, target = found.entity, found.other
    if found.forward:
        source, target = target, source
    return {
        "id": found.entity,
        "hops": found.hops,
        "label": found.label,
        "from": source,
        "to": target,
    }


def _step_as_json(step: PathStep) -> dict[str, str]:
    source, target = step.source, step.target
    if not step.forward:
        source, target = target, source
    return {"from": source, "label": step.label, "to": target}
