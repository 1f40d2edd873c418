"""Ends of habits, pets and expectations that name no beginning (invariant 11)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import list_conversations
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
OTHERS = (
    "I'm allergic to peanuts.",
    "My dog is called Rex, he is a beagle.",
    "My dentist is Dr. Vega on Calle Mayor.",
    "I had lunch with Marta at Vapiano yesterday.",
    "I watched Dune on Sunday.",
    "Nora starts school in September.",
)
ENDED = [
    ("I drink coffee every morning.", "I switched to tea.", "What do I drink in the morning?"),
    ("I use an Android phone.", "I switched to an iPhone.", "What phone do I have?"),
    ("We have a cat called Miso.", "Miso passed away last night.", "How is Miso?"),
    ("I'm pregnant, due in October.", "The baby is here!", "Am I pregnant?"),
    ("Tomo café por las mañanas.", "Me he pasado al té.", "¿Qué tomo por la mañana?"),
    ("Uso un móvil Android.", "Me he cambiado a un iPhone.", "¿Qué móvil tengo, Android o iPhone?"),
    ("Tenemos un gato que se llama Miso.", "Miso murió anoche.", "¿Cómo está Miso?"),
    ("Estoy embarazada.", "¡Ya ha nacido el bebé!", "¿Estoy embarazada?"),
]  # fmt: skip


def build(path: Path, texts: tuple[str, ...], *, together: bool) -> Memory:
    """Return a memory of statements, told in one call or each in its own."""
    memory = Memory.open(path, workspace="w", agent="a", now=lambda: NOW)
    told = list_conversations(texts)
    if together:
        memory.ingest(told)
    else:
        for one in told:
            memory.ingest(one)
    return memory


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(("before", "end", "question"), ENDED)
def test_what_ended_stands_behind_and_is_marked_invariant_11(
    tmp_path: Path, before: str, end: str, question: str, together: bool
) -> None:
    texts = (*OTHERS, before, end)
    memory = build(tmp_path, texts, together=together)
    results = memory.search(question, user_id="u-1").results
    first = results[0]
    assert first.current
    assert end.split()[-1] in first.content
    word = before.rstrip(".").split()[-1]
    for one in results:
        if word in one.content and end not in one.content:
            assert not one.current, one.content
    block = memory.context(question, user_id="u-1").text
    for line in block.splitlines():
        if before.rstrip(".") in line:
            assert "no longer" in line or "held until" in line


@pytest.mark.parametrize("end", ["Rosa passed away.", "The baby is here!"])
def test_an_end_of_what_memory_does_not_know_writes_no_triple(
    tmp_path: Path, end: str
) -> None:
    memory = build(tmp_path, (*OTHERS, end), together=False)
    rows = memory.graph.query_graph("select label, target_id from facts")
    labels = [(row["label"], row["target_id"]) for row in rows]
    assert ("has_pet", "rosa") not in labels
    assert not [one for one in labels if one[0] == "expecting"]
    dog = memory.search("What is my dog called?", user_id="u-1").results[0]
    assert "Rex" in dog.content
    assert dog.current


def test_a_switch_leaves_other_habits_as_they_are(tmp_path: Path) -> None:
    told = ("I use Firefox.", "I use an Android phone.", "I switched to tea.")
    memory = build(tmp_path, told, together=True)
    question = "Do I use Firefox?"
    browser = memory.search(question, user_id="u-1").results[0]
    assert "Firefox" in browser.content
    assert browser.current


SEVERAL = [
    (
        "I live in Dublin with my partner Aoife. My dog is called Biscuit.",
        ("Aoife and I broke up.", "I moved to Cork.", "Biscuit died, we have a new puppy called Mango."),
        ("Where do I live?", "Where did I live before?", "What is my dog's name?"),
    ),
    (
        "I work at Globex and we have a cat called Miso.",
        ("I quit Globex.", "Miso passed away last night."),
        ("Where do I work?", "Do we have a cat?"),
    ),
    (
        "Vivo en Cádiz con mi pareja Inés. Mi perro se llama Toby.",
        ("Inés y yo hemos roto.", "Me he mudado a Jaén.", "Mi perro Toby murió."),
        ("¿Dónde vivo?", "¿Dónde vivía antes?", "¿Cómo se llama mi perro?"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "ends", "questions"), SEVERAL)
def test_what_ended_part_by_part_is_marked_whichever_part_is_asked_for(
    tmp_path: Path,
    before: str,
    ends: tuple[str, ...],
    questions: tuple[str, ...],
) -> None:
    memory = build(tmp_path, (*OTHERS, before, *ends), together=True)
    for question in questions:
        found = memory.search(question, user_id="u-1", max_results=20).results
        standing = [one.current for one in found if before in one.content]
        assert standing == [False], question


@pytest.mark.parametrize(
    ("before", "after", "is_ended"),
    [
        ("My boyfriend is called Tom.", "Me and Tom broke up.", True),
        ("My boyfriend is called Tom.", "Tom dumped me.", True),
        ("My boyfriend is called Tom.", "Tom is my ex now.", True),
        ("My boyfriend is called Tom.", "I'm not with Tom any more.", True),
        ("I work at Globex.", "I'm no longer with Globex.", True),
        ("Mi novia se llama Marta.", "Ya no estoy con Marta.", True),
        ("My boyfriend is called Tom.", "I'm not with Tom today.", False),
        ("I work at Globex.", "I'm no longer with Tom.", False),
    ],
)
def test_who_is_no_longer_with_another_ends_what_is_known_of_both(
    tmp_path: Path, before: str, after: str, is_ended: bool
) -> None:
    memory = Memory.open(tmp_path, workspace="w", agent="a")
    memory.remember(before, user_id="u-1")
    memory.remember(after, user_id="u-1")
    assert bool(memory.graph.entity("u-1")["facts"]) is not is_ended
