"""A statement and a correction as events of IngestFunction; each is a conversation of one message."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError

from varve.domain.conversation import Conversation, Instant, Name, Reference
from varve.domain.identity import Scope
from varve.domain.statements.texts.telling import (
    build_correction_of,
    build_remembered,
)
from varve.domain.validation import StrictCamelModel, rejected


class _ToldEvent(StrictCamelModel):
    workspace_id: str
    agent_id: str
    text: str
    user_id: Reference | None = None
    name: Name | None = None
    at: Instant | None = None


class RememberEvent(_ToldEvent):
    """One statement, said `at` or now, by the speaker `name`."""

    type: Literal["remember"]


class CorrectEvent(_ToldEvent):
    """What holds instead of the fact or turn `id`, whose user is `user_id`.

    Events with the same words, `id` and `at` are one. Without `at` they are one until a
    correction in other words is stored between them.
    """

    type: Literal["correct"]
    id: Reference


_EVENTS: Mapping[str, type[RememberEvent | CorrectEvent]] = {
    "remember": RememberEvent,
    "correct": CorrectEvent,
}


def read_told(event: object, now: datetime) -> list[Conversation]:
    """Return the conversation of a statement or a correction; none of any other event.

    Raises Rejected: names the field.
    """
    if isinstance(event, Mapping) and event.get("type") in _EVENTS:
        return [_parse_told_event(event, now)]
    return []


def _parse_told_event(event: Mapping[str, Any], now: datetime) -> Conversation:
    """Return the conversation of an event. Raises Rejected: names the field."""
    try:
        told = _EVENTS[event["type"]].model_validate(event)
    except ValidationError as error:
        raise rejected(error) from error
    said_at = told.at or now
    if isinstance(told, CorrectEvent):
        conversation = build_correction_of(
            told.id,
            told.text,
            said_at,
            told.user_id,
            told.name,
            is_event=told.at is not None,
        )
    else:
        conversation = build_remembered(
            told.text, said_at, user_id=told.user_id, name=told.name
        )
    return conversation.in_scope(Scope(told.workspace_id, told.agent_id))
