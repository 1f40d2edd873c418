"""Whose words a sentence of a summary relates."""

from __future__ import annotations

import pytest

from varve.domain.statements.answers.summary_sentences import read_sentences


@pytest.mark.parametrize(
    ("line", "speaker", "said"),
    [
        (
            "Dana told us that she lives in Lisbon.",
            "Dana",
            "Dana lives in Lisbon.",
        ),
        ("Ana Ruiz said she moved.", "Ana Ruiz", "Ana Ruiz moved."),
        (
            "Pilar contó que vive en Sevilla.",
            "Pilar",
            "Pilar vive en Sevilla.",
        ),
        ("Dana: Tom says that he moved.", "Dana", "Tom says that he moved."),
        (
            "Dana says that her sister moved to Porto.",
            None,
            "Dana says that her sister moved to Porto.",
        ),
        (
            "Pilar dice que su hermana vive en Vigo.",
            None,
            "Pilar dice que su hermana vive en Vigo.",
        ),
        (
            "my sister says that she moved.",
            None,
            "my sister says that she moved.",
        ),
    ],
)
def test_a_sentence_relates_what_a_person_told_of_themselves(
    line: str, speaker: str | None, said: str
) -> None:
    (sentence,) = read_sentences(line)
    assert sentence.tell_whose() == (speaker, said)
