"""A text has a fact or the words that it was drawn from, and the words keep what they add."""

from __future__ import annotations

import pytest

from tests.support.builders import MORNING
from varve.domain.record import MemoryType
from varve.domain.statements.pairs.drawn import (
    leaves_out,
    tell_fact,
    tell_once,
)
from varve.domain.summary import Source

TOLD = [
    ("My birthday is on May 4.", "Dana's birthday is 4 May."),
    ("I'm allergic to latex.", "Dana is allergic to latex."),
    (
        "My cousin Ana Ruiz lives in Cádiz.",
        "Dana's cousin Ana Ruiz lives in Cádiz.",
    ),
    (
        "My cousin Ana Ruiz lives in Cádiz.",
        "Dana's cousin is called Ana Ruiz.",
    ),
    ("I moved to Porto.", "Dana moved to Porto and lives there."),
    (
        "I moved to Utrecht last week.",
        "Dana moved to Utrecht and lives there (week of 2026-02-23).",
    ),
    (
        "I quit Globex and joined Initech.",
        "Dana left Globex and joined Initech.",
    ),
    ("I live in Madrid and I work at Acme.", "Dana works at Acme."),
    ("I love jazz, but only live.", "Dana loves jazz."),
    ("I don't eat meat any more.", "Dana no longer eats meat."),
    ("Vivo en Madrid.", "Dana vive en Madrid."),
    (
        "Me mudé a Roma el lunes.",
        "Dana se mudó a Roma y vive allí (2026-03-09).",
    ),
    (
        "Soy alérgica a los cacahuetes y no tolero bien la leche.",
        "Dana es alérgica a los cacahuetes.",
    ),
    (
        "Mi hermana Marta vive en Oslo con dos gatos.",
        "La hermana de Dana se llama Marta.",
    ),
]
OTHERS = [
    ("My sister lives in Oslo.", "Dana lives in Oslo."),
    ("I live in Madrid.", "Dana lives in Porto."),
    ("I visited Acme.", "Dana works at Acme."),
    ("I like white wine.", "Dana likes red wine."),
    (
        "My sister Jule visited Hamburg.",
        "Dana's sister Jule lives in Hamburg.",
    ),
    ("My sister Jule moved to Bonn.", "Dana's sister Jule lives in Hamburg."),
    ("My brother Leo moved to Bonn.", "Dana's sister Leo lives in Bonn."),
    ("I don't like coffee.", "Dana likes coffee."),
    ("I have a dog.", "Dana has a dog called Rex."),
    ("My rent is 900 euros.", "Dana's rent is 950 euros."),
    ("My flight is on May 4.", "Dana's flight is on 4 June."),
    ("I work at Acme.", "Dana works at Acme in Berlin."),
    ("Mi hermana vive en Oslo.", "Dana vive en Oslo."),
    ("No me gusta el café.", "A Dana le gusta el café."),
]


@pytest.mark.parametrize(("said", "fact"), TOLD)
def test_words_tell_the_fact_drawn_from_them(said: str, fact: str) -> None:
    assert tell_fact("Dana", said, fact)


@pytest.mark.parametrize(
    ("speaker", "said", "fact"),
    [
        (
            "Lucía Prado",
            "Mi hermano Nacho se ha mudado a Vitoria.",
            "El hermano de Lucía Prado, Nacho, se mudó a Vitoria y vive allí.",
        ),
        (
            "Marta Keller",
            "My sister Jule moved to Hamburg last week.",
            "Marta Keller's sister Jule lives in Hamburg (week of 2026-01-19).",
        ),
        (
            "Dana",
            "My sister Jule moved to Hamburg.",
            "Dana's sister Jule lives in Hamburg.",
        ),
    ],
)
def test_words_tell_the_fact_of_a_relation_with_another_verb(
    speaker: str, said: str, fact: str
) -> None:
    assert tell_fact(speaker, said, fact)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I live in Girona.", "{} lives in Girona."),
        ("We live in Girona with our two kids.", "{} lives in Girona."),
        ("I hate olives.", "{} dislikes olives."),
        (
            "I just moved to Girona from Vic.",
            "{} moved to Girona and lives there.",
        ),
        (
            "I moved to Utrecht last week.",
            "{} moved to Utrecht and lives there (week of 2026-02-23).",
        ),
        ("Vivo en Girona con mis hijos.", "{} vive en Girona."),
        ("Estoy casada con Laia.", "{} está en matrimonio con Laia."),
        (
            "Mi color favorito es el verde.",
            "Lo que más le gusta a {} (color): verde.",
        ),
    ],
)
@pytest.mark.parametrize("speaker", ["User", "u-42", "Dana"])
def test_words_tell_the_fact_that_the_rules_draw_from_them(
    speaker: str, said: str, fact: str
) -> None:
    """The speaker may be a role or the user's id."""
    assert tell_fact(speaker, said, fact.format(speaker))


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("My sister lives in Girona.", "User lives in Girona."),
        ("I would like to live in Girona.", "User lives in Girona."),
        ("Do I live in Girona?", "User lives in Girona."),
        ("I live in Girona.", "User lives in Porto."),
        ("Mi hermana vive en Girona.", "User vive en Girona."),
    ],
)
def test_words_of_a_role_about_something_else_do_not_tell_a_fact(
    said: str, fact: str
) -> None:
    assert not tell_fact("User", said, fact)


