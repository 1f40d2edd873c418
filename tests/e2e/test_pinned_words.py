"""A pinned search shows no other user's words, at no grain, before and after a cleanup."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.test_asked_speakers import USERS, tell_users
from varve import Memory

LATER = datetime(2026, 11, 24, 10, tzinfo=UTC)
WORDS = {
    "u-1": ("Utrecht", "Globex", "Rex", "Porto"),
    "u-2": ("Vigo", "Acme", "gatos", "Oviedo"),
    "u-3": ("Smith", "Initech", "nuts", "Umbrella"),
}
GRAINS = (
    "auto", "working", "daily", "weekly", "monthly", "quarterly", "yearly",
)  # fmt: skip
QUESTIONS = (
    None,
    "Where do I live?",
    "¿Dónde vivo?",
    "What do we know about Ana?",
    "Where does Bob work?",
)


def list_shown(memory: Memory, user: str) -> list[str]:
    """Return all texts that pinned searches and contexts show."""
    shown = [
        memory.context(text, user_id=user).text for text in QUESTIONS if text
    ]
    for grain in GRAINS:
        for question in QUESTIONS:
            answer = memory.search(question, grain=grain, user_id=user)
            shown.append(str(answer.hint))
            shown += [one.content for one in answer.results]
    return shown


@pytest.mark.parametrize("expires", [False, True])
def test_1_a_pinned_search_shows_no_words_of_others(
    tmp_path: Path, expires: bool
) -> None:
    memory = tell_users(tmp_path, USERS)
    memory.summarize()
    if expires:
        memory.configure("plan", "free")
        memory.cleanup()
        memory = Memory.open(tmp_path / "memory", now=LATER)
        left = memory.search(max_results=100).results
        assert {one.memory_type for one in left} == {"summary"}
    for user, own in WORDS.items():
        shown = "\n".join(list_shown(memory, user))
        assert any(word in shown for word in own)
        for other in WORDS.keys() - {user}:
            assert not [word for word in WORDS[other] if word in shown]
