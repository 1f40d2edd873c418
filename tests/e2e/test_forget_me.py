"""A user who asks to be forgotten is hidden at once, and erased when a person confirms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.statements import tell
from varve import Memory
from varve.cli import main
from varve.domain.statements.forgetting.requests import Naming
from varve.domain.statements.forgetting.topics import read_topics

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
TOLD = ["I live in Lisbon.", "My dog is called Rex.", "I'm allergic to nuts."]
WORDS = ("Lisbon", "Rex", "nuts")
REQUESTS = [
    "Forget me",
    "Please forget me.",
    "Can you forget me?",
    "I want you to forget me, please",
    "Forget everything about me.",
    "Forget everything you know about me",
    "Forget all about me.",
    "Please delete all the information you have on me.",
    "Erase whatever you remember about me from your memory.",
    "Forget everything you know about me, I am leaving.",
    "Delete all my data.",
    "Stop remembering me.",
    "Olvídame",
    "Olvídame, por favor.",
    "¿Puedes olvidarme?",
    "Quiero que me olvides.",
    "Borra todo lo que sabes de mí",
    "Olvida todo lo que te he contado sobre mí.",
    "Quiero que borres todo lo que sabes de mí.",
    "Elimina todos mis datos, por favor.",
    "Bórrame de tu memoria.",
]
LOOK_ALIKES = [
    "Don't forget me.",
    "Don't forget about me tomorrow.",
    "Will you forget me?",
    "They forgot me at the station.",
    "Forget-me-nots are my favourite flowers.",
    "Forget me not is my favourite song.",
    "Forget about me, let's talk about Ana.",
    "Forget everything about me, except my name.",
    "Forget everything about my ex.",
    "My ex should forget me.",
    "Forget it.",
    "Delete my draft.",
    "Everything about me is in the file.",
    "No me olvides.",
    "Olvídame eso.",
    "Ella quiere olvidarme.",
    "Borra todo lo que sabes de mi hermano.",
    "Borra todo lo que sabes de mí, menos mi nombre.",
    "Olvida todo lo de mi trabajo.",
    "Me olvidé de mí misma.",
]


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_to_be_forgotten_is_understood(text: str) -> None:
    assert [one.kind for one in read_topics(text)] == [Naming.SELF]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert Naming.SELF not in [one.kind for one in read_topics(text)]


def list_told(memory: Memory, now: datetime = NOW) -> list[str]:
    """Return what search and context tell of a user."""
    asked = (None, "Where do I live?", "What is my dog called?", "allergy")
    told: list[str] = []
    for question in asked:
        found = memory.search(question, user_id=USER, now=now).results
        told += [one.content for one in found]
    told.append(memory.context("Where do I live?", user_id=USER, now=now).text)
    told.append(memory.load_context(user_id=USER).text)
    return told


def tells(told: list[str], *words: str) -> bool:
    return any(word in text for word in words for text in told)


@pytest.mark.parametrize(
    "request_", ["Forget me", "Borra todo lo que sabes de mí"]
)
def test_all_that_was_told_is_hidden_at_once(
    tmp_path: Path, request_: str
) -> None:
    memory = tell(tmp_path, [*TOLD, request_], NOW)
    memory.set_profile("diet", "vegan", user_id=USER)
    memory.remember("Forget me.", user_id=USER, at=NOW + timedelta(minutes=1))
    memory.summarize()
    told = list_told(memory, NOW + timedelta(minutes=5))
    assert not tells(told, *WORDS, "vegan", request_)


def test_what_is_told_later_and_by_others_is_shown(tmp_path: Path) -> None:
    memory = tell(tmp_path, [*TOLD, "Forget me"], NOW)
    memory.remember("I moved to Braga.", user_id=USER, at=NOW)
    memory.remember("I live in Kiel.", user_id="u-2", at=NOW)
    memory.summarize(now=NOW + timedelta(days=2))
    told = list_told(memory, NOW + timedelta(days=2))
    assert tells(told, "Braga")
    assert not tells(told, *WORDS)
    other = memory.search("Where do I live?", user_id="u-2").results
    assert "Kiel" in other[0].content


def test_summaries_lose_what_was_told_before(tmp_path: Path) -> None:
    opened = tell(tmp_path, TOLD, NOW - timedelta(days=3))
    opened.summarize(now=NOW)
    days = opened.search(grain="daily", user_id=USER, now=NOW).results
    assert tells([one.content for one in days], *WORDS)
    opened.remember("Forget everything about me.", user_id=USER, at=NOW)
    for _ in range(2):
        found = opened.search(grain="daily", user_id=USER, now=NOW).results
        assert not tells([one.content for one in found], *WORDS)
        opened.summarize(now=NOW + timedelta(days=2))


@pytest.mark.parametrize(
    "request_", ["Forget me.", "Forget where I live.", "Olvida dónde vivo."]
)
def test_the_last_conversation_loses_what_it_asks_to_forget(
    tmp_path: Path, request_: str
) -> None:
    texts = ("Vivo en Lisboa." if "vivo" in request_ else TOLD[0], request_)
    messages = [
        {"role": "user", "name": "Dana", "content": text} for text in texts
    ]
    memory = Memory.open(tmp_path, now=NOW)
    memory.ingest(
        {"conversationId": "c-1", "userId": USER, "messages": messages}
    )
    start = memory.load_context(user_id=USER).text
    assert "Lisb" not in start
    assert request_ not in start


def find_proposal(memory: Memory) -> dict[str, Any]:
    (proposal,) = memory.review(days=0).proposals
    return proposal


def test_review_proposes_to_erase_it_and_a_person_confirms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = tell(tmp_path, [*TOLD, "Olvídame"], NOW)
    memory.remember("I moved to Braga.", user_id=USER, at=NOW)
    memory.remember("I live in Kiel.", user_id="u-2", at=NOW)
    proposal = find_proposal(memory)
    shown = [one["content"] for one in proposal["statements"]]
    for word in WORDS:
        assert tells(shown, word)
    assert not tells(shown, "Braga", "Kiel")
    kept = [one.content for one in memory.list(limit=100).records]
    assert tells(kept, "Lisbon")
    store = ["--store", str(tmp_path)]
    assert main(["review", *store, "--now", NOW.isoformat()]) == 0
    number = proposal["proposal"]
    command = f"varve forget --proposal {number}"
    assert f"erase with: {command}" in capsys.readouterr().out
    memory.forget(proposal=number)
    kept = [one.content for one in memory.list(limit=100).records]
    assert not tells(kept, *WORDS)
    assert tells(kept, "Braga")
    assert tells(kept, "Kiel")
    assert not tells([str(memory.profile(user_id=USER))], *WORDS)


def test_review_proposes_what_has_expired_too(tmp_path: Path) -> None:
    memory = tell(tmp_path, TOLD, NOW - timedelta(days=30))
    memory.configure("plan", "free")
    later = NOW
    memory.summarize(now=later)
    memory.cleanup(now=later)
    memory.remember("Forget me", user_id=USER, at=later)
    told = list_told(memory, later + timedelta(minutes=1))
    assert not tells(told, *WORDS)
    shown = [one["content"] for one in find_proposal(memory)["statements"]]
    assert tells(shown, "Lisbon")
