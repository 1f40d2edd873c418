"""Which sentences of a summary name a value that its user asked to forget."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.builders import MORNING, an_operation
from varve.domain.statements.forgetting import ForgottenValue, leave_out
from varve.domain.summary import KEY_FACTS_HEADING
from varve.domain.triple import fold


def forgotten(value: str) -> ForgottenValue:
    [triple] = fold([an_operation(value, "phone")])
    return ForgottenValue(
        value=value,
        triple=triple,
        request=("c-2", "m-2"),
        at=MORNING + timedelta(days=2),
        user="u-42",
        messages=frozenset({("c-1", "m-1")}),
    )


PHONE = forgotten("+351 912 345 678")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "2026-03-02: Dana: My number is +351 912 345 678. It rains.\nA new kiln.",
            "It rains.\nA new kiln.",
        ),
        ("Call +351912345678 at ten.", ""),
        ("Call (351) 912-345-678 at ten.", ""),
        ("It rains on 912 days.", "It rains on 912 days."),
        (
            f"It rains.{KEY_FACTS_HEADING}- Phone: +351 912 345 678",
            "It rains.",
        ),
        (
            f"A kiln.{KEY_FACTS_HEADING}- Phone: +351 912 345 678\n- It rains.",
            f"A kiln.{KEY_FACTS_HEADING}- It rains.",
        ),
    ],
)
def test_the_sentences_that_name_a_value_are_left_out(
    text: str, left: str
) -> None:
    assert leave_out(text, [PHONE]) == left


def test_a_value_is_compared_in_whole_words() -> None:
    text = "Dana turns 34. The lot has 1934 bricks."
    assert leave_out(text, [forgotten("34")]) == "The lot has 1934 bricks."


def test_a_value_that_spans_sentences_takes_the_line() -> None:
    text = "It is 4 Main Sq. Old Town, she says.\nIt rains."
    assert leave_out(text, [forgotten("4 Main Sq. Old Town")]) == "It rains."


@pytest.mark.parametrize(
    ("user", "days", "concerned"),
    [
        ("u-42", 0, True),
        (None, 0, True),
        ("u-9", 0, False),
        ("u-42", 3, False),
    ],
)
def test_a_value_concerns_its_users_summaries_up_to_the_request(
    user: str | None, days: int, concerned: bool
) -> None:
    start = MORNING + timedelta(days=days)
    assert PHONE.concerns_summary(user, start) is concerned
