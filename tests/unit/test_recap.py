"""Episodes at a new subject, their summaries, and the recap at a conversation's start."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer, Request, prompt
from varve import Memory
from varve.domain.text import estimated_tokens

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TRIP = (
    "Which city is better in spring, Lisbon or Porto?",
    "Both are lovely, and Porto is the smaller one.",
    "OK, go with Porto. We fly on 12 April at 9:30.",
)
BREAD = "My bread dough did not rise overnight."


def told(*texts: str, hours: float = 0, first: int = 0) -> dict[str, Any]:
    messages = [
        {
            "id": f"m{first + place}",
            "role": "assistant" if place % 2 else "user",
            "content": text,
            "timestamp": (
                START + timedelta(hours=hours, minutes=place)
            ).isoformat(),
        }
        for place, text in enumerate(texts)
    ]
    return {"conversationId": "c-1", "userId": "u-1", "messages": messages}


def opened(path: Path, **environment: str) -> Memory:
    now = START + timedelta(days=2)
    return Memory.open(path, now=now, environment=environment)


@pytest.mark.parametrize("hours", [5, 40])
def test_an_episode_begins_at_a_new_subject_after_six_hours(
    tmp_path: Path, hours: int
) -> None:
    memory = opened(tmp_path)
    memory.ingest(told(*TRIP))
    assert memory.experience.episodes() == []
    memory.ingest(told(BREAD, hours=hours, first=3))
    found = [one["situation"] for one in memory.experience.episodes()]
    assert found == ([BREAD] if hours > 6 else [])


def test_the_same_subject_after_a_night_begins_no_episode(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path)
    again = "Which is the better city in spring, is it Porto?"
    memory.ingest(told(*TRIP))
    memory.ingest(told(again, hours=10, first=3))
    assert memory.experience.episodes() == []


def test_where_two_users_speak_no_unlabelled_episode_begins(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path)
    other = told(BREAD, hours=10, first=3)["messages"][0]
    memory.ingest(told(*TRIP))
    memory.ingest(
        {
            "conversationId": "c-1",
            "userId": "u-1",
            "messages": [other | {"userId": "u-2"}],
        }
    )
    assert memory.experience.episodes() == []
    (labelled, _) = told(*TRIP[:2])["messages"]
    said = [
        labelled | {"state": "s", "userId": "u-1"},
        labelled
        | {"id": "x", "content": "Mine is a secret.", "userId": "u-2"},
    ]
    memory.ingest({"conversationId": "c-2", "messages": said})
    (episode,) = memory.experience.episodes()
    assert "secret" not in episode["summary"]


def test_an_episode_has_a_summary_of_its_decisions(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    whole = told(*TRIP)
    later = told(BREAD, hours=10, first=3)["messages"]
    memory.ingest(whole | {"messages": [*whole["messages"], *later]})
    bread, trip = memory.experience.episodes()
    assert "user: OK, go with Porto." in trip["summary"]
    assert bread["cut"].startswith("subject: 9 h 58 min of silence")


def test_the_recap_keeps_decisions_and_dates_through_a_long_talk(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path)
    talk = [f"I like the {n}th street of the old town." for n in range(60)]
    memory.ingest(told(*TRIP, *talk))
    block = memory.load_context(user_id="u-1")
    _, _, recap = block.text.partition("<last_conversation>")
    assert "2026-03-02 u-1: OK, go with Porto." in recap
    assert "We fly on 12 April at 9:30." in recap
    assert estimated_tokens(recap) <= 210
    assert block.tokens <= 1_000


def test_the_recap_says_nothing_that_the_block_said(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.ingest(told(*TRIP))
    block = memory.load_context(user_id="u-1")
    assert block.text.count("go with Porto") == 1
    assert not memory.load_context(user_id="u-1", max_tokens=20).text


@pytest.mark.parametrize(
    ("reply", "is_taken"),
    [
        ("Decided: Porto. Flight on 12 April at 9:30. Hotel is open.", True),
        ("They talked about a trip to Portugal.", False),
    ],
)
def test_a_models_recap_is_taken_if_it_keeps_what_was_decided(
    tmp_path: Path, reply: str, is_taken: bool
) -> None:
    def answer(request: Request) -> dict[str, Any]:
        if "<summary>" in prompt(request):
            return {"recap": reply}
        return {"facts": [], "triples": []}

    with ModelServer(answer) as server:
        memory = opened(tmp_path, VARVE_LLM="openai:m", **server.environment)
        memory.ingest(told(*TRIP))
        asked = len(server.chats)
        assert "go with Porto" in memory.load_context().text
        assert len(server.chats) == asked
        memory.configure("experience.recap", "model")
        assert (reply in memory.load_context().text) is is_taken
        assert "Porto" in memory.load_context().text
