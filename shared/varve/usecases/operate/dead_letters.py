"""Dead letters as an operator reads them: what each is about, and why it failed."""

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
_LONGEST_ID = 128


def describe_letter(
    queue: str,
    letter: Letter,
    private: Callable[[str], str],
    *,
    content: bool = False,
) -> dict[str, Any]:
    """Return a letter as JSON values: its queue, reason, ids and counts.

    With `content`, also the message itself, filtered by `private`.
    """
    described = {
        "id": letter.id,
        "queue": queue,
        "errorType": letter.reasons.get("errorType"),
        "reason": private(_reason(letter)),
        "field": letter.reasons.get("field"),
        "messageId": letter.reasons.get("messageId"),
        "sentAt": letter.sent_at and iso(letter.sent_at),
        "group": letter.group,
        "bytes": len(letter.body.encode()),
        **_summarize_body(letter.body),
    }
    if content:
        described["content"] = private(letter.body)
    return described


def _reason(letter: Letter) -> str:
    if letter.reasons.get("reason"):
        return letter.reasons["reason"]
    if "errorType" in letter.reasons:
        return "no reason given"
    return f"no reason recorded: delivered {letter.receives} times"


def _summarize_body(body: str) -> dict[str, Any]:
    """Return the ids and counts in a message; only `type` None if it is not a message."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {"type": None}
    if not isinstance(message, dict):
        return {"type": None}
    summary: dict[str, Any] = {
        "type": _cut_id(message.get("type")),
        "correlationId": correlation_of(body),
    }
    for name in _IDS:
        if name in message:
            summary[name] = _cut_id(message[name])
    for name in _COUNTED:
        if isinstance(message.get(name), list):
            summary[name] = len(message[name])
    summary.update(_summarize_conversation(message.get("conversation")))
    return summary


def _summarize_conversation(conversation: object) -> dict[str, Any]:
    if not isinstance(conversation, dict):
        return {}
    summary: dict[str, Any] = {}
    for name in ("workspaceId", "agentId", "conversationId"):
        summary[name] = _cut_id(conversation.get(name))
    messages = conversation.get("messages")
    if not isinstance(messages, list):
        messages = []
    said = [message for message in messages if isinstance(message, dict)]
    summary["messageIds"] = [_cut_id(message.get("id")) for message in said]
    return summary


def _cut_id(value: object) -> str | None:
    """Return an id, cut to the longest valid id; None: it is not a string."""
    return value[:_LONGEST_ID] if isinstance(value, str) else None
