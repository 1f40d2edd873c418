"""Graphiti's graph as JSON: `nodes`, `edges` and `episodes`, as its drivers return them.

It is the only source with intervals of validity. An edge becomes a fact of the graph
that begins and ends when the edge did; an episode becomes a message.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from varve.domain.calendar import iso
from varve.domain.triple import Op
from varve.importers.items import (
    Draft,
    Faulty,
    FoundFact,
    ImportOptions,
    Item,
    Source,
    is_object,
    objects_in,
    read_time,
    text_of,
    to_path_id,
    to_reference,
)
from varve.importers.streams import read_members

FORMAT = "graphiti"
MAX_EPISODES_OF_EDGE = 100


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an object holds edges with two nodes each."""
    edges = objects_in(first.get("edges"))
    return bool(edges) and "source_node_uuid" in edges[0]


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield the episodes as a conversation for each group, then the edges as facts."""
    names: dict[str, str] = {}
    drafts: dict[str, Draft] = {}
    number = 0
    for key, value in _read_members_of(source, "nodes", "episodes"):
        if key == "nodes":
            names[text_of(value.get("uuid"))] = text_of(value.get("name"))
        else:
            yield from _add_episode(
                drafts, value, f"episodes[{number}]", options
            )
            number += 1
    for draft in drafts.values():
        yield from draft.items()
    for number, (_, edge) in enumerate(_read_members_of(source, "edges")):
        yield from _read_edge(edge, f"edges[{number}]", names, options)


def _read_members_of(
    source: Source, *keys: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects in the file's lists of these names."""
    for key, value in read_members(source):
        if key in keys and is_object(value):
            yield key, value


def _add_episode(
    drafts: dict[str, Draft],
    episode: Mapping[str, Any],
    place: str,
    options: ImportOptions,
) -> Iterator[Item]:
    at = read_time(episode.get("valid_at")) or read_time(
        episode.get("created_at")
    )
    at = at or options.at
    if at is None:
        yield Faulty(place, "has no valid_at")
        return
    group = _name_group(episode)
    if group not in drafts:
        drafts[group] = Draft(FORMAT, group, place, options.user)
    drafts[group].add(
        "user",
        text_of(episode.get("content")),
        id_=text_of(episode.get("uuid")) or place,
        at=at,
    )


def _read_edge(
    edge: Mapping[str, Any],
    place: str,
    names: Mapping[str, str],
    options: ImportOptions,
) -> Iterator[Item]:
    source = names.get(text_of(edge.get("source_node_uuid")))
    target = names.get(text_of(edge.get("target_node_uuid")))
    if not source or not target:
        yield Faulty(place, "names a node that the file does not hold")
        return
    began = read_time(edge.get("valid_at")) or read_time(
        edge.get("created_at")
    )
    ended = read_time(edge.get("invalid_at")) or read_time(
        edge.get("expired_at")
    )
    if began is None:
        yield Faulty(place, "has neither valid_at nor created_at")
        return
    fact: dict[str, Any] = {
        "source_id": source,
        "label": text_of(edge.get("name")),
        "target_id": target,
        "properties": _read_origin(edge, options),
    }
    yield FoundFact(place, Op.ADD, fact | {"valid_at": iso(began)})
    if ended is not None and ended > began:
        yield FoundFact(place, Op.DELETE, fact | {"valid_at": iso(ended)})


def _read_origin(
    edge: Mapping[str, Any], options: ImportOptions
) -> dict[str, Any]:
    episodes = edge.get("episodes")
    ids = (
        [text_of(id_) for id_ in episodes]
        if isinstance(episodes, list)
        else []
    )
    messages = [to_reference(id_) for id_ in ids if id_]
    origin: dict[str, Any] = {
        "conversationId": to_path_id(FORMAT, _name_group(edge)),
        "messageIds": messages[:MAX_EPISODES_OF_EDGE],
    }
    if options.user is not None:
        origin["userId"] = options.user
    return origin


def _name_group(value: Mapping[str, Any]) -> str:
    return text_of(value.get("group_id")) or "graph"
