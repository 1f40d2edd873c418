"""A question that names a thing by two words, or by its place, is answered by that thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, find, talk
from varve import Memory
from varve.domain.statements.pairs.other_things import tells_other_thing


@pytest.mark.parametrize(
    ("thing", "other", "question"),
    [
        (
            "The alarm code is 4471.",
            "My dentist is on Mondays.",
            "What is the alarm code?",
        ),
        (
            "The birthday budget is 300.",
            "I have yoga in March.",
            "What is the birthday budget?",
        ),
        (
            "The invoice template is in Drive.",
            "I pay 40 euros for the gym.",
            "Where is the invoice template?",
        ),
        (
            "El código de la cita es 4471.",
            "Tengo yoga los lunes.",
            "¿Cuál es el código de la cita?",
        ),
        (
            "La playlist del cumpleaños está en Drive.",
            "Tengo yoga los lunes.",
            "¿Dónde está la playlist del cumpleaños?",
        ),
    ],
)
def test_a_thing_is_named_by_two_words_and_not_by_the_topic_of_one(
    tmp_path: Path, thing: str, other: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(1, thing), talk(4, other)])
    results = list(memory.search(question).results)
    assert thing in results[0].content
    assert all(result.current for result in results)


TWO_PLACES = [
    (
        "The wifi code at home is bluewhale9.",
        "The wifi code at the office is tulip-33.",
        "What is the wifi code at home?",
        "What is the wifi code at the office?",
    ),
    (
        "My mom's wifi code is sunflower5.",
        "My neighbour's wifi code is otter12.",
        "What is my mom's wifi code?",
        "What is my neighbour's wifi code?",
    ),
    (
        "The door code for the gym is 1184.",
        "The door code for the garage is now 9921.",
        "What is the door code for the gym?",
        "What is the door code for the garage?",
    ),
    (
        "El enchufe del wifi de casa es el 24.",
        "El enchufe del wifi de la oficina es el 88.",
        "¿Cuál es el enchufe del wifi de casa?",
        "¿Cuál es el enchufe del wifi de la oficina?",
    ),
    (
        "El código de la alarma del taller es 5530.",
        "El código de la alarma del piso es 7711.",
        "¿Cuál es el código de la alarma del taller?",
        "¿Cuál es el código de la alarma del piso?",
    ),
]


@pytest.mark.parametrize(("one", "other", "of_one", "of_other"), TWO_PLACES)
@pytest.mark.parametrize("is_first", [True, False])
def test_invariant_11_things_apart_by_their_place_leave_each_other(
    tmp_path: Path,
    one: str,
    other: str,
    of_one: str,
    of_other: str,
    is_first: bool,
) -> None:
    told = (one, other) if is_first else (other, one)
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(day, text) for day, text in enumerate(told)])
    for question, answer in ((of_one, one), (of_other, other)):
        results = list(memory.search(question).results)
        assert answer in results[0].content
        assert all(result.current for result in results)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The rent for the flat is 900.", "The rent is now 950."),
        ("My home address is Elm 3.", "The address of my flat is Oak 5."),
        ("Dr Ruiz at the clinic is my dentist.", "Dr Vega in Poza is my dentist."),
        ("The wifi at home is tulip.", "Actually the wifi at work is tulip."),
        ("La clave de casa es 44.", "La clave nueva es 55."),
        ("My dentist is Ruiz.", "My dentist at the clinic is Vega."),
        ("I live in Porto.", "My home is in Lisbon."),
    ],
)  # fmt: skip
def test_one_thing_may_be_told_with_its_place_or_without(
    earlier: str, later: str
) -> None:
    assert not tells_other_thing(earlier, later)


def test_the_office_keeps_its_code_when_home_gets_a_new_one(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    old = "The wifi code at home is bluewhale9."
    new = "We changed it, the wifi code at home is otter12."
    office = "The wifi code at the office is tulip33."
    memory.ingest([talk(1, old), talk(3, office), talk(9, new)])
    results = list(memory.search("What is the wifi code at home?").results)
    assert new in results[0].content
    assert not find(results, old).current
    assert find(results, office).current
