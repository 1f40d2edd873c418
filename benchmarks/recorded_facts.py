"""Facts that a model wrote, recorded with their messages, and replayed through the OpenAI protocol.

The extractor is the real one: its prompt goes over HTTP to a server on loopback, which answers with the
recorded facts of the messages that the prompt carries.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.model_replies import messages_of
from tests.support.model_server import ModelServer, Request

MESSAGE_ID = re.compile(r"D\d+:\d+")

Recorded = Mapping[str, list[dict[str, Any]]]
"""The facts of each first message id, in the shape of the extraction prompt's reply."""


def read_observations(path: Path) -> dict[str, Recorded]:
    """Return the observations of a file in LoCoMo's shape as facts, by conversation.

    The file's authors had a model write them from the dialogue (Maharana et al., 2024).
    """
    found: dict[str, Recorded] = {}
    for item in json.loads(path.read_text("utf-8")):
        facts: dict[str, list[dict[str, Any]]] = {}
        for session in item.get("observation", {}).values():
            for speaker, said in session.items():
                for content, evidence in said:
                    ids = MESSAGE_ID.findall(str(evidence))
                    if ids:
                        facts.setdefault(ids[0], []).append(
                            build_fact(content, speaker, ids)
                        )
        found[item["sample_id"]] = facts
    return found


def build_fact(
    content: str, about: str, message_ids: list[str]
) -> dict[str, Any]:
    """Return one fact of the extraction prompt's reply."""
    return {
        "content": content,
        "about": about,
        "event_time": None,
        "importance": 0.5,
        "confidence": 1.0,
        "message_ids": message_ids,
    }


@contextmanager
def replayed(facts: Recorded) -> Iterator[dict[str, str]]:
    """Serve the facts; yields the environment with which `Memory` asks for them."""

    def reply(request: Request) -> dict[str, Any]:
        ids = [message["id"] for message in messages_of(request)]
        known = []
        for id_ in ids:
            for fact in facts.get(id_, []):
                if set(fact["message_ids"]) <= set(ids):
                    known.append(fact)
        return {"facts": known, "triples": []}

    with ModelServer(reply) as server:
        yield {**server.environment, "VARVE_LLM": "openai:recorded"}
