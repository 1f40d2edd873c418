"""Lessons that people and research steps write: their evidence, or that they have none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.builders import attempt
from varve import Memory
from varve.domain.errors import Rejected
from varve.usecases.experience.lessons import Calibration

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
WHEN, THEN = "errors begin with a release", "roll the release back"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, now=START, environment={})


def test_a_lesson_without_evidence_says_so_and_has_no_confidence(
    memory: Memory,
) -> None:
    book = memory.experience.lessons
    lesson = book.find(book.add("Roll back first", when=WHEN, then=THEN))
    assert (lesson.standing, lesson.confidence) == ("active", 0.0)
    assert "stated by hand, no evidence" in book.block()
    assert "stated by hand, no evidence" in book.render()


def test_a_calibration_set_is_evidence_that_the_block_names(
    memory: Memory,
) -> None:
    book = memory.experience.lessons
    calibration = Calibration("credit-2025", "2025-01 to 2025-12", 240)
    id_ = book.add("Roll back", when=WHEN, then=THEN, calibration=calibration)
    assert book.find(id_).active
    assert (
        "calibrated on credit-2025, 2025-01 to 2025-12, n=240" in book.block()
    )
    empty = Calibration("none", "2025", 0)
    error = attempt(
        lambda: book.add("c", when=WHEN, then="wait for it", calibration=empty)
    )
    assert isinstance(error, Rejected)


def test_a_prior_answer_is_evidence_but_no_trial(memory: Memory) -> None:
    answer = memory.experience.answers.remember(
        "ACME", "credit", "Will it pay?", "yes"
    )
    book = memory.experience.lessons
    id_ = book.add("Roll back", when=WHEN, then=THEN, evidence=[answer.id])
    lesson = book.find(id_)
    assert (lesson.supporting, lesson.confidence) == ((answer.id,), 0.0)
    assert lesson.basis == "from prior answers, untested"


def test_a_proposal_becomes_a_lesson_by_one_call(memory: Memory) -> None:
    answers, book = memory.experience.answers, memory.experience.lessons
    shares = iter([0.9, 0.2])

    def step(days: int, **signals: bool) -> object:
        return answers.research_step(
            "ACME",
            "credit",
            "Will it pay?",
            lambda _: {"answer": "see share", "probability": next(shares)},
            signals=signals,
            now=START + timedelta(days=days),
        ).proposal

    assert step(0) is None
    proposal = step(1, lawsuit=True)
    lesson = book.find(book.accept(proposal))  # type: ignore[arg-type]
    assert lesson.active
    assert set(lesson.supporting) == {one.id for one in answers.all()}
    assert "from 0.9 to 0.2" in book.block()


def test_the_block_honours_tags_below_the_cap_and_names_the_action(
    memory: Memory,
) -> None:
    book = memory.experience.lessons
    book.add("Releases first", when=WHEN, then=THEN, tags=["ops"])
    book.add(
        "Ask twice",
        when="a guest complains about noise",
        then="move the guest",
    )
    block = book.block(tags=["ops"])
    assert "Releases first. Then: roll the release back" in block
    assert "move the guest" not in block


def test_erasing_an_answers_user_deletes_the_lesson_proposed_from_it(
    memory: Memory,
) -> None:
    answers, book = memory.experience.answers, memory.experience.lessons
    kept = answers.remember(
        "ACME", "credit", "Will it pay?", "yes", user_id="u-1"
    )
    proposal = answers.research_step(
        "ACME",
        "credit",
        "Will it pay?",
        lambda _: {"answer": "no", "probability": 0.1},
        signals={"lawsuit": True},
    ).proposal
    assert (kept.probability, proposal) == (None, None)
    first = answers.remember(
        "B", "credit", "Will it?", "yes", user_id="u-1", probability=0.9
    )
    changed = answers.research_step(
        "B",
        "credit",
        "Will it?",
        lambda _: {"answer": "no", "probability": 0.1},
        signals={"lawsuit": True},
    )
    assert changed.proposal is not None
    assert first.id in changed.proposal.evidence
    book.accept(changed.proposal)
    memory.forget(user="u-1")
    assert book.all() == []
