"""Short items of a list and lines of code say something only together."""

from __future__ import annotations

import pytest

from tests.support.builders import WordEmbedder
from tests.support.summarized import DAY, told, turn
from varve.domain.extractive import sentences
from varve.domain.listed_lines import MAX_JOINED_CHARACTERS, join_lines
from varve.usecases.summaries.condensing import ExtractiveSummarizer

PACKING = "Packing list:\n- 2 linen shirts\n- passport 🛂\n* eggs,\n1. tea."


def test_short_items_stand_on_the_line_of_their_heading() -> None:
    assert join_lines(PACKING) == (
        "Packing list: 2 linen shirts; passport 🛂; eggs; tea"
    )


def test_items_without_a_heading_stand_on_one_line() -> None:
    assert join_lines("I need this.\n- eggs\n- tea") == (
        "I need this.\neggs; tea"
    )


def test_an_item_that_is_a_statement_keeps_its_line() -> None:
    text = "To do:\n- Ana comes on Friday to look at the boiler.\n- gym"
    assert join_lines(text).split("\n") == [
        "To do:",
        "- Ana comes on Friday to look at the boiler.",
        "gym",
    ]


def test_a_long_list_takes_several_lines() -> None:
    text = "\n".join(["Guests:", *(f"- guest {n} of Ana" for n in range(60))])
    lines = join_lines(text).split("\n")
    assert all(len(line) <= MAX_JOINED_CHARACTERS for line in lines)
    assert sum(line.count("guest ") for line in lines) == 60


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "```python\ntry:\n    run()\nexcept OSError:\n    pass\n```",
            "try: run() except OSError: pass",
        ),
        (
            'Traceback:\n  File "a.py", line 8, in run\n    settle(batch)',
            'Traceback: File "a.py", line 8, in run settle(batch)',
        ),
    ],
)
def test_code_is_one_sentence(text: str, line: str) -> None:
    assert list(sentences(join_lines(text))) == [line]


@pytest.mark.parametrize("text", ["", "I moved.\nBye", "a\n\nb"])
def test_other_lines_stay(text: str) -> None:
    assert join_lines(text).strip() == text


def test_a_days_summary_has_the_short_items_of_a_list() -> None:
    agent = told(turn(f"Dana: {PACKING}"))
    agent.sum_up(DAY, ExtractiveSummarizer(WordEmbedder()))
    assert "Packing list: 2 linen shirts; passport 🛂; eggs; tea" in (
        agent.summary(DAY).content
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("**Olive Shed** – tapas", ["Olive Shed – tapas"]),
        ("- **Oslo**: two days", ["Oslo: two days"]),
        ("Take **two** of them.", ["Take two of them."]),
        ("**Note: pack light. Rain.**", ["Note: pack light.", "Rain."]),
        ("z = x**2 + y**2", ["z = x**2 + y**2"]),
    ],
)
def test_words_in_bold_have_no_marks(text: str, told: list[str]) -> None:
    assert list(sentences(text)) == told
