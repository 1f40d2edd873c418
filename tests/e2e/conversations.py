"""The rehearsal's conversations, and what the scripted model finds in them."""

from __future__ import annotations

from typing import Any

from tests.support.model_replies import Knowledge

Conversation = dict[str, Any]

SCRIPT = {
    "I moved to Lisbon": Knowledge(
        "Dana moved to Lisbon on 2026-02-27.",
        "Dana",
        "2026-02-27",
        ("Dana", "lives_in", "Lisbon"),
        "UPDATE",
        "Porto",
    ),
    "my flat in Porto": Knowledge(
        "Dana lives in Porto.",
        "Dana",
        "2026-01-10",
        ("Dana", "lives_in", "Porto"),
    ),
    "I adore gooseberries": Knowledge(
        "Dana likes gooseberries.",
        "Dana",
        "2026-03-04",
        ("Dana", "likes", "gooseberries"),
    ),
    "and quinces as well": Knowledge(
        "Dana likes quinces.",
        "Dana",
        "2026-03-04",
        ("Dana", "likes", "quinces"),
    ),
    "cannot stand gooseberries": Knowledge(
        "Dana no longer likes gooseberries.",
        "Dana",
        "2026-03-06",
        ("Dana", "likes", "gooseberries"),
        "DELETE",
    ),
    "error code KX-4471": Knowledge(
        "Marco's coffee machine shows error code KX-4471.",
        "Marco",
        "2026-03-05",
        ("Marco", "saw_error", "KX-4471"),
    ),
    "started at Brightline": Knowledge(
        "Priya works at Brightline.",
        "Priya",
        "2026-03-01",
        ("Priya", "works_at", "Brightline"),
    ),
}


def conversation(
    name: str,
    *texts: str,
    workspace: str = "acme",
    agent: str = "support",
    user: str = "u-42",
    speaker: str = "Dana",
    day: str = "2026-03-02",
) -> Conversation:
    """A conversation in the contract's form; every message has an id of its own and a time on that day."""
    return {
        "workspaceId": workspace,
        "agentId": agent,
        "conversationId": name,
        "userId": user,
        "messages": [
            {
                "id": f"{name}-m{number}",
                "role": "user",
                "name": speaker,
                "content": text,
                "timestamp": f"{day}T09:{number:02}:00Z",
            }
            for number, text in enumerate(texts, 1)
        ],
    }


def story(workspace: str = "acme") -> list[Conversation]:
    """Moves, likes that pile up and end, two users, two agents; told in order."""
    at = {"workspace": workspace}
    return [
        conversation(
            "c-flat",
            "The heating of my flat in Porto is broken.",
            "Please send somebody.",
            day="2026-01-10",
            **at,
        ),
        conversation(
            "c-move",
            "I moved to Lisbon last Friday.",
            "The boxes are still packed.",
            **at,
        ),
        conversation(
            "c-fruit",
            "I adore gooseberries.",
            "Oh, and quinces as well!",
            day="2026-03-04",
            **at,
        ),
        conversation(
            "c-coffee",
            "It says error code KX-4471 again.",
            user="u-7",
            speaker="Marco",
            day="2026-03-05",
            **at,
        ),
        conversation(
            "c-taste",
            "Honestly, by now I cannot stand gooseberries.",
            day="2026-03-06",
            **at,
        ),
        conversation(
            "c-job",
            "I started at Brightline on Monday.",
            agent="sales",
            user="u-9",
            speaker="Priya",
            **at,
        ),
    ]


STORY_SCOPES = ("support", "sales")
