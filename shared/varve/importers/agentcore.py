"""Amazon Bedrock AgentCore Memory: the answers of ListEvents and ListMemoryRecords.

A file holds one answer, or a list of answers as a paginator collects them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from varve.importers.items import (
    Draft,
    ImportOptions,
    Item,
    Skipped,
    Source,
    is_object,
    objects_in,
    read_time,
    text_of,
)
from varve.importers.streams import is_list, read_members, read_objects

FORMAT = "agentcore"
_ROLES = {"USER": "user", "ASSISTANT": "assistant"}


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an object is an answer with events or memory records."""
    events = objects_in(first.get("events"))
    if events:
        return "eventId" in events[0] or "payload" in events[0]
    return isinstance(first.get("memoryRecordSummaries"), list)


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield a conversation for each actor and session, its events by their time."""
    sessions: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for key, value in _read_answers(source):
        if key == "events":
            name = (
                text_of(value.get("actorId")),
                text_of(value.get("sessionId")),
            )
            sessions.setdefault(name, []).append(value)
        elif key == "memoryRecordSummaries":
            yield Skipped(key, "memory record: derived from the events")
    for (actor, session), events in sessions.items():
        yield from _read_session(actor, session, events, options).items()


def _read_answers(source: Source) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each event and record of one answer or several."""
    if not is_list(source):
        for key, value in read_members(source):
            if is_object(value):
                yield key, value
        return
    for answer in read_objects(source):
        for key in ("events", "memoryRecordSummaries"):
            for value in objects_in(
                answer.get(key) if is_object(answer) else None
            ):
                yield key, value


def _read_session(
    actor: str,
    session: str,
    events: list[Mapping[str, Any]],
    options: ImportOptions,
) -> Draft:
    place = f"session {session}"
    user = options.user or actor or None
    draft = Draft(FORMAT, f"{actor}.{session}", place, user)
    for event in sorted(events, key=_event_order):
        at = read_time(event.get("eventTimestamp")) or options.at
        for number, item in enumerate(objects_in(event.get("payload"))):
            id_ = f"{text_of(event.get('eventId'))}.{number}"
            _add_payload(draft, item, id_, at)
    return draft


def _event_order(event: Mapping[str, Any]) -> tuple[float, str]:
    at = read_time(event.get("eventTimestamp"))
    return (at.timestamp() if at else 0.0, text_of(event.get("eventId")))


def _add_payload(
    draft: Draft, item: Mapping[str, Any], id_: str, at: Any
) -> None:
    said = item.get("conversational")
    if not isinstance(said, Mapping):
        draft.skip("payload that is no message")
        return
    role = _ROLES.get(text_of(said.get("role")))
    content = said.get("content")
    if role is None or not isinstance(content, Mapping):
        draft.skip_role(text_of(said.get("role")))
        return
    draft.add(role, text_of(content.get("text")), id_=id_, at=at)
