"""Statements that one person tells over months."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
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
    """Return a memory of Dana's statements, each ingested by a call of its own.

    Cases that ask different questions about the same statements get copies of one store.
    """
    shutil.copytree(_tell_once(tuple(texts), now), path, dirs_exist_ok=True)
    return Memory.open(path, now=now)


def expire(path: Path, texts: Iterable[str], now: datetime) -> Memory:
    """Return a memory of Dana's statements, of which only summaries are left."""
    memory = tell(path, texts, now)
    memory.summarize(now=now)
    memory.configure("plan", "free")
    memory.cleanup(now=now)
    return memory


@cache
def _tell_once(texts: tuple[str, ...], now: datetime) -> Path:
    path = Path(tempfile.mkdtemp(prefix="varve-told-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    with Memory.open(path, now=now) as memory:
        for one in list_conversations(texts):
            memory.ingest(one)
    return path
