"""A summary above the day prefers the line that supersedes another one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from tests.support.builders import WordEmbedder
from varve.domain.extractive import chosen
from varve.domain.source_lines import SourceLine
from varve.domain.succeeding_lines import MAX_COMPARED, find_successions

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def lines_of(*sentences: str) -> list[SourceLine]:
    """Return a line of Dana for each sentence, a week apart."""
    found: list[SourceLine] = []
    for number, sentence in enumerate(sentences):
        at = START + timedelta(weeks=number)
        day = at.date().isoformat()
        found.append(SourceLine(day, sentence, at, 0.5, "Dana", False))
    return found


def find(*sentences: str) -> list[tuple[int, int]]:
    lines = lines_of(*sentences)
    return find_successions(
        lines, WordEmbedder().embed([line.said for line in lines])
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Nos vamos de vacaciones a Llanes del 1 al 15 de agosto.",
            "Cambio de planes: a Llanes vamos del 8 al 22 de agosto.",
        ),
        (
            "Deploys go out Tuesdays at 15:00 UTC.",
            "Deploys are now daily at 11:00 UTC.",
        ),
    ],
)
def test_a_later_line_of_the_same_matter_supersedes(
    earlier: str, later: str
) -> None:
    assert find(earlier, "My cat is called Sol.", later) == [(0, 2)]


def test_lines_without_a_common_word_are_no_succession() -> None:
    assert not find(
        "The alarm code was 4471, I'm changing it.",
        "The nursery went up to 1,040 a month.",
    )


def test_of_many_lines_the_last_ones_are_compared() -> None:
    idle = [f"We bought item{n} for room{n}." for n in range(MAX_COMPARED)]
    changed = ("I live in Leeds.", *idle, "I live in Porto now.")
    assert (0, MAX_COMPARED + 1) not in find(*changed)


def test_a_selection_has_the_later_line_of_a_succession() -> None:
    lines = lines_of("We meet in Leeds at nine.", "We meet in Porto at ten.")
    vectors = [np.array([1.0, 0.0], np.float32)] * 2

    def choose(*successions: tuple[int, int]) -> str:
        return chosen(lines, vectors, 14, (), successions)

    assert "Leeds" in choose()
    assert "Porto" in choose((0, 1))
    assert "Leeds" not in choose((0, 1))


def test_a_pair_that_is_hardly_likely_is_no_succession() -> None:
    assert not find(
        "I'm Ren, I live in Ghent and I'm the team's data lead.",
        "Sprint review is on Thursdays at 14:00.",
        "I live in Antwerp now, Nationalestraat.",
    )
