"""What `varve forget --query` proposes: statements about the one whom the query names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory, Rejected
from varve.domain.statements.pairs.likeness import word_likeness

TOLD = (
    "Ana Ruiz lives in Utrecht.",
    "Ana Ruiz's sister Clara lives in Ghent.",
    "Eva's dog is called Bruno.",
    "Eva's sister has a dog called Rex.",
    "Eva's number is 612 345 678.",
    "Eva is allergic to peanuts.",
    "Luis's contract ends in May.",
    "Luis's contrast dye made him ill.",
    "Sara vive en Vigo.",
    "La hermana de Sara, Clara, vive en Gante.",
    "El perro de Sara se llama Toby.",
    "El número de Sara es el 699 111 222",
    "Sara es alérgica a los cacahuetes.",
    "El compañero de piso de Sara está embarazado de ideas.",
)


OWN = (
    "My dog is called Rex.",
    "The dog needs his shots in May.",
    "I live in Kiel.",
    "My sister lives in Oslo.",
    "My son is allergic to cats.",
    "Mi sueldo es de 2100 euros.",
    "El sueldo de mi jefe es de 4000 euros.",
    "Vivo en Gijón.",
    "Mi hermana vive en Sevilla.",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("memory")
    with Memory.open(path, now=NOW) as opened:
        for number, text in enumerate(TOLD, 1):
            opened.ingest(talk(number, text))
        yield opened


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("where Ana lives", [1]),
        ("where Ana Ruiz lives", [1]),
        ("where Ana's sister lives", [2]),
        ("Ana", [1, 2]),
        ("Eva's dog", [3]),
        ("the dog of Eva's sister", [4]),
        ("Eva's allergy", [6]),
        ("Luis's contract", [7]),
        ("dónde vive Sara", [9]),
        ("dónde vive la hermana de Sara", [10]),
        ("el perro de Sara", [11]),
        ("el gato de Sara", []),
        ("el número de Sara", [12]),
        ("la alergia de Sara", [13]),
        ("las alergias de Sara", [13]),
        ("el embarazo de Sara", []),
    ],
)
def test_a_query_proposes_what_is_told_of_the_one_it_names(
    memory: Memory, query: str, named: list[int]
) -> None:
    proposed = memory.propose_forget(query)["statements"]
    told = [one["content"].removeprefix("u-1: ") for one in proposed]
    assert sorted(told) == sorted(TOLD[number - 1] for number in named)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("own")
    with Memory.open(path, now=NOW) as opened:
        for number, text in enumerate((*TOLD, *OWN), 1):
            opened.ingest(talk(number, text))
        yield opened


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("my dog", {"Rex", "shots"}),
        ("u-1's dog", {"Rex", "shots"}),
        ("where I live", {"Kiel", "lives in: Gijón"}),
        ("where my sister lives", {"Oslo"}),
        ("my allergy", set()),
        ("mi sueldo", {"2100"}),
        ("el sueldo de mi jefe", {"4000"}),
        ("dónde vivo", {"Gijón"}),
        ("dónde vive u-1", {"Gijón"}),
        ("dónde vive mi hermana", {"Sevilla"}),
        ("mi perro", set()),
    ],
)
def test_a_query_in_the_first_person_proposes_ones_own(
    own: Memory, query: str, named: set[str]
) -> None:
    proposed = own.propose_forget(query)["statements"]
    told = [one["content"] for one in proposed]
    found = [word for word in sorted(named) for text in told if word in text]
    assert sorted(found) == sorted(named)
    assert len(told) == len(named)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Theo", "Theo's number is 612."),
        ("Mia", "Mia lives in Rome."),
        ("Will", "Will called me."),
        ("my son", "My son plays chess."),
        ("where my son lives", "My son lives in Rome."),
        ("allergies", "Allergic to nuts."),
        ("Therapist", "I have two therapists."),
        ("mondays", "I swim on Mondays."),
        ("mi hijo", "Mi hijo toca el violín."),
        ("voy a la terapeuta", "Voy a la terapeuta."),
        ("dónde he vivido", "He vivido en Roma."),
    ],
)
def test_words_name_a_text_with_their_forms(query: str, text: str) -> None:
    assert word_likeness(query, text) == 1.0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Theo", "The rent is 870 euros."),
        ("Luna", "El lunes voy al dentista."),
        ("Marta", "El martes voy al dentista."),
        ("Julia", "En julio voy a Roma."),
        ("Carla", "Carlos vive en Roma."),
        ("Mario", "María vive en Roma."),
        ("Dan", "Dana lives in Kiel."),
        ("Mia", "Mi casa es de Ana."),
        ("Will", "I will go."),
        ("my son", "Son las tres."),
    ],
)
def test_words_name_no_text_with_a_word_that_only_begins_alike(
    query: str, text: str
) -> None:
    assert word_likeness(query, text) == 0.0


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, now=NOW) as opened:
        for user in ("ana", "bo"):
            for text in ("My dog is called Rex.", "Mi gato se llama Tom."):
                opened.remember(text, user_id=user)
        yield opened


@pytest.mark.parametrize(("query", "left"), [("my dog", 1), ("mi gato", 1)])
def test_a_query_beside_a_user_takes_only_what_is_the_users(
    shared: Memory, query: str, left: int
) -> None:
    plan = shared.forget(user="ana", query=query, dry_run=True)
    assert [one["number"] for one in plan["statements"]] == [1]
    erased = shared.forget(user="ana", query=query, only=[1])
    assert erased["erased"]["turns"] == 1
    again = shared.forget(user="ana", query=query, dry_run=True)
    assert not again["statements"]
    of_bo = shared.forget(user="bo", query=query, dry_run=True)
    assert len(of_bo["statements"]) == left
    assert len(shared.search("Rex Tom", user_id="ana").results) == 1


@pytest.mark.parametrize(
    "other", [{"user": "ana"}, {"ids": ["turn-1"]}, {"query": "my dog"}]
)
def test_a_proposal_is_taken_alone(
    shared: Memory, other: dict[str, Any]
) -> None:
    number = shared.propose_forget("my dog")["proposal"]
    with pytest.raises(Rejected, match="exactly one"):
        shared.forget(proposal=number, **other)
    assert len(shared.search("Rex", user_id="ana").results) > 0


@pytest.mark.parametrize(
    ("told", "answer", "query"),
    [
        (
            "My phone number is +351 912 345 678.",
            "Noted, your number is 912 345 678.",
            "phone number",
        ),
        ("My dog is called Rex.", "Rex is a fine name!", "my dog"),
        (
            "Mi sueldo es de 2100 euros.",
            "Apunto 2100 al mes.",
            "mi sueldo",
        ),
    ],
)
def test_a_query_takes_the_answers_that_repeat_what_it_names(
    tmp_path: Path, told: str, answer: str, query: str
) -> None:
    others = ("The oven is new.", "> An oven lasts ten years.")
    with Memory.open(tmp_path, now=NOW) as memory:
        memory.ingest(talk(1, told, f"> {answer}", *others))
        proposed = memory.propose_forget(query, user_id="u-1")["statements"]
        assert f"Assistant: {answer}" in [one["content"] for one in proposed]
        receipt = memory.forget(query=query, user="u-1", verify=True)
        assert receipt["verification"]["proved"] is True
        records = memory.list(limit=100, memory_types=["turn"]).records
    left = [one.content for one in records]
    assert left == [
        "Assistant: An oven lasts ten years.",
        "u-1: The oven is new.",
    ]


def test_a_query_takes_no_other_turn_of_whom_it_names(tmp_path: Path) -> None:
    later = "The vet said Rex is well, and I paid 60 euros."
    with Memory.open(tmp_path, now=NOW) as memory:
        memory.ingest(talk(1, "> Is your dog called Rex?", later))
        memory.ingest(talk(2, "My dog is called Rex.", later))
        memory.forget(query="is my dog called", user="u-1")
        records = memory.list(limit=100, memory_types=["turn"]).records
    left = [one.content for one in records]
    assert left.count(f"u-1: {later}") == 2