@pytest.mark.parametrize(("said", "fact"), OTHERS)
def test_words_about_something_else_do_not_tell_a_fact(
    said: str, fact: str
) -> None:
    assert not tell_fact("Dana", said, fact)


def source(text: str, id_: str, message: str) -> Source:
    kind = MemoryType(id_.partition("-")[0])
    messages = frozenset({("c-1", message)})
    return Source(
        id_, kind, "f", text, MORNING, 0.5, "u-42", messages=messages
    )


def list_told(*sources: Source) -> list[str]:
    return [one.id for one in tell_once(sources)]


def test_a_turn_takes_the_place_of_the_facts_that_it_tells() -> None:
    said = "Dana: I live in Madrid. I play the cello on Fridays."
    assert list_told(
        source("Dana lives in Madrid.", "fact-1", "m1"),
        source(said, "turn-1", "m1"),
    ) == ["turn-1"]


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("Dana and Greg broke up.", "Greg and I broke up."),
        (
            "Dana dejó Basurto y trabaja en Txagorritxu.",
            "Ya no trabajo en Basurto, ahora estoy en Txagorritxu.",
        ),
        (
            "Dana is moving to Antwerp (2026-11).",
            "I'm moving to Antwerp next month.",
        ),
    ],
)
def test_a_turn_takes_the_place_of_a_fact_of_a_whole_sentence(
    fact: str, said: str
) -> None:
    assert list_told(
        source(fact, "fact-1", "m1"), source(f"Dana: {said}", "turn-1", "m1")
    ) == ["turn-1"]


def test_a_fact_that_says_more_than_its_turn_stays() -> None:
    assert list_told(
        source("Dana lives in Porto near Ana Ruiz.", "fact-1", "m1"),
        source("Dana: I live in Porto near her.", "turn-1", "m1"),
    ) == ["fact-1", "turn-1"]


def test_a_fact_of_another_message_stays() -> None:
    assert list_told(
        source("Dana lives in Madrid.", "fact-1", "m1"),
        source("Dana: I live in Madrid.", "turn-2", "m2"),
    ) == ["fact-1", "turn-2"]


def test_of_two_facts_of_one_message_the_one_that_says_both_stays() -> None:
    assert list_told(
        source("Dana's cousin is called Ana Ruiz.", "fact-1", "m1"),
        source("Dana's cousin Ana Ruiz lives in Cádiz.", "fact-2", "m1"),
    ) == ["fact-2"]


def test_a_fact_of_words_too_short_for_a_summary_stays() -> None:
    fact = source("Dana es vegana.", "fact-1", "m1")
    assert "fact-1" in list_told(
        fact, source("Dana: Soy vegana.", "turn-1", "m1")
    )


@pytest.mark.parametrize(
    ("fact", "turn", "left_out"),
    [
        (
            "Dana's neighbour is called Ana Torres.",
            "Dana: Ana Torres is my neighbour, she plays the violin.",
            True,
        ),
        (
            "Dana moved to Lisbon and lives there (week of 2026-02-23).",
            "Dana: I moved to Lisbon last week.",
            False,
        ),
        (
            "Dana left Globex and joined Initech.",
            "Dana: I quit Globex and joined Initech.",
            False,
        ),
        ("Dana vive en Vigo.", "Dana: Vivo en Vigo y toco el chelo.", True),
    ],
)
def test_a_fact_that_leaves_words_out_does_not_stand_for_its_turn(
    fact: str, turn: str, *, left_out: bool
) -> None:
    assert leaves_out(fact, turn) is left_out
