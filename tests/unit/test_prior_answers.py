"""Prior answers and research logs on a real store: nothing paid for is lost or merged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import attempt
from tests.support.drivers import driver_of
from varve import Memory
from varve.api.answers import Researched
from varve.domain.errors import Rejected, Retryable
from varve.domain.experience.answers import PriorAnswer
from varve.domain.experience.results import read_result

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED = ("ACME", "credit", "Will ACME pay?")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, now=START, environment={})


def step(memory: Memory, result: object, **given: Any) -> Researched:
    return memory.experience.answers.research_step(
        *ASKED, lambda _: result, **given
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The director has sold shares.", "The director has not sold shares."),
        ("Revenue was 430 million.", "Revenue was 410 million."),
        ("The service requires TLS 1.2.", "The service requires TLS 1.3."),
        ("Margins fell in Q1.", "Margins fell in Q2."),
        ("The filing is due on 3 May.", "The filing is due on 4 May."),
        ("Keller leads the audit.", "Moreau leads the audit."),
    ],
    ids=["negation", "figure", "version", "quarter", "date", "name"],
)
def test_notes_that_differ_in_one_particular_are_two(
    memory: Memory, first: str, second: str
) -> None:
    notes = memory.experience.research
    assert notes.note("acme", "fact", first)[1]
    assert notes.note("acme", "fact", second)[1]
    assert not notes.note("acme", "fact", second.rstrip("."))[1]
    assert {entry.text for entry in notes.log("acme").entries} == {
        first,
        second,
    }


@pytest.mark.parametrize(
    "result",
    [
        "It will.",
        {"probability": 0.9},
        ["It", "will"],
        42,
        None,
        {"answer": ""},
    ],
    ids=["text", "no answer", "list", "number", "none", "empty answer"],
)
def test_a_result_of_any_shape_is_returned_and_stored_with_a_warning(
    memory: Memory, result: object
) -> None:
    done = step(memory, result)
    assert (done.result, done.stored) == (result, True)
    assert done.warnings
    (stored,) = memory.experience.answers.all()
    assert stored.answer == done.answer.answer


def test_irregular_fields_of_a_result_are_kept_as_text(memory: Memory) -> None:
    result = {
        "answer": "yes",
        "confidence": 85,
        "sector": "steel",
        "probability": 0.5,
    }
    done = step(memory, result)
    assert done.answer.answer == "yes\nconfidence: 85\nsector: steel"
    assert (done.answer.confidence, done.answer.probability) == (None, 0.5)
    assert len(done.warnings) == 2


def test_a_regular_result_has_no_warning() -> None:
    regular = {"answer": "yes", "confidence": None, "citations": "10-K p.3"}
    assert read_result(regular).warnings == ()


def test_a_text_as_citations_is_one_citation(memory: Memory) -> None:
    done = step(memory, {"answer": "yes", "citations": "10-K p.3"})
    assert done.answer.citations == ("10-K p.3",)
    kept = memory.experience.answers.remember(
        *ASKED, "yes", citations="10-K p.4"
    )
    assert kept.citations == ("10-K p.4",)


def test_a_result_that_the_store_refuses_reaches_the_caller(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> PriorAnswer:
        raise Retryable("the store is busy")

    book = memory.experience.answers
    monkeypatch.setattr(book, "remember", refuse)
    done = step(memory, {"answer": "yes"})
    assert (done.result, done.stored) == ({"answer": "yes"}, False)
    assert "the store is busy" in done.warnings[0]


def test_a_step_without_a_question_is_refused_before_it_costs(
    memory: Memory,
) -> None:
    calls: list[object] = []
    book = memory.experience.answers
    error = attempt(
        lambda: book.research_step(
            "ACME", "credit", " ", lambda _: calls.append(1)
        )
    )
    assert isinstance(error, Rejected)
    assert (error.field, calls) == ("question", [])


def test_an_answer_without_confidence_is_kept_so_and_reused(
    memory: Memory,
) -> None:
    book = memory.experience.answers
    book.remember(*ASKED, "yes", confidence=None)
    (kept,) = book.all()
    assert kept.confidence is None
    assert (
        "without a stated confidence"
        in book.should_rerun("ACME", "credit").reason
    )


def test_subjects_and_tasks_compare_without_case(memory: Memory) -> None:
    book = memory.experience.answers
    book.remember(*ASKED, "yes")
    assert not book.should_rerun("acme", "Credit").rerun
    assert book.analogous("CREDIT", "Will ACME pay?")


def test_an_answer_of_a_regime_is_not_reused_without_one(
    memory: Memory,
) -> None:
    book = memory.experience.answers
    book.remember(*ASKED, "yes", regime={"rates": {"us": "high"}})
    assert "rates.us" in book.should_rerun("ACME", "credit").reason
    low, high = {"rates": {"us": "low"}}, {"rates": {"us": "high"}}
    assert book.should_rerun("ACME", "credit", regime=low).rerun
    assert not book.should_rerun("ACME", "credit", regime=high).rerun


def test_nested_signals_are_compared_by_value(memory: Memory) -> None:
    book = memory.experience.answers
    assert step(memory, {"answer": "yes"}, signals={"rates": {"us": 5}}).stored

    def ask(**signals: Any) -> bool:
        return book.should_rerun("ACME", "credit", signals=signals).rerun

    assert not ask(rates={"us": 5})
    assert ask(rates={"us": 6})
    assert not ask(rates={"eu": None})
    memory.configure("experience.materialSignals", "lawsuit")
    assert not ask(rates={"us": 6})
    memory.configure("experience.materialSignals", "rates")
    assert ask(rates={"us": 6})


def test_a_reused_answer_counts_as_read_though_the_process_ends(
    memory: Memory,
) -> None:
    kept = memory.experience.answers.remember(*ASKED, "yes")
    assert step(memory, "not called").reused
    assert driver_of(memory).history(memory.scope).reads[kept.id][0] == 1


def test_a_write_flushes_the_reads_counted_so_far(memory: Memory) -> None:
    said = {
        "role": "user",
        "content": "threads wait for it",
        "state": "debugging",
    }
    said["timestamp"] = (START - timedelta(days=1)).isoformat()
    memory.ingest({"conversationId": "c-1", "messages": [said]})
    (item,) = memory.recall_experience("threads wait").items
    reads = lambda: driver_of(memory).history(memory.scope).reads  # noqa: E731
    assert reads() == {}
    memory.record_outcome("c-1", "SUCCESS", decision="raise the pool")
    assert reads()[item.id][0] == 1
    for _ in range(2):
        memory.recall_experience("threads wait")
    memory.ingest({"conversationId": "c-2", "messages": [said]})
    assert reads()[item.id][0] == 3
