"""States and deeds that share a subject with the clause before them are read."""

import pytest

from tests.unit.test_rules import changes, extract

STATED = [
    ("I live in Lisbon and work as a nurse.",
     ["UPDATE Dana lives_in Lisbon", "UPDATE Dana works_as nurse"]),
    ("I'm a nurse, based in Leeds.", ["UPDATE Dana works_as nurse", "UPDATE Dana lives_in Leeds"]),
    ("I'm a nurse based in Leeds.", ["UPDATE Dana works_as nurse", "UPDATE Dana lives_in Leeds"]),
    ("im sam, backend dev in leeds",
     ["UPDATE Dana name Sam", "UPDATE Dana works_as backend dev"]),
    ("backend dev in leeds", ["UPDATE Dana works_as backend dev"]),
    ("Not coeliac, just lactose intolerant.",
     ["DELETE Dana cannot_eat gluten", "ADD Dana cannot_eat lactose"]),
    ("No soy celíaca, solo intolerante a la lactosa.",
     ["DELETE Dana cannot_eat gluten", "ADD Dana cannot_eat lactosa"]),
    ("I'm vegan and diabetic.", ["UPDATE Dana diet vegan", "ADD Dana has_condition diabetes"]),
    ("Soy diabético de tipo 2.", ["ADD Dana has_condition diabetes de tipo 2"]),
    ("Ya no trabajo en Globex, ahora estoy en Initech.",
     ["DELETE Dana works_at Globex", "UPDATE Dana works_at Initech"]),
    ("I no longer work at Globex, I'm with Initech now.",
     ["DELETE Dana works_at Globex", "UPDATE Dana works_at Initech"]),
    ("im vegetarian and cant eat mushrooms",
     ["UPDATE Dana diet vegetarian", "ADD Dana cannot_eat mushrooms"]),
    ("Soy alérgica a los cacahuetes y no tolero la lactosa.",
     ["ADD Dana allergic_to cacahuetes", "ADD Dana cannot_eat lactosa"]),
    ("also got a kitten, called miso", ["ADD Dana has_pet Miso", "ADD Miso is_a kitten"]),
    ("mi cumple es el 3 de mayo", ["UPDATE Dana birthday 3 May"]),
    ("Ya no trabajo en Globex, ahora estoy en Madrid.", ["DELETE Dana works_at Globex"]),
]  # fmt: skip
OTHERS = """
I want to live in Lisbon and work as a nurse.
My sister and I live in Lisbon and work as nurses.
I told him to quit and work as a nurse.
I'm looking for a flat, based in Leeds.
I'm worried about my son, allergic to nuts.
I'm with Ana, allergic to nuts.
I'm not vegan, vegetarian or anything.
I live with Ana, vegan since birth.
My mum is diabetic.
I'm prediabetic.
I have diabetes in the family.
I don't work for Globex but with Ana
Snow in Leeds.
"""


@pytest.mark.parametrize(("said", "told"), STATED)
def test_both_parts_are_read(said: str, told: list[str]) -> None:
    assert changes(extract(said)) == told


def test_what_is_told_of_others_or_not_at_all_is_not_read() -> None:
    for said in OTHERS.strip().splitlines():
        assert changes(extract(said)) == [], said
