"""Speakers who tell of themselves by name, in what `remember` and `correct` were given."""

import pytest

from varve.domain.rules.own_name import (
    english_first_person,
    spanish_first_person,
)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Ana lives in Porto", "I live in Porto"),
        ("Ana Ruiz is allergic to walnuts", "I am allergic to walnuts"),
        ("Ana's favourite color is red", "my favourite color is red"),
        ("Ana no longer works at Globex", "I no longer work at Globex"),
        ("Ana doesn't live in Lisbon", "I don't live in Lisbon"),
        ("Ana moved to Porto", "I moved to Porto"),
        ("Actually, Ana now studies here", "Actually, I now study here"),
        ("Ana's allergic to nuts", "I am allergic to nuts"),
        ("The user has a dog", "I have a dog"),
    ],
)
def test_english_words_by_ones_own_name_are_in_the_first_person(
    text: str, own: str
) -> None:
    assert english_first_person(text, "Ana Ruiz") == own


@pytest.mark.parametrize(
    "text",
    [
        "Ana Gomez lives in Oslo",
        "Ana and Tom live in Oslo",
        "Tom lives with Ana in Porto",
        "Anabel lives in Porto",
        "The user guide is long",
    ],
)
def test_english_words_about_others_stay(text: str) -> None:
    assert english_first_person(text, "Ana Ruiz") == text


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Pilar vive en Bilbao", "vivo en Bilbao"),
        ("Pilar es alérgica a las nueces", "soy alérgica a las nueces"),
        ("A Pilar no le gusta el té", "no me gusta el té"),
        ("El teléfono de Pilar es 612345678", "mi teléfono es 612345678"),
        ("Pilar se ha mudado a Bilbao", "me he mudado a Bilbao"),
        ("Pilar ya no trabaja en Endesa", "ya no trabajo en Endesa"),
        ("Al usuario le gusta el té", "me gusta el té"),
    ],
)
def test_spanish_words_by_ones_own_name_are_in_the_first_person(
    text: str, own: str
) -> None:
    assert spanish_first_person(text, "Pilar Sanz") == own


@pytest.mark.parametrize(
    "text",
    [
        "Pilar García vive en Bilbao",
        "Pilar y Juan viven en Bilbao",
        "Juan vive con Pilar",
    ],
)
def test_spanish_words_about_others_stay(text: str) -> None:
    assert spanish_first_person(text, "Pilar Sanz") == text
