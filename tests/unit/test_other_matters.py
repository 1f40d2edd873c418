"""A statement of another matter supersedes nothing, though both tell a day, a price or a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, find, talk
from varve import Memory
from varve.domain.statements.pairs.other_matters import tells_other_matter
from varve.domain.statements.texts.cues import read_cues

OTHER = [
    ("I have the dentist on Monday.", "I stopped playing tennis, my knee hurts."),
    ("I take blood pressure pills.", "I gave up yoga, my back is killing me."),
    ("My physio is called Ines.", "Sold my bike, my wrist is too weak."),
    ("My doctor is called Svensson.", "I quit coffee, doctor's orders."),
    ("Tengo dentista el lunes.", "He dejado el tenis, me duele la rodilla."),
    ("Tomo pastillas.", "Vendí la moto, la espalda no me deja."),
    ("I run on Wednesday evenings.", "We switched to GitHub since Monday."),
    ("Los lunes voy a natación.", "Ya soy autónomo desde el lunes."),
    ("My kids are Rosie and Max.", "Rosie has swimming at 4."),
]  # fmt: skip
SAME = [
    ("I have the dentist on Monday.", "They moved me to Thursday."),
    ("My exams start on 4 June.", "Strike, so all is pushed to 25 June."),
    ("I live in a flat in Leeds.", "I lost my job, I live with my mum."),
    ("I play tennis on Saturdays.", "I stopped tennis, my knee hurts."),
    ("I take the bus to work.", "Sold the car, the bus to work is fine."),
    ("My dentist is Ruiz.", "I quit tennis, my dentist is Vega."),
    ("I drive a Subaru.", "Gave the Subaru to the school for good."),
    ("Mi médico es Ruiz.", "He cambiado de médico, me ve Vega."),
    ("Los lunes voy a natación.", "La natación es los martes."),
    ("I take 20 mg.", "Actually I meant the pills at work."),
]  # fmt: skip


@pytest.mark.parametrize(("earlier", "later"), OTHER)
def test_a_text_of_other_topics_tells_another_matter(
    earlier: str, later: str
) -> None:
    assert tells_other_matter(read_cues(earlier), later)


@pytest.mark.parametrize(("earlier", "later"), SAME)
def test_a_text_that_may_change_the_matter_tells_no_other(
    earlier: str, later: str
) -> None:
    assert not tells_other_matter(read_cues(earlier), later)


@pytest.mark.parametrize(
    ("held", "sport", "change", "question"),
    [
        (
            "I have the dentist on Monday.",
            "I play tennis on Saturdays.",
            "I stopped playing tennis, my knee hurts.",
            "When is my dentist?",
        ),
        (
            "Tengo dentista el lunes.",
            "Juego al tenis los sábados.",
            "He dejado el tenis, me duele la rodilla.",
            "¿Cuándo tengo dentista?",
        ),
    ],
)
def test_invariant_11_a_change_with_its_reason_ends_one_matter(
    tmp_path: Path, held: str, sport: str, change: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(1, sport), talk(4, held), talk(10, change)])
    results = list(memory.search(question).results)
    assert held in results[0].content
    assert find(results, held).current
    assert not find(results, sport).current
    assert "no longer" not in next(
        line
        for line in memory.context(question, user_id="u-1").text.splitlines()
        if held in line
    )


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Chess moved to Tuesdays.", {"schedule", "sport"}),
        ("They moved the review to 10:15.", set()),
        ("I'm back at last.", set()),
        ("I moved to Porto.", {"home"}),
        ("My back hurts.", {"health", "trouble"}),
    ],
)
def test_a_topic_is_told_by_its_own_sense_of_a_word(
    text: str, topics: set[str]
) -> None:
    assert read_cues(text).topics == topics
