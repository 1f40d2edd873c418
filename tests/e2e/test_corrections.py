"""A correction ends what it corrects, and forgetting the correction opens it again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_lance_upkeep import BUCKET, moto, prefixes
from varve import Memory

__all__ = ["moto"]  # the fixture

pytestmark = pytest.mark.usefixtures("clean_environment")

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 9, 10, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
USER = "u-42"


@pytest.fixture(params=["directory", "s3"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Memory:
    root = str(tmp_path / "store")
    if request.param == "s3":
        request.getfixturevalue("moto")
        root = f"s3://{BUCKET}/{next(prefixes)}"
    opened = Memory.open(root, now=NOW)
    opened.ingest(
        {
            "conversationId": "c1",
            "userId": USER,
            "messages": [
                {
                    "id": "m1",
                    "role": "user",
                    "name": "Dana",
                    "content": "I live in Lisbon.",
                    "timestamp": FIRST.isoformat(),
                },
                {
                    "id": "m2",
                    "role": "user",
                    "name": "Dana",
                    "content": "My bike has a puncture again.",
                    "timestamp": FIRST.isoformat(),
                },
            ],
        }
    )
    return opened


def find(memory: Memory, words: str) -> str:
    """Return the id of the turn that has these words."""
    results = memory.search(
        words, memory_types=["turn"], include_superseded=True, now=LATER
    ).results
    return next(one.id for one in results if words in one.content)


def tell_home(memory: Memory) -> dict[str, bool]:
    """Return in which of memory's answers each home is current."""
    results = memory.search("where does Dana live?", now=LATER).results
    told = [one.content for one in results if one.current]
    attributes = memory.profile(user_id=USER, now=LATER)["attributes"]
    answers = {
        "search": " ".join(told),
        "context": memory.context(
            "Where do I live?", user_id=USER, now=LATER
        ).text,
        "profile": json.dumps(attributes),
        "graph": json.dumps(memory.graph.entity("Dana", as_of=LATER)["facts"]),
    }
    homes: dict[str, bool] = {}
    for place, answer in answers.items():
        homes[f"{place}: Lisbon"] = "Lisbon" in answer
        homes[f"{place}: Porto"] = "Porto" in answer
    return homes


@pytest.mark.parametrize("by", ["id", "conversation"])
@pytest.mark.parametrize("text", ["Dana lives in Porto", "I live in Porto."])
def test_forgetting_a_correction_opens_what_it_ended(
    memory: Memory, by: str, text: str
) -> None:
    before = tell_home(memory)
    assert all(before[name] for name in before if "Lisbon" in name)
    memory.correct(find(memory, "Lisbon"), text)
    corrected = tell_home(memory)
    assert not any(corrected[name] for name in corrected if "Lisbon" in name)
    assert corrected["search: Porto"]
    assert corrected["context: Porto"]
    correction = find(memory, "Porto")
    if by == "id":
        memory.forget(ids=[correction])
    else:
        memory.forget(conversation=memory.show(correction)["conversationId"])
    assert tell_home(memory) == before
    memory.correct(find(memory, "Lisbon"), "Dana lives in Braga")
    assert not tell_home(memory)["graph: Lisbon"]


def read_summary(memory: Memory, grain: str, period: str) -> dict[str, Any]:
    """Return the summary of a period, with the ids of its sources."""
    results = memory.search(
        grain=grain, memory_types=["summary"], now=LATER
    ).results
    [found] = [one for one in results if one.period == period]
    return found.to_dict()


def test_the_summaries_above_a_corrected_statement_tell_the_correction(
    memory: Memory,
) -> None:
    summed_up = NOW + timedelta(days=14)
    memory.summarize(now=summed_up)
    assert "Lisbon" in read_summary(memory, "weekly", "2026-W10")["content"]
    lisbon = find(memory, "Lisbon")
    memory.correct(lisbon, "Dana lives in Porto")
    assert memory.summarize(now=summed_up)["built"]
    correction = find(memory, "Porto")
    for grain, period in (("daily", "2026-03-02"), ("weekly", "2026-W10")):
        summary = read_summary(memory, grain, period)
        assert "Porto" in summary["content"]
        assert "puncture" in summary["content"]
        assert "Lisbon" not in summary["content"]
    cited = read_summary(memory, "daily", "2026-03-02")["sourceIds"]
    assert {lisbon, correction} <= set(cited)
    own = read_summary(memory, "daily", "2026-03-09")
    assert "Porto" in own["content"]
    assert not memory.summarize(now=summed_up).get("built")
    memory.correct(lisbon, "Dana lives in Porto", now=LATER)
    assert not memory.summarize(now=summed_up).get("built")
    done = memory.forget(ids=[correction], verify=True)
    assert done["verification"]["foundIn"] == []
    memory.summarize(now=summed_up)
    for grain, period in (("daily", "2026-03-02"), ("weekly", "2026-W10")):
        summary = read_summary(memory, grain, period)
        assert "Lisbon" in summary["content"]
        assert correction not in summary["sourceIds"]


