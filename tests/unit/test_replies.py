"""A reply of the assistant stands as the statement whose value it repeats (invariant 11)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory
from varve.domain.search.answer import Result

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
USER = "u-1"
TEA = (
    (
        "my favourite tea is lapsang, smoky as a bonfire",
        "Lapsang souchong is wonderfully smoky! Try online merchants, and keep it in an airtight tin.",
    ),
    (
        "my favourite tea is jasmine now",
        "Tastes do change! For jasmine aim for about 75 degrees.",
    ),
)
MOVE = (
    (
        "I live in Lisbon. How do I cook a risotto?",
        "Toast the rice, then add hot stock by the ladle. A risotto takes 18 minutes.",
    ),
    ("I moved to Porto last week", "Enjoy Porto!"),
)
BROADBAND = (
    (
        "Mi internet cuesta 28 euros al mes",
        "28 euros al mes está en la media; compara cuando acabe el contrato.",
    ),
    ("el internet me cuesta ahora 33 euros", "Puedes pedir una rebaja."),
)


def tell(folder: Path, talks: tuple[tuple[str, str], ...]) -> Memory:
    """Return a memory of talks on different days, each a message and its reply."""
    memory = Memory.open(folder / "memory", now=NOW)
    for day, texts in enumerate(talks):
        at = FIRST + timedelta(days=5 * day)
        messages = [
            {
                "role": role,
                "content": text,
                "timestamp": (at + timedelta(minutes=place)).isoformat(),
            }
            for place, (role, text) in enumerate(
                zip(("user", "assistant"), texts, strict=True)
            )
        ]
        memory.ingest(
            {
                "conversationId": f"c-{day}",
                "userId": USER,
                "messages": messages,
            }
        )
    return memory


def find(memory: Memory, question: str, words: str) -> Result:
    """Return the first result with some words."""
    results = memory.search(question, user_id=USER).results
    return next(one for one in results if words in one.content)


@pytest.mark.parametrize(
    ("talks", "question", "reply"),
    [
        (TEA, "what's my favourite tea?", "airtight"),
        (BROADBAND, "¿Cuánto me cuesta el internet?", "la media"),
    ],
)
def test_invariant_11_a_reply_that_repeats_a_superseded_value_is_marked(
    tmp_path: Path,
    talks: tuple[tuple[str, str], ...],
    question: str,
    reply: str,
) -> None:
    memory = tell(tmp_path, talks)
    found = find(memory, question, reply)
    assert not found.current
    assert found.superseded_by


def test_invariant_11_a_block_tells_no_superseded_value_by_a_reply(
    tmp_path: Path,
) -> None:
    memory = tell(tmp_path, TEA)
    block = memory.context("what's my favourite tea?", user_id=USER).text
    assert "jasmine" in block
    for line in block.splitlines():
        assert "apsang" not in line or "no longer" in line


@pytest.mark.parametrize(
    ("talks", "question", "reply"),
    [
        (TEA, "what's my favourite tea?", "Tastes do change"),
        (MOVE, "where do I live?", "risotto takes"),
        (MOVE, "how do I cook a risotto?", "risotto takes"),
    ],
)
def test_a_reply_that_repeats_no_superseded_value_holds(
    tmp_path: Path,
    talks: tuple[tuple[str, str], ...],
    question: str,
    reply: str,
) -> None:
    memory = tell(tmp_path, talks)
    assert find(memory, question, reply).current
