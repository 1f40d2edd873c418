"""A context has the line of a summary only for what the question asks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 7, 25, 9, tzinfo=UTC)
USER = "u-1"
CLUB = (
    ("2026-06-01", "I play padel on Tuesdays with Ana."),
    ("2026-06-02", "I bought a new racket, a Babolat."),
    ("2026-06-09", "My locker at the gym is number 114."),
    ("2026-06-15", "I work at Globex as a nurse."),
)
CASA = (
    ("2026-06-01", "Juego al pádel los martes con Ana."),
    ("2026-06-02", "He comprado una raqueta nueva, una Babolat."),
    ("2026-06-09", "Mi taquilla del gimnasio es la 114."),
    ("2026-06-15", "Trabajo en Endesa como enfermera."),
)


def tell(path: Path, texts: Iterable[tuple[str, str]]) -> Memory:
    """Return a memory of statements by day, with their summaries.

    Those of one day are one conversation.
    """
    memory = Memory.open(path, now=NOW)
    days: dict[str, list[dict[str, str]]] = {}
    for day, text in texts:
        message = {
            "role": "user",
            "content": text,
            "timestamp": f"{day}T09:00:00Z",
        }
        days.setdefault(day, []).append(message)
    for day, messages in days.items():
        memory.ingest(
            {
                "conversationId": f"c-{day}",
                "userId": USER,
                "messages": messages,
            }
        )
    memory.summarize()
    return memory


@pytest.mark.parametrize(
    ("texts", "question", "value"),
    [
        (CLUB, "Which locker is mine?", "114"),
        (CLUB, "What racket do I have?", "Babolat"),
        (CASA, "¿Cuál es mi taquilla?", "114"),
        (CASA, "¿Qué raqueta tengo?", "Babolat"),
    ],
)
def test_an_answered_question_has_no_line_of_the_summarys_rest(
    tmp_path: Path,
    texts: tuple[tuple[str, str], ...],
    question: str,
    value: str,
) -> None:
    memory = tell(tmp_path, texts)
    lines = memory.context(question, user_id=USER).text.splitlines()
    assert len([line for line in lines if value in line]) == 1
    assert not [line for line in lines if " summary-" in line]


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (CLUB, "What happened in June 2026?"),
        (CASA, "¿Qué pasó en junio de 2026?"),
    ],
)
def test_a_question_for_a_time_has_all_that_its_summary_tells(
    tmp_path: Path, texts: tuple[tuple[str, str], ...], question: str
) -> None:
    memory = tell(tmp_path, texts)
    block = memory.context(question, user_id=USER).text
    for value in ("Ana", "Babolat", "114"):
        assert value in block


def test_the_rest_of_a_conversation_on_the_question_stays(
    tmp_path: Path,
) -> None:
    texts = (
        *CLUB,
        ("2026-06-20", "The boiler in my flat in Leeds broke down."),
        ("2026-06-20", "It was the pump, he replaced it on Thursday."),
    )
    memory = tell(tmp_path, texts)
    question = "What was wrong with the boiler in Leeds?"
    block = memory.context(question, user_id=USER).text
    assert "pump" in block
    assert "Babolat" not in block


@pytest.mark.parametrize(
    "texts",
    [
        (
            ("2026-05-04", "I'm allergic to shellfish."),
            ("2026-05-04", "My sister Vera lives in Rotterdam."),
            ("2026-07-13", "Vera moved to Utrecht."),
        ),
        (
            ("2026-05-04", "I'm allergic to shellfish."),
            ("2026-05-04", "The rent is 950 euros a month."),
            ("2026-07-13", "The rent is 990 euros now."),
        ),
    ],
)
def test_3_what_a_summary_says_beside_the_question_is_not_outdated(
    tmp_path: Path, texts: tuple[tuple[str, str], ...]
) -> None:
    memory = tell(tmp_path, texts)
    block = memory.context("What am I allergic to?", user_id=USER).text
    assert "shellfish" in block
    _, outdated = texts[1]
    for line in block.splitlines():
        assert outdated not in line or line.endswith("(likely no longer)")


def test_7_what_is_over_stands_once_beside_the_summaries_that_repeat_it(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    days = (
        "I live in Lugano with Rui.",
        "The plumber comes on 12 March at 9:00.",
        "I live in Lugano with Rui.",
        "I'm allergic to kiwi.",
        "As I said, I live in Lugano.",
        "We moved to Como last week.",
    )
    for number, text in enumerate(days, start=2):
        at = {"timestamp": f"2026-03-{number:02}T09:00:00Z"}
        said = {"role": "user", "name": "Ana", "content": text}
        answer = {"role": "assistant", "content": f"Understood: {text}"}
        memory.ingest(
            {
                "conversationId": f"c-{number}",
                "userId": USER,
                "messages": [said | at, answer | at],
            }
        )
    memory.summarize()
    block = memory.context("Where do I live?", user_id=USER).text
    # What the move surely ended stands in the answer to a question for bygone times alone.
    assert "Lugano" not in block
    past = memory.context("Where did I live before?", user_id=USER).text
    told = [one for one in past.splitlines() if "Lugano" in one]
    assert told
    assert not [one for one in told if one.count("Lugano") > 1]
    words = [one.split("] ", 1)[1] for one in told]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("text", "question", "is_folded"),
    [
        ("Me he mudado a Gijón.", "¿Dónde vivo?", True),
        ("Vivo en Gijón.", "¿Dónde vivo?", True),
        ("I moved to Gijón.", "Where do I live?", True),
        (
            "Me he mudado a Gijón y comparto piso con Rui.",
            "¿Dónde vivo?",
            False,
        ),
    ],
)
def test_7_what_the_profile_says_has_no_other_line_in_any_language(
    tmp_path: Path, text: str, question: str, is_folded: bool
) -> None:
    memory = tell(tmp_path, [("2026-06-01", text)])
    block = memory.context(question, user_id=USER).text
    told = [one for one in block.splitlines() if "Gijón" in one]
    assert "location: Gijón" in told[0]
    assert (len(told) == 1) is is_folded
