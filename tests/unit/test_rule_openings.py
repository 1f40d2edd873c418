"""The opening of a rule: a text that does not begin so is told without the rule's whole pattern."""

from __future__ import annotations

import pytest

from varve.domain.rules import LANGUAGE_READERS
from varve.domain.rules.opening import find_opening
from varve.domain.rules.reader import Reader
from varve.domain.rules.rule import Row, Slot, build_rule

SLOTS = {"place": Slot(r"[A-Z]\w+"), "date": Slot("today|tomorrow")}
SENTENCES = [
    "I moved to Lisbon last week", "I live in Lisbon, not in Porto", "I'm allergic to peanuts",
    "my dog is Rex", "I quit Globex and joined Initech", "I'm no longer vegan", "Ana was born yesterday",
    "I love tea and jazz", "we've lived in Rome since 2019", "my sister Ana's birthday is 3 May",
    "reach me at ana@example.org", "my booking number is AB1234", "peanuts don't agree with me",
    "the dishwasher works again", "what time is it", "Vivo en Gijón", "me mudé a Lugo la semana pasada",
    "soy alérgica a los cacahuetes", "mi perro se llama Rex", "dejé Globex y entré en Initech",
    "ya no soy vegana", "me gusta el té", "tengo una hermana que se llama Ana",
    "he vuelto a comer pescado", "nací el 3 de mayo de 1990", "mi número de reserva es AB1234",
    "qué hora es",
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "opening"),
    [
        ("I live in {place}", "I live in "),
        ("(?:I|we) live in {place}", "(?:I|we) live in "),
        ("I (?:live in|moved to {place})", "I "),
        ("I (?:(?:now|still) live (?:near )?{place}|left)", "I "),
        (r"(?:a|b) [(|] \( {place2}", r"(?:a|b) [(|] \( "),
        (r"(?:\w+ ){0,2}in {place}", r"(?:\w+ ){0,2}in "),
        ("(?:{place}|here) I am", ""),
        ("I live here|{place} is home", ""),
        ("I live in {place}|I am home", ""),
        ("I am (?:home|away)", "I am (?:home|away)"),
    ],
)
def test_the_opening_is_the_part_before_the_first_slot(
    words: str, opening: str
) -> None:
    assert find_opening(words) == opening


def test_a_rule_is_compiled_for_a_text_that_begins_as_it_does() -> None:
    rule = build_rule(
        Row("I live in {place}", "{who} lives in {place}"), SLOTS
    )
    assert rule.match("We live in Oslo") is None
    assert list(rule.find_all("We live in Oslo")) == []
    assert "pattern" not in vars(rule)
    found = rule.match("I live in Oslo")
    assert found is not None
    assert found["place"] == "Oslo"
    assert [one["place"] for one in rule.find_all("Yes, i live in Oslo")] == [
        "Oslo"
    ]
    assert "pattern" in vars(rule)


@pytest.mark.parametrize(
    "reader", LANGUAGE_READERS, ids=lambda one: one.language.code
)
def test_an_opening_refuses_nothing_that_its_rule_matches(
    reader: Reader,
) -> None:
    matched = 0
    for rule in reader.language.rules:
        for text in SENTENCES:
            whole = rule.pattern.match(text)
            found = rule.match(text)
            assert (found and found.span()) == (whole and whole.span())
            within = [one.span() for one in rule.pattern.finditer(text)]
            assert [one.span() for one in rule.find_all(text)] == within
            matched += whole is not None
    assert matched >= 10
