"""What the scripted model makes of a conversation, in the shape that the extraction prompt asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.model_server import Reply, Request, prompt


@dataclass(frozen=True)
class Knowledge:
    """One fact, and where the message says so one triple, about somebody at some time."""

    content: str
    about: str
    event_time: str
    triple: tuple[str, str, str] | None = None
    op: str = "ADD"
    replaces: str | None = None

    def fact(self, message_id: str) -> dict[str, Any]:
        judgement = {
            "importance": 0.7,
            "confidence": 0.9,
            "message_ids": [message_id],
        }
        return {
            "content": self.content,
            "about": self.about,
            "event_time": self.event_time,
            **judgement,
        }

    def operations(self, message_id: str) -> Iterator[dict[str, Any]]:
        if self.triple:
            subject, predicate, object_ = self.triple
            yield {
                "op": self.op,
                "subject": subject,
                "predicate": predicate,
                "object": object_,
                "event_time": self.event_time,
                "confidence": 0.9,
                "message_ids": [message_id],
                "replaces": self.replaces,
            }


def extraction(script: Mapping[str, Knowledge]) -> Reply:
    """A model that knows what messages with the script's phrases say; the rest is small talk to it."""

    def reply(request: Request) -> dict[str, Any]:
        known = [
            (message["id"], knowledge)
            for message in messages_of(request)
            for phrase, knowledge in script.items()
            if phrase in message["text"]
        ]
        return {
            "facts": [
                knowledge.fact(message_id) for message_id, knowledge in known
            ],
            "triples": [
                each
                for message_id, knowledge in known
                for each in knowledge.operations(message_id)
            ],
        }

    return reply


def messages_of(request: Request) -> list[dict[str, str]]:
    """The messages to extract from, as the prompt carries them: a line of JSON each, the last such block."""
    blocks = re.findall(
        r"<messages>\n(.*?)\n</messages>", prompt(request), re.DOTALL
    )
    return (
        [json.loads(line) for line in blocks[-1].splitlines()]
        if blocks
        else []
    )


def first_message(request: Request) -> str | None:
    """A key that tells conversations apart where every conversation's message ids are its own."""
    messages = messages_of(request)
    return messages[0]["id"] if messages else None
