"""Questions for all that memory knows of a person, and names that are everyday words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
ONE_ANA = (
    "Ana Torres is my neighbour, she plays the violin.",
    "Ana is allergic to cats.",
    "I went to the cinema with Pedro.",
)
TWO_ANAS = (
    *ONE_ANA,
    "Ana Ruiz is my dentist, her clinic is in Calle Luna.",
    "Pedro has a new bike.",
)


@pytest.mark.parametrize(
    "question",
    [
        "What do we know about Ana?",
        "Tell me everything you know about Ana.",
        "what do you know about ana?",
        "¿Qué sabemos de Ana?",
        "Cuéntame todo lo que sabes sobre Ana",
        "Háblame de Ana.",
    ],
)
@pytest.mark.parametrize("texts", [ONE_ANA, TWO_ANAS])
def test_11_all_about_a_person_tells_what_names_that_person(
    tmp_path: Path, texts: tuple[str, ...], question: str
) -> None:
    memory = tell(tmp_path, texts, NOW)
    answer = memory.search(question, user_id="u-1")
    told = [text for text in texts if "Ana" in text]
    assert len(answer.results) >= len(told)
    assert all("Ana" in result.content for result in answer.results)
    assert all(result.current for result in answer.results)
    is_clear = texts is ONE_ANA
    assert ("Ana Ruiz, Ana Torres" in str(answer.hint)) is not is_clear
    block = memory.context(question, user_id="u-1").text
    assert "cats" in block
    assert "Pedro" not in block
    assert "no longer" not in block


def test_11_all_about_one_of_two_is_about_that_one(tmp_path: Path) -> None:
    memory = tell(tmp_path, TWO_ANAS, NOW)
    answer = memory.search("What do we know about Ana Ruiz?", user_id="u-1")
    assert answer.results
    assert all("Ana Ruiz" in result.content for result in answer.results)
    assert answer.hint is None


def test_11_all_about_a_person_tells_what_was_corrected_last(
    tmp_path: Path,
) -> None:
    memory = tell(tmp_path, ["Ana lives in Oslo.", "Ana likes opera."], NOW)
    oslo = memory.search("Where does Ana live?", user_id="u-1").results[0]
    memory.correct(oslo.id, "Ana lives in Bergen.")
    found = memory.search("What do we know about Ana?", user_id="u-1").results
    assert not any("Oslo" in result.content for result in found)
    assert any("Bergen" in result.content for result in found)


@pytest.mark.parametrize(
    "question",
    [
        "What do we know about Ana's allergies?",
        "What do we know about the violin?",
        "Tell me about it",
        "What do we know about Zoe?",
    ],
)
def test_11_a_question_about_no_known_name_is_searched_as_before(
    tmp_path: Path, question: str
) -> None:
    memory = tell(tmp_path, TWO_ANAS, NOW)
    answer = memory.search(question, user_id="u-1")
    assert answer.results or answer.hint


@pytest.mark.parametrize(
    "question", ["what do we know?", "¿Qué sabemos?", "what's new?"]
)
def test_11_a_question_without_content_browses_what_its_filter_passes(
    tmp_path: Path, question: str
) -> None:
    told = [
        "My colleague Bob plays chess.",
        "I had lunch with Bob at Vapiano.",
        "I sold the car.",
    ]
    memory = tell(tmp_path, told, NOW)
    found = memory.search(question, about="Bob", user_id="u-1").results
    words = "\n".join(result.content for result in found)
    assert "Vapiano" in words
    assert "colleague" in words
    assert "car" not in words
    again = memory.search(question, topics=["chess"], user_id="u-1").results
    assert [result for result in again if "chess" in result.content]


COLLEAGUES = ("Mia", "Will", "May", "Sara", "Celia", "Bill", "Lia", "Max")


def tell_colleagues(path: Path) -> Memory:
    told = [
        f"My colleague {name} comes from Oslo and plays chess."
        for name in COLLEAGUES
    ]
    return tell(path, [*told, "I will call the bank.", "La casa es mia."], NOW)


@pytest.mark.parametrize("name", ["Mia", "Will"])
@pytest.mark.parametrize(
    "question", ["{}", "Where does {} come from?", "What does {} play?"]
)
def test_11_a_name_that_is_an_everyday_word_finds_its_bearer(
    tmp_path: Path, name: str, question: str
) -> None:
    memory = tell_colleagues(tmp_path)
    found = memory.search(question.format(name), user_id="u-1").results
    assert name in found[0].content


@pytest.mark.parametrize("name", ["Mia", "Will"])
def test_11_about_a_name_that_is_an_everyday_word_has_no_other_text(
    tmp_path: Path, name: str
) -> None:
    memory = tell_colleagues(tmp_path)
    for text in (None, "Where from?"):
        found = memory.search(text, about=name, user_id="u-1").results
        assert found
        assert all(name in result.content for result in found)


RELATIVES = (
    "My sister Laura lives in Bergen.",
    "My boss Karin lives in Malmö.",
    "My mum lives in Lund.",
    "My brother Ole lives in Turku.",
    "My friend Tom lives in Ghent.",
    "I moved to Oslo.",
)
PARIENTES = (
    "Me mudé a Oslo.",
    "Mi hermana Laura vive en Bergen.",
    "Mi jefa Karin vive en Malmö.",
    "Mi mamá vive en Lund.",
    "Mi hermano Ole vive en Turku.",
    "Mi colega Tom vive en Gante.",
)


@pytest.mark.parametrize(
    ("texts", "question", "city"),
    [
        (RELATIVES, "Where does my sister live?", "Bergen"),
        (RELATIVES, "Where does Laura live?", "Bergen"),
        (RELATIVES, "Where does my boss live?", "Malmö"),
        (RELATIVES, "Where does my mother live?", "Lund"),
        (RELATIVES, "Where does my brother live?", "Turku"),
        (RELATIVES, "Where does my friend Tom live?", "Ghent"),
        (RELATIVES, "Where do I live?", "Oslo"),
        (PARIENTES, "¿Dónde vive mi hermana?", "Bergen"),
        (PARIENTES, "¿Dónde vive mi jefe?", "Malmö"),
        (PARIENTES, "¿Dónde vive mi madre?", "Lund"),
        (PARIENTES, "¿Dónde vive mi hermano?", "Turku"),
        (PARIENTES, "¿Dónde vive mi colega Tom?", "Gante"),
        (PARIENTES, "¿Dónde vivo?", "Oslo"),
    ],
)
def test_11_a_relative_asked_about_comes_before_the_speaker(
    tmp_path: Path, texts: tuple[str, ...], question: str, city: str
) -> None:
    memory = tell(tmp_path, texts, NOW)
    first = memory.search(question, user_id="u-1").results[0]
    assert city in first.content
    assert first.current
    assert city in memory.context(question, user_id="u-1").text


def test_11_a_filter_that_nothing_passes_names_itself(tmp_path: Path) -> None:
    memory = tell(tmp_path, ONE_ANA, NOW)
    for named in ({"about": "Zoe"}, {"people": ["Zoe"]}, {"topics": ["Zoe"]}):
        answer = memory.search("What do we know?", **named)
        assert not answer.results
        assert "'Zoe'" in str(answer.hint)
    empty = memory.search("What?", about="Zoe", user_id="u-9")
    assert "'Zoe'" in str(empty.hint)


def test_11_about_a_name_that_several_bear_says_so(tmp_path: Path) -> None:
    texts = [*TWO_ANAS, "My cousin Ana is a pilot."]
    memory = tell(tmp_path, texts, NOW)
    answer = memory.search("What do we know?", about="Ana", user_id="u-1")
    assert answer.results
    assert "Ana Ruiz, Ana Torres" in str(answer.hint)
    clear = memory.search("What do we know?", about="Ana Ruiz", user_id="u-1")
    assert clear.results
    assert clear.hint is None


@pytest.mark.parametrize(
    ("of_another", "own", "question"),
    [
        ("Ana Ruiz moved to Rotterdam.", "I moved to Vienna.", "Where does Ana live?"),
        ("Ana Ruiz moved to Rotterdam.", "I'll move to Vienna next month.", "Where does Ana live?"),
        ("Tom Berg works at Globex.", "I started at Initech.", "Where does Tom work?"),
        ("Luis Vega vive en Vigo.", "Me he mudado a Cádiz.", "¿Dónde vive Luis?"),
    ],
)  # fmt: skip
def test_a_change_of_ones_own_leaves_a_person_of_another_name(
    tmp_path: Path, of_another: str, own: str, question: str
) -> None:
    memory = tell(tmp_path, (of_another, own), NOW)
    first = memory.search(question, user_id="u-1").results[0]
    assert of_another in first.content
    assert first.current
    assert "no longer" not in memory.context(question, user_id="u-1").text
    assert memory.review(days=1).statements == ()
