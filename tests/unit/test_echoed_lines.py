"""The assistant's line that only repeats a person's words is in no summary."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.builders import MORNING, WordEmbedder, a_record
from tests.support.summarized import DAY, WEEK, told, turn
from varve.domain.echoed_lines import find_echoes
from varve.domain.source_lines import SourceLine
from varve.usecases.summaries.condensing import ExtractiveSummarizer


def line_of(
    sentence: str, speaker: str, day: str = "2026-03-02"
) -> SourceLine:
    return SourceLine(day, sentence, MORNING, 0.5, speaker, True)


@pytest.mark.parametrize(
    ("said", "answer", "is_echo"),
    [
        (
            "We raised the budget to 340,000 euro.",
            "Noted, the budget is now 340,000 euro.",
            True,
        ),
        ("Closing moved to 4 July.", "Understood, closing on 4 July.", True),
        (
            "Contraté a Rubén Lara, empieza el 2 de febrero.",
            "Anotado: Rubén Lara empieza el 2 de febrero.",
            True,
        ),
        ("The budget is 340,000 euro.", "That is 40,000 euro more.", False),
        ("I use an index.", "Add one on created_at to the index.", False),
        ("Closing moved to 4 July.", "Is closing on 4 July?", False),
        ("Ana lives in Porto.", "So Bea lives in Porto.", False),
        ("I eat fish and eggs.", "So you do not eat eggs.", False),
    ],
)
def test_an_echo_tells_nothing_that_was_not_said(
    said: str, answer: str, is_echo: bool
) -> None:
    echo = line_of(answer, "Assistant")
    found = find_echoes([line_of(said, "Iris"), echo])
    assert found == (frozenset([echo]) if is_echo else frozenset())


def test_a_person_and_what_was_said_on_another_day_are_no_echo() -> None:
    said = "The budget is 340,000 euro."
    later = line_of(said, "Assistant", "2026-03-03")
    assert not find_echoes([line_of(said, "Iris"), line_of(said, "Bo"), later])


def test_a_days_summary_tells_a_statement_without_its_echo() -> None:
    agent = told(
        turn("Iris: We raised the budget to 340,000 euro."),
        turn(
            "Assistant: Noted, the budget is now 340,000 euro.",
            at=MORNING + timedelta(minutes=1),
        ),
    )
    agent.sum_up(DAY, ExtractiveSummarizer(WordEmbedder()))
    assert agent.summary(DAY).content.count("340,000") == 1


def test_a_short_week_has_no_remark_of_the_agent() -> None:
    agent = told(
        a_record("Iris likes tea."),
        turn("Iris: I bought a house in Salthill with two bedrooms."),
        turn("Assistant: Sounds wonderful to me, Iris!"),
        turn("Assistant: Wash the walls with vinegar."),
    )
    summarizer = ExtractiveSummarizer(WordEmbedder())
    agent.sum_up(DAY, summarizer)
    agent.sum_up(WEEK, summarizer)
    assert "wonderful" in agent.summary(DAY).content
    assert "wonderful" not in agent.summary(WEEK).content
    assert "Salthill" in agent.summary(WEEK).content
    assert "vinegar" in agent.summary(WEEK).content
