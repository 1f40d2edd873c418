"""A name in lower case before a colon is a speaker where a line begins."""

import pytest

from varve.domain.speakers import is_name, is_small_name
from varve.domain.statements.answers.summary_sentences import read_sentences


@pytest.mark.parametrize("name", ["elena", "paco gómez", "x-ray2", "o'brien"])
def test_a_name_in_lower_case_begins_a_line(name: str) -> None:
    text = f"2026-03-02: {name}: I moved to Porto. I play tennis."
    found = read_sentences(text, "u-1")
    assert [(one.speaker, one.said) for one in found] == [
        (name, "I moved to Porto."),
        (name, "I play tennis."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "today: no meetings.",
        "and then: she left.",
        "the day: it rained.",
        "mañana: nada.",
        "note: the gas is off.",
        "what we ate there: fish.",
        "10: ten.",
    ],
)
def test_other_words_before_a_colon_are_no_speaker(text: str) -> None:
    (found,) = read_sentences(f"2026-03-02: {text}")
    assert (found.speaker, found.said) == (None, text)


def test_a_name_in_capitals_is_no_small_name_and_a_number_no_name() -> None:
    assert is_name("Ana de Vries")
    assert not is_name("a b")
    assert not is_name("")
    assert not is_small_name("")
    assert not is_small_name("12 10")
