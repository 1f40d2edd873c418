"""Sessions of Claude Code: JSON Lines of events, one file a session."""

from collections.abc import Iterator, Mapping
from typing import Any

from varve.domain.conversation import SPOKEN
from varve.importers.items import (
    Draft,
    Faulty,
    ImportOptions,
    Item,
    Skipped,
    Source,
    read_time,
    text_of,
    text_of_parts,
)
from varve.importers.streams import read_lines

FORMAT = "claude-code"


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether a line is an event of a session."""
    return "sessionId" in first or {"type", "leafUuid"} <= first.keys()


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield the sessions. Forked sessions share events, which have one id each."""
    drafts: dict[str, Draft] = {}
    seen: set[str] = set()
    for number, event in read_lines(source):
        if isinstance(event, Faulty):
            yield event
            continue
        if not isinstance(event, Mapping):
            yield Skipped(f"line {number}", "no event of a session")
            continue
        uuid = text_of(event.get("uuid"))
        if uuid in seen or text_of(event.get("type")) not in SPOKEN:
            continue
        seen.add(uuid)
        session = text_of(event.get("sessionId")) or options.name
        draft = drafts.get(session)
        if draft is None:
            draft = Draft(FORMAT, session, f"line {number}", options.user)
            drafts[session] = draft
        add_event(draft, event, uuid or f"line{number}", options)
    for draft in drafts.values():
        yield from draft.items()


def add_event(
    draft: Draft, event: Mapping[str, Any], uuid: str, options: ImportOptions
) -> None:
    """Add what a session's event says to its conversation, without tools and thinking."""
    message = event.get("message")
    if not isinstance(message, Mapping):
        return
    if event.get("isSidechain") or event.get("isMeta"):
        draft.skip("side chain or note of the program")
        return
    content = message.get("content")
    draft.skip_parts(content)
    draft.add(
        text_of(event.get("type")),
        text_of_parts(content),
        id_=uuid,
        at=read_time(event.get("timestamp")) or options.at,
    )
