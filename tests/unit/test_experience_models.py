"""A chat model proposes outcomes and wordings of lessons; each proposal is checked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer, Request, prompt
from varve import Memory
from varve.domain.errors import Misconfigured
from varve.domain.experience.rows import GENERALIZED, WORDED, episode_id

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "the boiler bangs at night, radiators stay cold",
    "I bled the radiators.",
    "Silence since then, warm rooms.",
)
CONDITION = "boiler bangs at night while radiators stay cold"
CLAIM = "When the boiler bangs at night and radiators stay cold: bleed the radiators."


class Model:
    """What the scripted model answers: nothing to extract, one outcome, one wording."""

    def __init__(self) -> None:
        self.outcome: dict[str, Any] = {
            "outcome": "SUCCESS",
            "quote": "Silence since then",
        }
        self.wording: dict[str, Any] = {"condition": CONDITION, "claim": CLAIM}
        self.judged = 0

    def __call__(self, request: Request) -> dict[str, Any]:
        if "how it ended" in prompt(request):
            self.judged += 1
            return self.outcome
        return (
            self.wording
            if "<episodes>" in prompt(request)
            else {"facts": [], "triples": []}
        )


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def memory(model: Model, tmp_path: Path) -> Iterator[Memory]:
    with ModelServer(model) as server:
        given = {"VARVE_LLM": "openai:test", **server.environment}
        yield Memory.open(
            tmp_path, now=START + timedelta(days=9), environment=given
        )


def told(number: int, *texts: str, **given: Any) -> dict[str, Any]:
    messages = [
        {
            "id": f"m{place}", "role": "assistant" if place % 2 else "user", "content": text,
            "state": "repair",
            "timestamp": (START + timedelta(days=number, minutes=place)).isoformat(), **given,
        }
        for place, text in enumerate(texts)
    ]  # fmt: skip
    return {
        "conversationId": f"c-{number}",
        "userId": f"u-{number}",
        "messages": messages,
    }


def outcome(memory: Memory) -> tuple[str, str]:
    (episode,) = memory.experience.episodes()
    return episode["outcome"], episode["outcomeFrom"]


def test_a_model_judges_an_outcome_that_no_words_imply(
    memory: Memory,
) -> None:
    memory.ingest(told(0, *SAID))
    assert outcome(memory) == ("SUCCESS", "model")


def test_no_model_is_asked_if_an_outcome_is_stated_or_implied(
    memory: Memory, model: Model
) -> None:
    memory.ingest(
        [told(0, *SAID, outcome="FAILURE"), told(1, *SAID[:2], "Tests pass.")]
    )
    ended = {
        (one["outcome"], one["outcomeFrom"])
        for one in memory.experience.episodes()
    }
    assert ended == {("FAILURE", "stated"), ("SUCCESS", "cue")}
    assert model.judged == 0


@pytest.mark.parametrize(
    "reply",
    [
        {"outcome": "SUCCESS", "quote": "Everybody is happy"}, {"outcome": "SUCCESS", "quote": " "},
        {"outcome": "UNKNOWN", "quote": "Silence since then"},
        {"outcome": "WON", "quote": "Silence since then"},
    ],
)  # fmt: skip
def test_a_judgement_whose_quote_was_never_said_does_not_count(
    memory: Memory, model: Model, reply: dict[str, Any]
) -> None:
    model.outcome = reply
    memory.ingest(told(0, *SAID))
    assert outcome(memory) == ("UNKNOWN", "none")


def test_one_message_alone_is_not_judged(memory: Memory, model: Model) -> None:
    memory.ingest(told(0, SAID[0]))
    assert (outcome(memory), model.judged) == (("UNKNOWN", "none"), 0)


def learnt(memory: Memory) -> None:
    for number in range(2):
        memory.ingest(told(number, SAID[0]))
        memory.record_outcome(
            episode_id(f"c-{number}", "m0"),
            "SUCCESS",
            decision="bleed the radiators",
            at=START,
        )


def test_a_wording_is_a_proposal_until_a_person_confirms_it(
    memory: Memory,
) -> None:
    learnt(memory)
    (before,) = memory.experience.lessons.all()
    report = memory.experience.lessons.reword()
    assert report == {
        "proposed": [
            {"lesson": before.id, "condition": CONDITION, "claim": CLAIM}
        ],
        "refused": [],
        "applied": False,
    }
    assert memory.experience.lessons.all() == [before]
    memory.experience.lessons.reword(apply=True)
    (after,) = memory.experience.lessons.all()
    assert (after.claim, after.supporting, after.active) == (
        CLAIM,
        before.supporting,
        True,
    )
    assert {version.origin for version in after.versions} == {
        GENERALIZED,
        WORDED,
    }
    assert memory.experience.lessons.reword()["proposed"] == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"condition": "things are often wrong"},
            "must name at least two things",
        ),
        (
            {"claim": "When it bangs: call a plumber."},
            "does not name the action",
        ),
        (
            {"condition": "printer jams on thick paper"},
            "has a condition that its episodes do not mention",
        ),
        ({"claim": CLAIM + " really" * 60}, "is longer than 300"),
    ],
)
def test_a_vague_wording_is_refused(
    memory: Memory, model: Model, change: dict[str, Any], reason: str
) -> None:
    learnt(memory)
    model.wording |= change
    report = memory.experience.lessons.reword(apply=True)
    assert report["proposed"] == []
    assert reason in report["refused"][0]["reason"]
    assert memory.experience.lessons.all()[0].claim != model.wording["claim"]


def test_erasing_a_user_deletes_model_wordings_of_their_episodes(
    memory: Memory,
) -> None:
    learnt(memory)
    memory.experience.lessons.reword(apply=True)
    memory.forget(user="u-0")
    assert all(
        CLAIM not in lesson.claim for lesson in memory.experience.lessons.all()
    )


def test_without_a_model_nothing_is_worded(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=START, environment={})
    with pytest.raises(Misconfigured, match="VARVE_LLM"):
        memory.experience.lessons.reword()
