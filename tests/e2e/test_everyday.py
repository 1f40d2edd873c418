"""What was told last holds (invariant 11) in a memory of many plain statements.

A change of one matter must not touch what was told of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import list_conversations
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
ENGLISH = (
    "I live in Madrid with my brother.",
    "I work at Globex as an accountant.",
    "I'm allergic to peanuts.",
    "My dog is called Rex, he is a beagle.",
    "My dentist is Dr. Vega on Calle Mayor.",
    "The rent is 900 euros a month.",
    "My sister Laura lives in Oslo.",
    "I drive an old Seat Ibiza.",
    "My wifi password is on a note under the router.",
    "I'm training for the Valencia marathon in December.",
    "My daughter Nora starts school in September.",
    "I quit Globex and joined Initech.",
    "My landlord raised the rent to 950 euros.",
    "I moved to Valencia.",
    "Laura has moved to Bergen.",
    "I sold the Ibiza; I cycle everywhere now.",
    "I had to drop the marathon because of my knee.",
    "I love sushi but I can't stand olives.",
)
SPANISH = (
    "Vivo en Madrid con mi hermano.",
    "Trabajo en Globex como contable.",
    "Soy alérgica a los cacahuetes.",
    "Mi perro se llama Rex, es un beagle.",
    "Mi dentista es la doctora Vega.",
    "Pago 900 euros de alquiler.",
    "Mi hermana Laura vive en Oslo.",
    "Conduzco un Seat Ibiza viejo.",
    "Mi hija Nora empieza el cole en septiembre.",
    "El casero me ha subido el alquiler a 950 euros.",
    "Nos hemos mudado a Valencia.",
    "Laura se ha mudado a Bergen.",
    "He vendido el Ibiza, ahora voy en bici a todas partes.",
)
RETIRED = (
    "Name's Walt, I drove a truck for 31 years, retired now.",
    "It's just me and my beagle Duke out here in Zanesville.",
    "I drive a white Silverado.",
    "My blood pressure pill is lisinopril, 10 mg every morning.",
    "I bowl with the church fellas on Tuesday nights.",
    "My daughter Karen is a nurse in Toledo.",
    "My wrist is in a brace, no bowling for a month.",
    "Lost old Duke Friday, best friend I had.",
    "Karen up and moved to Dayton last month, same line of work.",
    "Shelter had a little gray terrier, so now Peanut's living with me.",
    "Brace is off, back on the lanes with the boys this week.",
    "I take two sugars in my coffee.",
)
OTHERS = (
    "I sold the Ibiza; I cycle everywhere now.",
    "I started a new job at Acme.",
    "I quit smoking.",
    "We switched to Linux.",
    "I finished my thesis.",
    "I now take the bus to work.",
    "He vendido el coche, ahora voy en bici.",
)


def tell(path: Path, texts: Sequence[str]) -> Memory:
    """Return a memory of statements, each a conversation of its own, days apart."""
    memory = Memory.open(path, workspace="w", agent="a", now=lambda: NOW)
    memory.ingest(list_conversations(texts))
    return memory


def check_first(memory: Memory, question: str, words: str) -> None:
    """Check that the first result has these words, and holds."""
    first, *_ = memory.search(question, user_id="u-1").results
    assert words in first.content, question
    assert first.current, question


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return tell(tmp_path_factory.mktemp("english") / "store", ENGLISH)


@pytest.fixture(scope="module")
def spanish(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return tell(tmp_path_factory.mktemp("spanish") / "store", SPANISH)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where do I work?", "Initech"),
        ("What am I allergic to?", "peanuts"),
        ("What is my dog's name?", "Rex"),
        ("Who is my dentist?", "Vega"),
        ("How much is my rent?", "950"),
        ("Where does Laura live?", "Bergen"),
        ("What car do I have?", "Ibiza"),
        ("Where is the wifi password?", "router"),
        ("When does Nora start school?", "September"),
    ],
)
def test_each_question_finds_its_own_statement_current_invariant_11(
    english: Memory, question: str, words: str
) -> None:
    check_first(english, question, words)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("¿A qué soy alérgica?", "cacahuetes"),
        ("¿Cómo se llama mi perro?", "Rex"),
        ("¿Dónde vive Laura?", "Bergen"),
        ("¿Qué coche tengo?", "Ibiza"),
        ("¿Cuándo empieza Nora el cole?", "septiembre"),
    ],
)
def test_each_spanish_question_finds_its_own_statement_invariant_11(
    spanish: Memory, question: str, words: str
) -> None:
    check_first(spanish, question, words)


@pytest.mark.parametrize("change", OTHERS)
def test_a_change_of_another_matter_takes_no_place_invariant_11(
    tmp_path: Path, change: str
) -> None:
    told = (
        "I'm allergic to peanuts.",
        "My dog is called Rex, he is a beagle.",
        "My dentist is Dr. Vega on Calle Mayor.",
        "The rent is 900 euros a month.",
    )
    memory = tell(tmp_path, (*told, change))
    for question, words in (
        ("What am I allergic to?", "peanuts"),
        ("What is my dog's name?", "Rex"),
        ("Who is my dentist?", "Vega"),
        ("How much is my rent?", "900"),
    ):
        check_first(memory, question, words)


@pytest.mark.parametrize(
    ("told", "alike", "question", "words"),
    [
        (
            "Nora's birthday is May 4.",
            "Leo's birthday is June 9.",
            "When is Nora's birthday?",
            "May 4",
        ),
        (
            "My flight to Oslo is on May 3.",
            "My flight to Rome is on June 7.",
            "When is my flight to Oslo?",
            "May 3",
        ),
        (
            "I owe Ada twenty euros.",
            "I owe Rosa fifty euros.",
            "How much do I owe Ada?",
            "twenty",
        ),
        (
            "The Orbit project deadline is June 1.",
            "The Nova project deadline is July 9.",
            "When is the Orbit deadline?",
            "June 1",
        ),
        (
            "Ada works at the bakery.",
            "Rosa works at the library.",
            "Where does Ada work?",
            "bakery",
        ),
        (
            "Mi hija Nora tiene 5 años.",
            "Mi hijo Leo tiene 8 años.",
            "¿Cuántos años tiene Nora?",
            "5",
        ),
    ],
)
def test_what_is_told_of_another_one_supersedes_nothing_invariant_11(
    tmp_path: Path, told: str, alike: str, question: str, words: str
) -> None:
    memory = tell(tmp_path, (told, alike))
    check_first(memory, question, words)


@pytest.mark.parametrize(
    ("own", "other", "question", "words"),
    [
        (
            "I live in Madrid.",
            "My brother Luis lives in Oslo.",
            "Where does Luis live?",
            "Oslo",
        ),
        (
            "I live in Madrid.",
            "My brother Luis lives in Oslo.",
            "Where does my brother live?",
            "Oslo",
        ),
        (
            "I live in Bonn.",
            "My sister moved to Oslo.",
            "Where does my sister live?",
            "Oslo",
        ),
        (
            "Vivo en Sevilla.",
            "Mi hermana vive en Lugo.",
            "¿Dónde vive mi hermana?",
            "Lugo",
        ),
        (
            "I work at Siemens.",
            "My husband got a job at Bosch.",
            "Where does my husband work?",
            "Bosch",
        ),
        (
            "I live in Madrid.",
            "My sister moved to Oslo.",
            "Where do I live?",
            "Madrid",
        ),
    ],
)
def test_a_question_about_another_person_is_not_answered_by_the_speaker(
    tmp_path: Path, own: str, other: str, question: str, words: str
) -> None:
    memory = tell(tmp_path, (own, other))
    check_first(memory, question, words)


def test_what_is_told_of_twelve_persons_is_found_by_their_names(
    tmp_path: Path,
) -> None:
    names = [
        "Ada",
        "Ben",
        "Cleo",
        "Finn",
        "Hana",
        "Ivo",
        "Jana",
        "Leo",
        "Olaf",
        "Pia",
        "Rosa",
        "Uma",
    ]
    told = [
        text.format(name)
        for name in names
        for text in (
            "{} works at the bakery on Elm Street.",
            "{} has two kids and a parrot.",
            "{} is allergic to nuts.",
        )
    ]
    memory = tell(tmp_path, told)
    for name in names:
        for question, words in (
            (f"Where does {name} work?", f"{name} works at the bakery"),
            (f"What is {name} allergic to?", f"{name} is allergic"),
        ):
            check_first(memory, question, words)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When do I bowl?", "Tuesday"),
        ("What car do I drive?", "Silverado"),
        ("How do I take my coffee?", "sugars"),
    ],
)
def test_a_lively_change_takes_no_place_of_another_matter_invariant_11(
    tmp_path: Path, question: str, words: str
) -> None:
    memory = tell(tmp_path, RETIRED)
    first, *_ = memory.search(question, user_id="u-1").results
    assert words in first.content


MIXED = [
    ("I'm vegan and allergic to nuts.", "I eat meat again."),
    ("I'm vegan and I'm allergic to nuts.", "I'm not vegan any more."),
    ("I'm allergic to nuts and vegan.", "I've gone back to eating meat."),
    ("Soy vegana y alérgica a las nueces.", "Vuelvo a comer carne."),
    ("Soy alérgica a las nueces y vegana.", "Ya no soy vegana."),
]


@pytest.mark.parametrize(("told", "later"), MIXED)
def test_11_a_diet_ends_and_the_allergy_beside_it_holds(
    tmp_path: Path, told: str, later: str
) -> None:
    memory = tell(tmp_path, [told, later])
    is_english = told.startswith("I")
    of_diet, of_food, of_allergy, of_nuts = (
        ("Am I vegan?", "What do I eat?", "What am I allergic to?", "Can I eat nuts?")
        if is_english
        else ("¿Soy vegana?", "¿Qué como?", "¿A qué soy alérgica?", "¿Puedo comer nueces?")
    )  # fmt: skip
    for question in (of_diet, of_food):
        assert list_stating(memory, question, told) == [False], question
    for question in (of_allergy, of_nuts):
        assert list_stating(memory, question, told) == [True], question
        block = memory.context(question, user_id="u-1", now=NOW).text
        assert "likely no longer" not in block
        assert "may no longer hold" not in block
    attributes = memory.profile(user_id="u-1", now=NOW)["attributes"]
    assert [one["key"] for one in attributes] == ["allergies"]


def list_stating(memory: Memory, question: str, told: str) -> list[bool]:
    """Return whether what an answer has of a statement's own words holds."""
    results = memory.search(question, include_superseded=True, now=NOW).results
    return [one.current for one in results if told in one.content]


def test_11_a_diet_holds_when_the_allergy_beside_it_ends(
    tmp_path: Path,
) -> None:
    told = "I'm vegan and allergic to nuts."
    memory = tell(tmp_path, [told, "I'm not allergic to nuts any more."])
    assert list_stating(memory, "Am I vegan?", told) == [True]
    assert list_stating(memory, "What am I allergic to?", told) == [False]
    attributes = memory.profile(user_id="u-1", now=NOW)["attributes"]
    assert [one["key"] for one in attributes] == ["diet"]
