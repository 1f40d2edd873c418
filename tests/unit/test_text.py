"""Words before they are remembered: in bounded passages, weighed and counted."""

from __future__ import annotations

import math
import time

from hypothesis import given
from hypothesis import strategies as st

from varve.domain.text import (
    MAX_PASSAGE_CHARACTERS,
    estimated_tokens,
    passages,
    salience,
)

PROSE = st.text(st.sampled_from("ab é.?!\n\t  用😀"), max_size=400)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(PROSE | st.text(), st.integers(1, 60))
def test_passages_lose_nothing_but_white_space_and_are_bounded(
    text: str, limit: int
) -> None:
    pieces = list(passages(text, limit))
    assert squeezed("".join(pieces)) == squeezed(text)
    assert all(
        0 < len(piece) <= limit and piece == piece.strip() for piece in pieces
    )


@given(st.lists(st.text("abc", min_size=1, max_size=8), max_size=60))
def test_passages_cut_between_words_where_words_are_short(
    words: list[str],
) -> None:
    text = " ".join(words)
    assert " ".join(passages(text, 20)) == text


def test_a_passage_ends_at_the_strongest_break_in_its_second_half() -> None:
    assert list(passages("One here. Two here.\n\nThree is here.", 25)) == [
        "One here. Two here.",
        "Three is here.",
    ]
    assert list(passages("Aaa bbb ccc. Ddd eee fff", 20)) == [
        "Aaa bbb ccc.",
        "Ddd eee fff",
    ]
    assert list(passages("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_short_text_is_one_passage_and_silence_none() -> None:
    assert list(passages("  I moved.\n")) == ["I moved."]
    assert list(passages(" \n\t")) == []


def test_a_megabyte_is_cut_quickly() -> None:
    started = time.perf_counter()
    pieces = list(passages("word " * 200_000))
    assert max(map(len, pieces)) <= MAX_PASSAGE_CHARACTERS
    assert time.perf_counter() - started < 5


@given(st.text())
def test_salience_is_at_least_a_little_and_less_than_a_facts_beginning(
    text: str,
) -> None:
    assert 0.05 <= salience(text) <= 0.5


def test_a_greeting_matters_less_than_a_sentence() -> None:
    assert (
        salience("Hi!")
        < salience("I moved to Lisbon last week with my sister.")
        < salience("word " * 20)
    )


@given(st.text())
def test_tokens_are_estimated_at_four_bytes_each(text: str) -> None:
    assert estimated_tokens(text) == math.ceil(len(text.encode()) / 4)
