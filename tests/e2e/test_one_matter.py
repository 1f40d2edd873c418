"""Among talk a change is told in any words, and ends no allergy (2, invariant 11).

A question that lacks its mark is one all the same (7, 10).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.updates import NOW, fill_store
from benchmarks.updates_cases import FITTED, Case, Line

CHANGED = [
    (
        "I take metformin for my sugar, it upsets my stomach. ginger tea?",
        "No more stomach trouble, the doctor put me on gliclazide in its place. One with breakfast",
        "Which tablet do I take for my sugar?",
    ),
    (
        "The choir needs 30 folders, where do I get them cheap?",
        "& Olive counted heads twice, it's 26 folders, the tenors share",
        "How many folders does the choir need?",
    ),
    (
        "my handle is @mossowl",
        "got hacked, new account: @owlmoss",
        "what is my handle?",
    ),
]
HARM = [
    (
        "I break out in a rash from latex, note that please",
        "Saw a specialist, the old plan got dropped. What really suits me is swimming, update that",
        "What am I allergic to?",
    ),
    (
        "I'm allergic to bee stings, what do I carry on a hike?",
        "we dropped the hike, it's the pool on Saturday now. what do I pack?",
        "What am I allergic to?",
    ),
    (
        "peanuts make my throat swell, what snacks are safe?",
        "I've gone off snacks, it's three proper meals from now on. meal plan?",
        "What food makes me ill?",
    ),
    (
        "soy alérgica al marisco, ¿qué pido en la marisquería?",
        "Al final nada de marisquería, me he pasado a la pizzería de abajo. ¿qué pido?",
        "¿A qué soy alérgica?",
    ),
]  # fmt: skip


def find_standing(
    root: Path, before: str, after: str, question: str
) -> dict[str, bool]:
    """Return which words found are current, where both are told among talk.

    After "& " the second ones go on in the conversation of the first ones.
    """
    later = after.removeprefix("& ")
    lines = [
        Line("-", before, before.split()[0], continues=False),
        Line("+", later, later.split()[0], continues=later != after),
    ]
    language = "es" if "¿" in question else "en"
    case = Case(1, "health", language, "", lines, question)
    memory, conversations = fill_store([case], root, FITTED)
    user = conversations[0].get("userId")
    answer = memory.search(question, user_id=user, now=NOW, max_results=5)
    return {
        one.content.split(": ", maxsplit=1)[-1]: one.current
        for one in answer.results
    }


@pytest.mark.parametrize(("before", "after", "question"), CHANGED)
def test_invariant_11_a_change_in_any_words_marks_what_it_ends(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    standing = find_standing(tmp_path, before, after, question)
    assert standing[before] is False
    assert standing[after.removeprefix("& ")]


@pytest.mark.parametrize(("before", "after", "question"), HARM)
def test_invariant_11_a_change_of_what_was_requested_ends_no_allergy(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    standing = find_standing(tmp_path, before, after, question)
    assert standing[before]


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (
            "latex gloves wreck my hands at work, which cream is best?",
            "patch results are back, gloves are innocent and its the chlorhexidine wash",
            "what am i allergic to",
        ),
        (
            "la moto la guardo en el garaje de la calle Luna, ¿pongo cadena?",
            "ya no cabe ahí, duerme en el patio de Marta, ¿la tapo?",
            "dónde guardo mi moto",
        ),
    ],
)
def test_10_a_question_without_its_mark_finds_its_answer(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    bare = find_standing(tmp_path / "1", before, after, question)
    marked = find_standing(tmp_path / "2", before, after, f"{question}?")
    assert bare == marked
    assert after in bare
