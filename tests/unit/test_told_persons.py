"""Persons whom statements name in words alone, as `varve status --people` lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.domain.statements.texts.told_persons import find_told_persons


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ana Ruiz lives in Utrecht.", {"Ana Ruiz"}),
        ("Ana's sister Clara lives in Ghent.", {"Ana", "Clara"}),
        ("Eva's little brother is at sea.", {"Eva"}),
        ("I think Tom works at Shell.", {"Tom"}),
        ("The mother of Bo Vik called.", {"Bo Vik"}),
        ("Juan es alérgico al polen.", {"Juan"}),
        ("La tía de Marta vino a cenar.", {"Marta"}),
        ("La hija de Marcos Gil, Nora, toca el piano.", {"Marcos Gil", "Nora"}),
        ("A Rosa le gusta el jazz.", {"Rosa"}),
        ("Acme moved to Berlin.", set()),
        ("Python works fine and Bosch has a new drill.", set()),
        ("Berlin is a city.", set()),
        ("Grandma lives in Soria.", set()),
        ("Nobody lives in the shed.", set()),
        ("Everyone likes jazz.", set()),
        ("Who lives in Utrecht?", set()),
        ("La jefa de Acme es maja.", set()),
        ("Telefónica trabaja en ello.", set()),
        ("Endesa trabajaba en una nueva solución.", set()),
        ("Endesa is working on it.", set()),
        ("Marta trabaja en Tánger.", {"Marta"}),
        ("Marta trabajaba en una farmacia.", {"Marta"}),
    ],
)  # fmt: skip
def test_what_is_told_of_persons_alone_names_them(
    text: str, named: set[str]
) -> None:
    assert set(find_told_persons(text)) == named


def test_11_persons_named_in_words_are_people_and_no_topics(
    tmp_path: Path,
) -> None:
    with Memory.open(tmp_path, now=NOW) as memory:
        memory.ingest(
            talk(
                1,
                "Ana Ruiz lives in Utrecht.",
                "Ana's sister Clara has bananas.",
                "I have a dog called Toby. Toby likes bones.",
                "Bosch drills are blue.",
            )
        )
        listed = memory.status(people=True, topics=True)
        people = {one["name"]: one["records"] for one in listed["people"]}
        topics = {one["topic"] for one in listed["topics"]}
        assert people["Ana"] == 2
        assert people["Ana Ruiz"] == people["Clara"] == 1
        assert people.keys().isdisjoint({"Toby", "Bosch"})
        assert topics.isdisjoint({"ana", "ruiz", "clara"})
        assert "bosch" in topics
        found = memory.search(people=["Clara"]).results
        assert ["bananas" in one.content for one in found] == [True]