def test_a_week_of_an_older_day_forgets_the_correction_as_well(
    memory: Memory,
) -> None:
    summed_up = NOW + timedelta(days=14)
    memory.correct(find(memory, "Lisbon"), "Dana lives in Porto")
    memory.summarize(now=summed_up)
    ask(memory, "c2", "The kiln needs a new valve.", FIRST)
    memory.summarize(grain="daily", now=summed_up)
    assert "Porto" in read_summary(memory, "weekly", "2026-W10")["content"]
    done = memory.forget(ids=[find(memory, "Porto")], verify=True)
    assert done["verification"]["foundIn"] == []
    memory.summarize(now=summed_up)
    week = read_summary(memory, "weekly", "2026-W10")["content"]
    assert "Lisbon" in week
    assert "valve" in week


def test_a_value_that_a_user_asked_to_forget_leaves_the_summaries(
    memory: Memory,
) -> None:
    phone = "+351 912 345 678"
    summed_up = NOW + timedelta(days=14)
    ask(memory, "c2", f"My phone number is {phone}.", FIRST)
    memory.summarize(now=summed_up)
    places = (("daily", "2026-03-02"), ("weekly", "2026-W10"))
    for place in places:
        assert phone in read_summary(memory, *place)["content"]
    ask(memory, "c3", "Please forget my phone number.", NOW)
    for place in places:
        assert phone not in read_summary(memory, *place)["content"]
    for _ in range(2):
        memory.summarize(now=summed_up)
    [proposal] = memory.review(user_id=USER).proposals
    done = memory.forget(proposal=proposal["proposal"], verify=True)
    assert done["verification"]["foundIn"] == []
    for place in places:
        memory.summarize(now=summed_up)
        assert "puncture" in read_summary(memory, *place)["content"]


def ask(memory: Memory, conversation: str, text: str, at: datetime) -> None:
    message = {"id": "m1", "role": "user", "name": "Dana", "content": text}
    memory.ingest(
        {
            "conversationId": conversation,
            "userId": USER,
            "messages": [{**message, "timestamp": at.isoformat()}],
        }
    )


def test_what_a_correction_ended_is_forgotten_with_what_it_corrected(
    memory: Memory,
) -> None:
    lisbon = find(memory, "Lisbon")
    memory.correct(lisbon, "Dana lives in Porto")
    outcome = memory.forget(ids=[lisbon], verify=True)
    assert outcome["verification"]["foundIn"] == []
    homes = tell_home(memory)
    assert not any(homes[name] for name in homes if "Lisbon" in name)
    assert homes["search: Porto"]
    assert homes["context: Porto"]
    triples = memory.graph.query_graph("SELECT * FROM facts")
    assert "lisbon" not in json.dumps(triples, default=str).casefold()


@pytest.mark.parametrize(
    ("told", "correction", "question", "home"),
    [
        (
            "I live in Porto with my cat Luna.",
            "My cat is called Sol.",
            "Where do I live?",
            "Porto",
        ),
        (
            "Vivo en Oporto con mi gata Luna.",
            "Mi gata se llama Sol.",
            "¿Dónde vivo?",
            "Oporto",
        ),
    ],
)
def test_a_correction_of_what_is_told_beside_a_home_leaves_the_home(
    tmp_path: Path, told: str, correction: str, question: str, home: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.remember(told, user_id=USER)
    [turn] = memory.search(told, memory_types=["turn"]).results
    memory.correct(turn.id, correction, now=LATER)
    attributes = memory.profile(user_id=USER, now=LATER)["attributes"]
    assert [one["value"] for one in attributes] == [home]
    first, *_ = memory.search(question, user_id=USER, now=LATER).results
    assert home in first.content
    assert "Luna" not in first.content
