"""Words before they are remembered: without our own echo, in bounded passages."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.text import (
    INJECTED_TAGS,
    MAX_PASSAGE_CHARACTERS,
    estimated_tokens,
    passages,
    salience,
    without_injected,
)

PROSE = st.text(st.sampled_from("ab é.?!\n\t  用😀"), max_size=400)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(PROSE | st.text(), st.integers(1, 60))
def test_passages_lose_nothing_but_white_space_and_are_bounded(text: str, limit: int) -> None:
    pieces = list(passages(text, limit))
    assert squeezed("".join(pieces)) == squeezed(text)
    assert all(0 < len(piece) <= limit and piece == piece.strip() for piece in pieces)


@given(st.lists(st.text("abc", min_size=1, max_size=8), max_size=60))
def test_passages_cut_between_words_where_words_are_short(words: list[str]) -> None:
    text = " ".join(words)
    assert " ".join(passages(text, 20)) == text


def test_a_passage_ends_at_the_strongest_break_in_its_second_half() -> None:
    assert list(passages("One here. Two here.\n\nThree is here.", 25)) == [
        "One here. Two here.",
        "Three is here.",
    ]
    assert list(passages("Aaa bbb ccc. Ddd eee fff", 20)) == ["Aaa bbb ccc.", "Ddd eee fff"]
    assert list(passages("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_short_text_is_one_passage_and_silence_none() -> None:
    assert list(passages("  I moved.\n")) == ["I moved."]
    assert list(passages(" \n\t")) == []


def test_a_megabyte_is_cut_quickly() -> None:
    started = time.perf_counter()
    pieces = list(passages("word " * 200_000))
    assert max(map(len, pieces)) <= MAX_PASSAGE_CHARACTERS
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("tag", [*INJECTED_TAGS, "MEMORY", "Varve-Memory"])
@pytest.mark.parametrize("attributes", ["", ' source="varve"', "\n  a='1' b"])
def test_a_block_of_recalled_memory_is_left_out(tag: str, attributes: str) -> None:
    text = f"Before.\n<{tag}{attributes}>\n<entry>Dana lives in Lisbon.</entry>\n</{tag} >\nI like tea."
    assert without_injected(text).split() == ["Before.", "I", "like", "tea."]


def test_several_blocks_are_left_out_and_what_lies_between_stays() -> None:
    assert without_injected("<memory>a</memory>one<memories>b</memories>two").split() == ["onetwo"]


def test_a_block_within_another_kind_of_block_goes_with_it() -> None:
    assert without_injected("<varve-memory>a <memory>b</memory> c</varve-memory>rest") == "rest"


def test_a_block_that_was_cut_off_is_left_out_to_its_end() -> None:
    assert without_injected("I like tea.\n<varve-memory>\nDana lives in") == "I like tea."


@pytest.mark.parametrize(
    "text",
    [
        "I have a bad memory.",
        "a < b and memory > 4 GB",
        "<memorial>Rome</memorial>",
        "<mem>x</mem>",
        "</memory> x",
    ],
)
def test_words_that_only_resemble_a_block_stay(text: str) -> None:
    assert without_injected(text) == text


@given(PROSE.map(str.strip), PROSE)
def test_injection_before_or_after_leaves_the_words_themselves(words: str, recalled: str) -> None:
    block = f"<varve-memory>\n{recalled}\n</varve-memory>"
    assert without_injected(f"{block}\n{words}") == words
    assert without_injected(f"{words}\n{block}") == words


def test_many_blocks_left_open_take_no_time_to_speak_of() -> None:
    started = time.perf_counter()
    without_injected("<memory " * 50_000)
    without_injected("<memory>" * 50_000)
    without_injected("<memory></memories>" * 20_000)
    assert time.perf_counter() - started < 5


@given(st.text())
def test_salience_is_at_least_a_little_and_less_than_a_facts_beginning(text: str) -> None:
    assert 0.05 <= salience(text) <= 0.5


def test_a_greeting_matters_less_than_a_sentence() -> None:
    assert salience("Hi!") < salience("I moved to Lisbon last week with my sister.") < salience("word " * 20)


@given(st.text())
def test_tokens_are_estimated_at_four_bytes_each(text: str) -> None:
    assert estimated_tokens(text) == math.ceil(len(text.encode()) / 4)
