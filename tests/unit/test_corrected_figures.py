"""A summary does not tell a figure that a later line corrects."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.builders import MORNING, a_record
from tests.support.summarized import Saying, told, turn
from varve.domain.last_states import find_changed_figures
from varve.domain.source_lines import SourceLine

CORRECTION = "Correction, the ticket is PAY-1128, I swapped the digits."


@pytest.mark.parametrize(
    ("first", "later", "is_changed"),
    [
        ("Ticket PAY-1182.", CORRECTION, True),
        ("Kofi mentioned ticket PAY-1182.", CORRECTION, True),
        ("The ticket is urgent.", CORRECTION, False),
        ("The ticket costs 30 euros.", CORRECTION, False),
        ("The invoice is INV-1182.", CORRECTION, False),
        ("Ticket PAY-1182.", "Is the ticket PAY-1128?", False),
    ],
)
def test_a_correction_changes_a_figure_of_the_same_form(
    first: str, later: str, is_changed: bool
) -> None:
    lines = [
        SourceLine("2026-03-02", first, MORNING, 0.5, "Kofi", True),
        SourceLine("2026-03-05", later, MORNING, 0.5, "Kofi", True),
    ]
    assert list(find_changed_figures(lines)) == [(0, 1)] * is_changed


@pytest.mark.parametrize(
    ("later", "is_left"),
    [(CORRECTION, False), ("Correction, the kickoff is at ten.", True)],
)
def test_a_key_fact_with_a_corrected_figure_is_left_out(
    later: str, is_left: bool
) -> None:
    """No line tells the fact any more, only the list of key facts."""
    agent = told(
        a_record("Kofi mentioned ticket PAY-1182.", at=MORNING),
        turn(f"Kofi: {later}", at=MORNING + timedelta(hours=1)),
    )
    agent.sum_up(summarizer=Saying("2026-03-02: Kofi talked of his work."))
    summary = agent.summary()
    assert ("PAY-1182" in summary.content) == is_left
    assert ("PAY-1182" in summary.key_facts) == is_left
