"""What ends values of a list reaches the profile, search and lists (issue 17)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


def list_values(path: Path, texts: tuple[str, ...]) -> list[str]:
    """Return the values of the profile after texts of one person."""
    profile = tell(path, texts, NOW).profile(user_id=USER)
    return sorted(one["value"] for one in profile["attributes"])


@pytest.mark.parametrize(
    ("told", "end", "left"),
    [
        (
            "I speak German, Dutch and French.",
            "I don't speak Dutch or French any more.",
            ["German"],
        ),
        (
            "Hablo alemán, holandés y francés.",
            "Ya no hablo holandés ni francés.",
            ["alemán"],
        ),
        ("Hablo alemán y holandés.", "Ya no hablo neerlandés.", ["alemán"]),
        ("I speak Dutch and German.", "Ya no hablo holandés.", ["German"]),
        (
            "Hablo holandés y alemán.",
            "I can no longer speak Dutch.",
            ["alemán"],
        ),
        ("I speak Dutch and German.", "I don't speak Dutch.", ["German"]),
        ("Hablo holandés y alemán.", "No hablo holandés.", ["alemán"]),
        (
            "I can't eat eggs, fish or milk.",
            "I can eat eggs and milk again.",
            ["fish"],
        ),
        (
            "No puedo comer huevos, pescado ni leche.",
            "Ya puedo volver a comer huevos y leche.",
            ["pescado"],
        ),
        (
            "I'm allergic to penicillin and latex.",
            "I don't have a penicillin allergy.",
            ["latex"],
        ),
        (
            "I'm allergic to peanuts and latex.",
            "I've outgrown my peanut allergy.",
            ["latex"],
        ),
        (
            "I'm allergic to strawberries and latex.",
            "My strawberry allergy is gone.",
            ["latex"],
        ),
        (
            "Soy alérgica a la penicilina y al látex.",
            "No tengo alergia a la penicilina.",
            ["látex"],
        ),
        (
            "Soy alérgica a los cacahuetes y al látex.",
            "Se me ha quitado la alergia al cacahuete.",
            ["látex"],
        ),
        (
            "Soy alérgica a la penicilina y al látex.",
            "La alergia a la penicilina se me ha pasado.",
            ["látex"],
        ),
        (
            "I'm lactose intolerant. I'm coeliac.",
            "I'm not lactose intolerant any more.",
            ["gluten"],
        ),
        (
            "Soy intolerante a la lactosa. Soy celíaca.",
            "Al final no soy celíaca.",
            ["lactosa"],
        ),
    ],
)
def test_3_an_end_of_some_values_leaves_the_others_of_the_profile(
    tmp_path: Path, told: str, end: str, left: list[str]
) -> None:
    assert list_values(tmp_path, (told, end)) == left


@pytest.mark.parametrize(
    ("told", "later", "left"),
    [
        ("I speak Dutch.", "I don't speak French.", ["Dutch"]),
        ("Hablo holandés.", "No hablo francés.", ["holandés"]),
        ("I speak Dutch.", "I don't speak Dutch at work.", ["Dutch"]),
        ("I speak Dutch.", "My son doesn't speak Dutch.", ["Dutch"]),
        ("Hablo holandés.", "Mi hijo no habla holandés.", ["holandés"]),
        (
            "I'm allergic to penicillin.",
            "I don't have a severe penicillin allergy.",
            ["penicillin"],
        ),
        (
            "I'm allergic to penicillin.",
            "My penicillin allergy is back.",
            ["penicillin"],
        ),
        (
            "I'm allergic to penicillin.",
            "My sister doesn't have a penicillin allergy.",
            ["penicillin"],
        ),
        (
            "I'm allergic to penicillin.",
            "I don't have any food allergies.",
            ["penicillin"],
        ),
        (
            "Soy alérgica a la penicilina.",
            "Mi hermana no tiene alergia a la penicilina.",
            ["penicilina"],
        ),
        (
            "Soy alérgica a la penicilina.",
            "La alergia a la penicilina me ha vuelto.",
            ["penicilina"],
        ),
        ("I'm coeliac.", "My brother isn't coeliac.", ["gluten"]),
        ("Soy celíaca.", "Mi hermana no es celíaca.", ["gluten"]),
    ],
)
def test_3_what_ends_no_value_leaves_the_profile(
    tmp_path: Path, told: str, later: str, left: list[str]
) -> None:
    assert list_values(tmp_path, (told, later)) == left


@pytest.mark.parametrize(
    ("told", "end", "rest"),
    [
        (
            "Hablo alemán y holandés.",
            "Ya no hablo holandés.",
            "Dana habla alemán.",
        ),
        (
            "I like tea, coffee and chess.",
            "I don't like tea or coffee any more.",
            "Dana likes chess.",
        ),
        (
            "Me gusta el té, el café y el ajedrez.",
            "Ya no me gusta el té ni el café.",
            "A Dana le gusta ajedrez.",
        ),
    ],
)
def test_8_a_list_tells_the_values_that_hold(
    tmp_path: Path, told: str, end: str, rest: str
) -> None:
    found = tell(tmp_path, (told, end), NOW).search(user_id=USER).results
    (listed,) = [one for one in found if one.conversation_id == "c-0"]
    assert (listed.content, listed.current) == (rest, True)


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        (("I'm vegan.", "I'm lactose intolerant."), ["lactose", "vegan"]),
        (("I'm coeliac.", "I'm vegan."), ["gluten", "vegan"]),
        (("I'm vegan and lactose intolerant.",), ["lactose", "vegan"]),
        (
            ("Soy vegana.", "Soy intolerante a la lactosa."),
            ["lactosa", "vegana"],
        ),
        (("Soy celíaca.", "Soy vegana."), ["gluten", "vegana"]),
        (
            ("Soy vegana e intolerante a la lactosa.",),
            ["lactosa", "vegana"],
        ),
    ],
)
def test_3_an_intolerance_and_a_diet_stand_beside_each_other(
    tmp_path: Path, texts: tuple[str, ...], held: list[str]
) -> None:
    assert list_values(tmp_path, texts) == held
