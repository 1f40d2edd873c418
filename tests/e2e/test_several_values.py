"""The end of one value of several leaves the others current (invariant 11)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


def list_standing(
    path: Path, texts: tuple[str, ...], question: str, value: str
) -> set[bool]:
    """Return whether what tells the value is current, as a search marks it."""
    found = tell(path, texts, NOW).search(question, user_id=USER).results
    return {one.current for one in found if value in one.content}


@pytest.mark.parametrize(
    ("told", "end", "question", "value"),
    [
        (
            "I speak German.",
            "I don't speak Dutch any more.",
            "What languages do I speak?",
            "German",
        ),
        (
            "Hablo alemán.",
            "Ya no hablo holandés.",
            "¿Qué idiomas hablo?",
            "alemán",
        ),
        (
            "My dog Rex is five.",
            "My cat Tom died.",
            "What pets do I have?",
            "Rex",
        ),
        (
            "I play the piano.",
            "I don't play the guitar any more.",
            "What instruments do I play?",
            "piano",
        ),
        (
            "Toco el piano.",
            "Ya no toco la guitarra.",
            "¿Qué instrumento toco?",
            "piano",
        ),
        (
            "I go running on Sundays.",
            "I quit tennis.",
            "What sports do I do?",
            "running",
        ),
        (
            "Me gusta la ópera.",
            "Ya no me gusta el jazz.",
            "¿Qué música me gusta?",
            "ópera",
        ),
    ],
)
def test_11_an_end_of_one_value_leaves_another_statement_of_the_kind(
    tmp_path: Path, told: str, end: str, question: str, value: str
) -> None:
    assert list_standing(tmp_path, (told, end), question, value) == {True}


@pytest.mark.parametrize(
    ("told", "end", "question", "value"),
    [
        (
            "I'm allergic to latex and kiwi.",
            "I'm not allergic to kiwi any more.",
            "What am I allergic to?",
            "latex",
        ),
        (
            "Soy alérgica al látex y al kiwi.",
            "Ya no soy alérgica al kiwi.",
            "¿A qué soy alérgica?",
            "látex",
        ),
        (
            "I speak German and Dutch.",
            "I no longer speak Dutch.",
            "What languages do I speak?",
            "German",
        ),
        (
            "I like hiking and chess.",
            "I've gone off chess.",
            "What do I like?",
            "hiking",
        ),
    ],
)
def test_11_an_end_of_one_value_leaves_the_others_of_its_statement(
    tmp_path: Path, told: str, end: str, question: str, value: str
) -> None:
    assert list_standing(tmp_path, (told, end), question, value) == {True}


@pytest.mark.parametrize(
    ("told", "end", "question", "value"),
    [
        (
            "I speak German.",
            "I don't speak German any more.",
            "What languages do I speak?",
            "I speak German",
        ),
        (
            "I speak German and Dutch.",
            "I don't speak any foreign language any more.",
            "What languages do I speak?",
            "and Dutch",
        ),
        (
            "I speak German and Dutch.",
            "I no longer speak Dutch.",
            "Do I speak Dutch?",
            "and Dutch",
        ),
        (
            "I'm allergic to latex and kiwi.",
            "I'm not allergic to kiwi any more.",
            "Am I allergic to kiwi?",
            "latex",
        ),
        (
            "I'm allergic to peanuts.",
            "I'm no longer allergic to anything.",
            "What am I allergic to?",
            "peanuts",
        ),
        (
            "I play tennis.",
            "I no longer play because of my knee.",
            "Do I play tennis?",
            "tennis",
        ),
        (
            "I have a dog, Rex.",
            "I don't have pets any more.",
            "What pets do I have?",
            "Rex",
        ),
        (
            "Toco el piano.",
            "Ya no toco el piano.",
            "¿Qué instrumento toco?",
            "Toco el",
        ),
    ],
)
def test_11_an_end_of_the_value_asked_for_or_of_all_marks_the_statement(
    tmp_path: Path, told: str, end: str, question: str, value: str
) -> None:
    assert list_standing(tmp_path, (told, end), question, value) == {False}


@pytest.mark.parametrize(
    ("told", "end", "question", "rest"),
    [
        (
            "I'm allergic to latex and kiwi.",
            "I'm not allergic to kiwi any more.",
            "What am I allergic to?",
            "Dana is allergic to latex.",
        ),
        (
            "Soy alérgica al látex y al kiwi.",
            "Ya no soy alérgica al kiwi.",
            "¿A qué soy alérgica?",
            "Dana tiene alergia a látex.",
        ),
        (
            "I'm allergic to latex and kiwi and I live in Oslo.",
            "I'm not allergic to kiwi any more.",
            "What am I allergic to?",
            "Dana: I am allergic to latex. I live in Oslo.",
        ),
        (
            "I like hiking, opera and chess.",
            "I've gone off chess.",
            "What do I like?",
            "Dana likes hiking. Dana likes opera.",
        ),
    ],
)
def test_8_what_holds_of_several_values_is_told_without_the_ended_one(
    tmp_path: Path, told: str, end: str, question: str, rest: str
) -> None:
    found = tell(tmp_path, (told, end), NOW).search(question, user_id=USER)
    assert rest in [one.content for one in found.results if one.current]


def test_8_a_part_that_tells_more_than_the_values_keeps_its_words(
    tmp_path: Path,
) -> None:
    told = "I'm allergic to latex and, since childhood, to kiwi."
    end = "I'm not allergic to kiwi any more."
    memory = tell(tmp_path, (told, end), NOW)
    found = memory.search("What am I allergic to?", user_id=USER).results
    assert any("childhood" in one.content for one in found)


def test_8_a_question_about_the_past_has_the_words_as_they_were(
    tmp_path: Path,
) -> None:
    told = "I'm allergic to latex and kiwi."
    end = "I'm not allergic to kiwi any more."
    memory = tell(tmp_path, (told, end), NOW)
    found = memory.search("What was I allergic to before?", user_id=USER)
    assert any("and kiwi" in one.content for one in found.results)
