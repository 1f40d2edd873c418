"""Requests to forget what was told on some days, and requests that persons make of persons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve.domain.statements.forgetting.forgotten import Stated
from varve.domain.statements.forgetting.forgotten_words import (
    find_forgotten_words,
)

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
USER = "u-1"


def say(
    text: str, days_ago: int, speaker: str = "Dana", talk: str = ""
) -> Stated:
    """Return a turn of a speaker, of a conversation of its own unless `talk` names one."""
    at = NOON - timedelta(days=days_ago)
    return Stated(
        id=f"turn-{text}",
        content=f"{speaker}: {text}",
        messages=frozenset([(talk or text, "m1")]),
        user=USER,
        at=at,
        speaker=speaker,
        day=at.date().isoformat(),
    )


TOLD = [
    say("I hate my job.", 0),
    say("I live in Kiel.", 1),
    say("I own a dog.", 9),
]


@pytest.mark.parametrize(
    ("request_", "hidden"),
    [
        ("Forget everything I said today", [0]),
        ("Please delete what I told you yesterday.", [1]),
        ("Forget everything I've told you this month, thanks!", [0, 1, 2]),
        ("Olvida todo lo que te he dicho hoy", [0]),
        ("Quiero que olvides lo que te conté ayer.", [1]),
        ("Forget everything I said this morning.", []),
        ("Forget everything I said today, except my name.", []),
        ("Forget what I'll say tomorrow.", []),
        ("I forgot everything I said today.", []),
        ("Don't forget what I told you today.", []),
        ("No olvides lo que te dije hoy.", []),
        ("Olvida lo que te dije hoy por la tarde.", []),
    ],
)
def test_a_request_of_days_hides_what_was_told_on_these_days_alone(
    request_: str, hidden: list[int]
) -> None:
    asked = say(request_, 0)
    found = find_forgotten_words(asked, [*TOLD, asked])
    told = {one.turn.id for one in found.told} if found else set()
    assert told == {TOLD[at].id for at in hidden}


def test_a_request_of_today_hides_what_its_own_message_told_before() -> None:
    text = "I hate my job. Forget everything I said today. I live in Kiel."
    asked = say(text, 0)
    found = find_forgotten_words(asked, [asked])
    assert found is not None
    assert found.find_parts(asked) == {0, 1}


@pytest.mark.parametrize(
    "request_", ["Forget about Pablo.", "Forget what I said today."]
)
def test_what_is_said_to_a_friend_or_by_the_assistant_asks_nothing(
    request_: str,
) -> None:
    told = say("I'm dating Pablo.", 0, talk="chat")
    asked = say(request_, 0, talk="chat")
    assert find_forgotten_words(asked, [told, asked])
    friend = say("Hello there.", 0, speaker="Ana", talk="chat")
    assert find_forgotten_words(asked, [told, friend, asked]) is None
    advice = say(request_, 0, speaker="assistant", talk="chat")
    assert find_forgotten_words(advice, [told, advice]) is None


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        (["I live in Lisbon."], "Forget everything I said today"),
        (["Vivo en Lisboa."], "Olvida todo lo que te he dicho hoy"),
    ],
)
def test_what_was_told_that_day_is_in_no_answer(
    tmp_path: Path, told: list[str], request_: str
) -> None:
    memory = tell(tmp_path, ["I own a Lisbon map."], NOON)
    for text in (*told, request_):
        memory.remember(text, user_id=USER)
    memory.remember(
        "I own a kayak.", user_id=USER, now=NOON + timedelta(hours=1)
    )
    later = NOON + timedelta(days=1)
    memory.summarize(now=later)
    found = memory.search(user_id=USER, max_results=50, now=later).results
    words = [one.content for one in found]
    words.append(
        memory.context("Where do I live?", user_id=USER, now=later).text
    )
    assert not any("live" in text or "Viv" in text for text in words)
    assert any("map" in text for text in words)
    assert any("kayak" in text for text in words)
