"""Corrections by hand are stored as sentences, and not as data."""

from __future__ import annotations

import pytest

from varve.domain.language.languages import (
    installed_language,
    installed_languages,
)
from varve.domain.language.tellings import find_language
from varve.domain.statements.texts.sentences import tell_attribute, tell_triple

ATTRIBUTES = [
    ("location", "Porto", "I live in Porto.", "I no longer live in Porto."),
    ("employer", "Acme", "I work at Acme.", "I no longer work at Acme."),
    ("role", "a nurse", "I work as a nurse.", "I no longer work as a nurse."),
    (
        "allergies",
        "latex",
        "I am allergic to latex.",
        "I am no longer allergic to latex.",
    ),
    ("languages", "Basque", "I speak Basque.", "I no longer speak Basque."),
    ("preferred_name", "Bo", "I go by Bo.", "I no longer go by Bo."),
    ("birthday", "4 May", "My birthday is 4 May.", None),
    ("time_zone", "Lisbon", "My time zone is Lisbon.", None),
    ("diet", "vegan", "My diet is vegan.", "My diet is no longer vegan."),
    (
        "cannot_eat",
        "pork",
        "I cannot eat pork.",
        "I can eat pork again.",
    ),
    ("pronouns", "she/her", "My pronouns are she/her.", None),
    ("hobbies", "chess", "My hobbies are chess.", None),
    ("status", "busy", "My status is busy.", None),
]
TRIPLES = [
    ("lives_in", "Porto", "lives in Porto.", "live in Porto."),
    ("likes", "jazz", "likes jazz.", "like jazz."),
    ("studies_at", "ETH", "studies at ETH.", "study at ETH."),
    ("watches", "football", "watches football.", "watch football."),
    ("has_dog", "Rex", "has dog Rex.", "have dog Rex."),
    ("allergic_to", "nuts", "is allergic to nuts.", "am allergic to nuts."),
    ("married_to", "Jo", "is married to Jo.", "am married to Jo."),
    ("is_friend_of", "Jo", "is friend of Jo.", "am friend of Jo."),
]


@pytest.mark.parametrize(("key", "value", "said", "ended"), ATTRIBUTES)
def test_an_attribute_is_told_as_its_owner_says_it(
    key: str, value: str, said: str, ended: str | None
) -> None:
    assert tell_attribute(key, value) == said
    if ended:
        assert tell_attribute(key, value, ends=True) == ended


@pytest.mark.parametrize(("label", "value", "other", "own"), TRIPLES)
def test_a_triple_is_told_with_its_subject(
    label: str, value: str, other: str, own: str
) -> None:
    assert tell_triple("Ana", label, value, "Dana") == f"Ana {other}"
    assert tell_triple("dana", label, value, "Dana") == f"I {own}"


@pytest.mark.parametrize(
    "label", ["birthday", "email", "address", "home_town"]
)
def test_what_a_subject_has_is_told_as_its_own(label: str) -> None:
    noun = label.replace("_", " ")
    assert tell_triple("Ana", label, "X", "Dana") == f"Ana's {noun} is X."
    assert tell_triple("Dana", label, "X", "Dana") == f"My {noun} is X."
    ended = tell_triple("Ana", label, "X", None, ends=True)
    assert ended == f"Ana's {noun} is no longer X."


def test_an_end_is_told_as_such() -> None:
    ended = tell_triple("Ana", "likes", "jazz", "Dana", ends=True)
    assert ended == "Ana no longer likes jazz."
    ended = tell_triple("Dana", "likes", "jazz", "Dana", ends=True)
    assert ended == "I no longer like jazz."


IN_SPANISH = [
    ("location", "Porto", "Vivo en Porto.", "Ya no vivo en Porto."),
    ("employer", "Acme", "Trabajo en Acme.", "Ya no trabajo en Acme."),
    (
        "allergies",
        "nueces",
        "Tengo alergia a nueces.",
        "Ya no tengo alergia a nueces.",
    ),
    (
        "birthday",
        "el 4 de mayo",
        "Mi cumpleaños es el 4 de mayo.",
        "Mi cumpleaños ya no es el 4 de mayo.",
    ),
    (
        "cannot_eat",
        "cerdo",
        "No puedo comer cerdo.",
        "Ya puedo comer cerdo.",
    ),
]


@pytest.mark.parametrize(("key", "value", "said", "ended"), IN_SPANISH)
def test_an_attribute_is_told_in_its_owners_language(
    key: str, value: str, said: str, ended: str
) -> None:
    spanish = installed_language("es")
    assert tell_attribute(key, value, language=spanish) == said
    assert tell_attribute(key, value, ends=True, language=spanish) == ended


def test_a_triple_is_told_in_its_speakers_language() -> None:
    spanish = installed_language("es")
    said = tell_triple("Ana", "lives_in", "Vigo", "Bo", language=spanish)
    assert said == "Ana vive en Vigo."
    own = tell_triple("Bo", "likes", "el jazz", "Bo", language=spanish)
    assert own == "Me gusta el jazz."
    ended = tell_triple(
        "Ana", "has_mother", "Eva", "Bo", ends=True, language=spanish
    )
    assert ended == "La madre de Ana ya no es Eva."


@pytest.mark.parametrize("code", ["es", "de"])
def test_a_predicate_without_a_sentence_is_told_in_english(code: str) -> None:
    language = installed_language(code)
    said = tell_triple("Bo", "watches", "tennis", "Bo", language=language)
    assert said == "I watch tennis."


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["I live in Madrid."], "en"),
        (["Vivo en Madrid y trabajo en Acme."], "es"),
        (["Vegano.", "No, pero me gusta el té."], "es"),
        (["Vivo en Vigo.", "I work at Acme and I like it."], "en"),
        ([""], "en"),
    ],
)
def test_a_persons_language_is_that_of_most_words(
    texts: list[str], code: str
) -> None:
    assert find_language(texts, installed_languages()).code == code
