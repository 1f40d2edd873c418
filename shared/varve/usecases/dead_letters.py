"""Dead letters as an operator reads them: what each is and why it is one, its content only when asked for."""

import json
from collections.abc import Callable
from typing import Any

from varve.domain.calendar import iso
from varve.domain.dead_letter import correlation_of
from varve.ports.queues import Letter

_IDS = (
    "workspaceId",
    "agentId",
    "grain",
    "period",
    "payload",
    "model",
    "plannedAt",
    "receivedAt",
)
_COUNTED = ("records", "operations", "labels")


def described(
    queue: str, letter: Letter, private: Callable[[str], str], *, content: bool = False
) -> dict[str, Any]:
    """A letter as JSON values: where it lay, why, which ids and how much is in it.

    With `content` also the message itself, as `private` leaves it.
    """
    shown = {
        "id": letter.id,
        "queue": queue,
        "errorType": letter.reasons.get("errorType"),
        "reason": private(_reason(letter)),
        "field": letter.reasons.get("field"),
        "messageId": letter.reasons.get("messageId"),
        "sentAt": letter.sent_at and iso(letter.sent_at),
        "group": letter.group,
        "bytes": len(letter.body.encode()),
        **_inside(letter.body),
    }
    return {**shown, "content": private(letter.body)} if content else shown


def _reason(letter: Letter) -> str:
    if letter.reasons.get("reason"):
        return letter.reasons["reason"]
    if "errorType" in letter.reasons:
        return "no reason given"
    return f"no reason recorded: delivered {letter.receives} times"


def _inside(body: str) -> dict[str, Any]:
    """What the message is about, in ids and counts; a message that is none has nothing to tell."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {"type": None}
    if not isinstance(message, dict):
        return {"type": None}
    told: dict[str, Any] = {
        "type": _text(message.get("type")),
        "correlationId": correlation_of(body),
    }
    told |= {name: _text(message[name]) for name in _IDS if name in message}
    told |= {
        name: len(message[name])
        for name in _COUNTED
        if isinstance(message.get(name), list)
    }
    return told | _of_conversation(message.get("conversation"))


def _of_conversation(conversation: object) -> dict[str, Any]:
    if not isinstance(conversation, dict):
        return {}
    messages = conversation.get("messages")
    said = (
        [m for m in messages if isinstance(m, dict)]
        if isinstance(messages, list)
        else []
    )
    ids = {
        name: _text(conversation.get(name))
        for name in ("workspaceId", "agentId", "conversationId")
    }
    return {**ids, "messageIds": [_text(message.get("id")) for message in said]}


def _text(value: object) -> str | None:
    """An id, or what somebody wrote where one should be, cut to the length of one."""
    return value[:128] if isinstance(value, str) else None
