"""Statements that one person tells over months."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from varve import Memory

BEGINNING = datetime(2026, 1, 5, 10, tzinfo=UTC)


def list_conversations(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return each text of Dana as a conversation of its own, nine days apart."""
    return [
        {
            "conversationId": f"c-{number}",
            "userId": "u-1",
            "messages": [
                {
                    "role": "user",
                    "name": "Dana",
                    "content": text,
                    "timestamp": (
                        BEGINNING + timedelta(days=9 * number)
                    ).isoformat(),
                }
            ],
        }
        for number, text in enumerate(texts)
    ]


def tell(path: Path, texts: Iterable[str], now: datetime) -> Memory:
    """Return a memory of Dana's statements, each ingested by a call of its own."""
    memory = Memory.open(path, now=now)
    for one in list_conversations(texts):
        memory.ingest(one)
    return memory
