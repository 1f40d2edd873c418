"""Sentences of summaries hold as their turns did, once these have expired."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import expire, tell
from varve import Memory
from varve.domain.statements.answers.summary_sentences import fold_words

LATER = datetime(2026, 9, 25, 10, tzinfo=UTC)
USER = "u-1"
HOUSE = (
    "We've hired Marta to clean on Fridays.",
    "The alarm code is 9026 now.",
    "My son Leo goes to the creche in Elm Street.",
    "I drive an old Honda Civic.",
    "The gas man comes on the 12th at 8.",
    "Creche went up to 1,040.",
    "I switched from Vodafone to Orange.",
    "I live in a flat in Elm Street.",
    "Marta comes on Thursdays now.",
)
TRIP = (
    "My flight to Oslo is on June 3 at 7:40.",
    "My passport is valid until 2029.",
    "In Oslo I stay at the Grand Nord.",
    "My travel insurance is with Allfar.",
    "My train to Bergen leaves at 9:10 on June 7.",
    "The train now goes at 10:05 on June 7.",
)
YOGA = (
    "Yoga is on Tuesdays at 18:00.",
    "My yoga teacher is called Irene.",
    "I go swimming on Thursdays at 18:00.",
    "Wednesday is my Portuguese lesson.",
    "My choir meets on Mondays.",
    "Yoga is on Fridays at 19:00 now.",
    "I cycle to work now.",
)


def list_superseded(memory: Memory, question: str) -> set[str]:
    """Return the folded turns that the results mark, or the marked sentences of summaries."""
    found = memory.search(
        question, user_id=USER, max_results=20, now=LATER
    ).results
    assert found
    superseded: set[str] = set()
    for one in found:
        superseded.update(one.outdated)
        if one.memory_type == "turn" and not one.current:
            superseded.add(fold_words(one.content.removeprefix("Dana: ")))
    return superseded


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (HOUSE, "What is the alarm code?"),
        (HOUSE, "Where do I live?"),
        (HOUSE, "When does the gas man come?"),
        (HOUSE, "When does Marta come?"),
        (HOUSE, "How much is the creche?"),
        (TRIP, "Which hotel do I have in Oslo?"),
        (TRIP, "Who insures my trip?"),
        (YOGA, "When do I have Portuguese?"),
        (YOGA, "When does my choir meet?"),
    ],
)
def test_sentences_are_superseded_as_their_turns_were(
    tmp_path: Path, texts: tuple[str, ...], question: str
) -> None:
    memory = tell(tmp_path / "told", texts, LATER)
    expired = expire(tmp_path / "expired", texts, LATER)
    assert list_superseded(expired, question) == list_superseded(
        memory, question
    )


def test_what_has_expired_is_kept_beside_a_change_of_another_matter(
    tmp_path: Path,
) -> None:
    memory = expire(tmp_path, HOUSE, LATER)
    found = memory.search(
        "When does the gas man come?", user_id=USER, now=LATER
    ).results
    assert "gas man" in found[0].content
    assert not found[0].outdated
    block = memory.context(
        "When does the gas man come?", user_id=USER, now=LATER
    ).text
    assert "The gas man comes on the 12th at 8." in block
