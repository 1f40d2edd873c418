"""A question for one's own state has its answer, though the two share no word (7, 10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import everyday_cases
from tests.support.statements import tell
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
CHATTER = (
    "finished the puzzle, 2000 pieces!",
    "got stuck in traffic for two hours",
    "three nil, I turned it off at half time",
)
TOLD = [
    (
        "We're on the eleventh floor and the lift is broken again",
        "swapped flats with Mrs Okpara, so we have the ground floor one",
        "Which storey are we on?",
        "ground floor",
    ),
    (
        "I use LibreOffice 7.4 at home, where do I find the style menu?",
        "The shop reinstalled everything, and under Help I see LibreOffice 24.2.",
        "What release of the office suite do I have?",
        "24.2",
    ),
]
BEFORE = [
    (
        "my desk is in accounts, third row",
        "they moved me over to logistics this week",
        "which department was I in?",
        "accounts",
    ),
    (
        "thinking it over we chose oak for the floor",
        "scrap the oak, we took bamboo in the end",
        "which wood did we choose first?",
        "oak",
    ),
]

PEOPLE = [
    ("I report to Karin.", "Who is my boss?"),
    ("I'm dating Ana.", "Who is my girlfriend?"),
    ("I got engaged to Priya.", "Who is my fiancée?"),
    ("I live with Kasia.", "Who is my flatmate?"),
    ("I have twins, Mia and Ben.", "Who are my children?"),
    ("Estoy saliendo con Sara.", "¿Quién es mi novia?"),
    ("Me he casado con Ana.", "¿Quién es mi mujer?"),
]

FEW = [
    ("I've a tortoise called Kevin", "What pets do I have?", "Kevin"),
    ("I'm on the till at Boots", "Where do I work?", "Boots"),
    ("Spurs till I die, sadly", "Which team do I support?", "Spurs"),
    ("Soy fontanero de toda la vida", "¿En qué trabajo?", "fontanero"),
]


def fill(root: Path, name: str) -> Memory:
    """Return the memory of everyday statements of this name."""
    (told,) = (one for one in everyday_cases.read("one") if one.name == name)
    return everyday_cases.fill(told, root)


@pytest.mark.parametrize(("before", "after", "question", "value"), TOLD)
def test_10_a_context_has_the_answer_that_shares_no_word(
    tmp_path: Path, before: str, after: str, question: str, value: str
) -> None:
    memory = tell(tmp_path, (*CHATTER, before, after), NOW)
    assert value in memory.context(question, user_id=USER).text


@pytest.mark.parametrize(
    ("name", "question", "value"),
    [
        ("estudiante_ximena", "¿Con quién vivo?", "doña Chelo"),
        ("retiree_walter", "How old am I?", "seventy-one"),
    ],
)
def test_10_a_context_has_what_may_answer_as_well_as_the_first(
    tmp_path: Path, name: str, question: str, value: str
) -> None:
    memory = fill(tmp_path, name)
    user = everyday_cases.USER
    assert (
        value not in memory.search(question, user_id=user).results[0].content
    )
    assert value in memory.context(question, user_id=user).text


@pytest.mark.parametrize(
    ("name", "question", "value"),
    [
        ("retiree_walter", "What does my grandson want to become?", "a vet"),
        ("parent_dana", "Who looks after the kids when I go out?", "Hannah"),
    ],
)
def test_10_a_context_has_the_best_five_of_an_own_question(
    tmp_path: Path, name: str, question: str, value: str
) -> None:
    memory = fill(tmp_path, name)
    user = everyday_cases.USER
    results = memory.search(question, user_id=user, max_results=5).results
    assert value not in results[0].content
    assert any(value in one.content for one in results)
    assert value in memory.context(question, user_id=user).text


@pytest.mark.parametrize("user", ["u-1", None])
def test_10_what_begins_with_the_users_name_is_guessed_too(
    tmp_path: Path, user: str | None
) -> None:
    (told,) = (
        one for one in everyday_cases.read("one") if one.name == "parent_dana"
    )
    memory = Memory.open(tmp_path, now=everyday_cases.NOW)
    for id_, text in told.statements.items():
        at = everyday_cases.BEGINNING + timedelta(days=told.days[id_])
        message = {"id": id_, "role": "user", "name": "Dana", "content": text}
        message["timestamp"] = at.isoformat()
        given = {"conversationId": f"c-{id_}", "messages": [message]}
        memory.ingest(given | ({"userId": user} if user else {}))
    memory.set_profile("name", "Dana", user_id=user or "default")
    question = "Who looks after the kids when I go out?"
    assert "Hannah" in memory.context(question, user_id=user).text


@pytest.mark.parametrize(("before", "after", "question", "value"), BEFORE)
def test_3_a_question_for_ones_own_past_has_an_answer_that_shares_no_word(
    tmp_path: Path, before: str, after: str, question: str, value: str
) -> None:
    memory = tell(tmp_path, (*CHATTER, before, after), NOW)
    results = memory.search(question, user_id=USER).results
    assert value in results[0].content


@pytest.mark.parametrize(("told", "question"), PEOPLE)
def test_10_a_question_for_ones_people_is_answered_by_its_topic(
    tmp_path: Path, told: str, question: str
) -> None:
    memory = tell(tmp_path, (told, "I like chess.", CHATTER[0]), NOW)
    (found,) = memory.search(question, user_id=USER).results
    name = told.rstrip(".").split()[-1]
    assert name in found.content
    assert name in memory.context(question, user_id=USER).text


@pytest.mark.parametrize(("told", "question", "value"), FEW)
def test_10_of_few_statements_any_may_answer_a_question_of_ones_own(
    tmp_path: Path, told: str, question: str, value: str
) -> None:
    memory = tell(tmp_path, (told, CHATTER[0]), NOW)
    found = memory.search(question, user_id=USER)
    assert any(value in one.content for one in found.results)
    assert value in memory.context(question, user_id=USER).text


def test_13_a_guess_has_a_hint(tmp_path: Path) -> None:
    memory = tell(tmp_path, ("I've a tortoise called Kevin",), NOW)
    guessed = memory.search("What pets do I have?", user_id=USER)
    assert guessed.results
    assert "these may answer" in (guessed.hint or "")
    found = memory.search("What is my tortoise called?", user_id=USER)
    assert found.hint is None


@pytest.mark.parametrize(
    "question",
    ["Who is my husband?", "Who is my sister?", "¿Quién es mi novia?"],
)
def test_13_a_question_for_people_never_told_of_finds_nothing(
    tmp_path: Path, question: str
) -> None:
    memory = tell(tmp_path, ("I like tea.", "I like chess.", *CHATTER), NOW)
    assert memory.search(question, user_id=USER).results == []
    assert memory.context(question, user_id=USER).empty


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the capital of Mongolia?",
        "Convert 5 miles to kilometres",
        "Write a haiku about autumn leaves",
        "¿Cuál es la capital de Noruega?",
    ],
)
def test_13_a_prompt_about_nothing_in_memory_gets_no_guess(
    tmp_path: Path, prompt: str
) -> None:
    memory = tell(tmp_path, (*CHATTER, *TOLD[0][:2]), NOW)
    assert memory.context(prompt, user_id=USER).empty
