"""An episode continues in the next conversation unless there is a reason to cut."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.drivers import driver_of
from varve import Memory
from varve.domain.experience.rows import episode_id
from varve.domain.experience.runs import links_of_runs
from varve.domain.experience.segments import Thresholds
from varve.domain.record import Vector

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
FIRST = "the checkout service times out because threads wait for a connection"
NEXT = "the checkout service still has threads that wait for a free connection"
FOREIGN = "please book a table for six at the italian place around the corner on friday"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, now=START + timedelta(days=9), environment={})


def told(
    name: str, text: str, minutes: int, user: str = "u-1", **given: Any
) -> dict[str, Any]:
    at = (START + timedelta(minutes=minutes)).isoformat()
    message = {
        "id": "m0",
        "role": "user",
        "content": text,
        "timestamp": at,
        "state": "debugging",
        **given,
    }
    return {"conversationId": name, "userId": user, "messages": [message]}


def links(memory: Memory, name: str = "c-2") -> set[str]:
    return {
        step["link"]
        for step in memory.experience.why(episode_id(name, "m0"))["links"]
    }


@pytest.mark.parametrize("late", [False, True])
def test_a_new_conversation_continues_the_last_in_any_order_of_arrival(
    memory: Memory, late: bool
) -> None:
    both = [told("c-1", FIRST, 0), told("c-2", NEXT, 30)]
    for one in reversed(both) if late else both:
        memory.ingest(one)
    assert links(memory) == {"continuation"}
    memory.record_outcome(
        episode_id("c-1", "m0"), "FAILURE", decision="restart it", at=START
    )
    assert links(memory) == {"retry_of"}
    (chain,) = memory.experience.why(episode_id("c-2", "m0"))["story"]
    assert "tried again what" in chain


@pytest.mark.parametrize(
    "after",
    [
        told("c-2", NEXT, 121), told("c-2", FOREIGN, 30), told("c-2", NEXT, 30, state="planning"),
        told("c-2", NEXT, 30, signal="episode_start"), told("c-2", NEXT, 30, user="u-2"),
    ],
    ids=["gap", "meaning", "state", "signal", "user"],
)  # fmt: skip
def test_a_reason_to_cut_a_conversation_also_parts_two_conversations(
    memory: Memory, after: dict[str, Any]
) -> None:
    memory.ingest([told("c-1", FIRST, 0), after])
    assert links(memory) == set()


def test_an_ended_episode_is_not_continued(memory: Memory) -> None:
    memory.ingest(
        [told("c-1", FIRST, 0, signal="episode_end"), told("c-2", NEXT, 30)]
    )
    assert links(memory) == set()


def test_one_call_embeds_all_conversations(memory: Memory) -> None:
    memory.ingest(
        [told(f"c-{number}", NEXT, 10 * number) for number in range(1, 5)]
    )
    asked = []

    def embed(texts: Sequence[str]) -> list[Vector]:
        asked.append(len(texts))
        return [np.ones(1, dtype=np.float32) for _ in texts]

    history = driver_of(memory).history(memory.scope)
    assert len(links_of_runs(history, Thresholds(), embed)) == 3
    assert asked == [6]


def test_erasing_one_conversation_leaves_the_other_unchanged(
    memory: Memory,
) -> None:
    memory.ingest([told("c-1", FIRST, 0), told("c-2", NEXT, 30)])
    memory.forget(conversation="c-1")
    assert links(memory) == set()
    (left,) = memory.experience.episodes()
    assert left["conversationId"] == "c-2"
