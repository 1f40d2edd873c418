"""Kinds of things that questions ask for."""

from __future__ import annotations

import pytest

from tests.support.builders import MORNING, WordEmbedder, a_record, embedded
from varve.domain.language.tokens import words
from varve.domain.search.columns import columns_of
from varve.domain.search.kinds import kinds_asked
from varve.domain.search.query import Filter
from varve.domain.search.question import read_question
from varve.domain.search.signals import EmbeddedQuestion, compute_signals
from varve.domain.search.strategies import BALANCED

SAID = (
    "Dana: we went hiking",
    "Dana: I adopted a puppy",
    "Dana: fui a nadar a la playa",
    "Dana: so it goes",
)


def kind_of(question: str) -> list[float]:
    (vector,) = WordEmbedder().embed([question])
    held = columns_of(
        embedded(
            *(
                a_record(text, id=f"r{i}", position=i)
                for i, text in enumerate(SAID)
            )
        )
    )
    found = compute_signals(
        EmbeddedQuestion(read_question(question), vector, vector),
        [held],
        [Filter()],
        MORNING,
        BALANCED,
    )
    return [round(found.value("kind", at), 2) for at in range(len(SAID))]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What hobbies does Dana have?", [1, 0, 1, 0]),
        ("¿Qué mascota tiene Dana?", [0, 1, 0, 0]),
        ("What pets does Dana have?", [0, 1, 0, 0]),
        ("Which activity did she do with her pet?", [0.5, 0.5, 0.5, 0]),
        ("What did Dana say?", [0, 0, 0, 0]),
    ],
)  # fmt: skip
def test_a_record_with_a_member_of_the_kind_is_found_by_the_kinds_name(
    question: str, expected: list[float]
) -> None:
    assert kind_of(question) == expected


def test_a_kind_is_asked_for_once_and_in_any_form() -> None:
    assert (
        len(
            kinds_asked(
                words("Which hobby, of all your hobbies and pastimes?")
            )
        )
        == 1
    )
    assert kinds_asked(words("Hobbies")) == kinds_asked(words("hobby"))
    assert kinds_asked(words("E-4711 broke")) == ()
