"""Corrections by hand are stored as sentences, and not as data."""

from __future__ import annotations

import pytest

from varve.domain.statements.sentences import tell_attribute, tell_triple

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
