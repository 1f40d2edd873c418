"""What was done once stays so: no like event supersedes it, and a correction does (2, 6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_block_of_present import list_lines
from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.domain.statements.pairs.events import (
    asks_bygone,
    asks_event,
    leaves_event,
)
from varve.domain.statements.texts.cues import read_cues

ALIKE = [
    (
        "I bought 8 books at the fair",
        "I bought 9 books at the fair",
        "How many books did I buy?",
    ),
    (
        "I ran 5 km this morning",
        "I ran 10 km this morning",
        "How far did I run?",
    ),
    ("Slept five hours", "Slept nine hours", "How long did I sleep?"),
    (
        "Paid 120 euros for the electricity in March",
        "Paid 95 euros for the electricity in April",
        "How much have I paid for electricity?",
    ),
    ("Hoy he corrido 5 km", "Hoy he corrido 8 km", "¿Cuánto he corrido?"),
    (
        "Compré un sofá en Ikea",
        "Compré una lámpara en Ikea",
        "¿Qué compré en Ikea?",
    ),
    ("Visité Roma", "Visité Oslo", "¿Qué ciudades visité?"),
]


def tell(root: Path, *texts: str) -> Memory:
    """Return a memory of one statement each ten days."""
    memory = Memory.open(root / "memory", now=NOW)
    for number, text in enumerate(texts):
        memory.ingest(talk(10 * number, text))
    return memory


def find_standings(memory: Memory, question: str) -> dict[str, bool]:
    """Return whether each statement found is current, by its words."""
    found = memory.search(question, user_id="u-1").results
    return {one.content.partition(": ")[2]: one.current for one in found}


@pytest.mark.parametrize(("earlier", "later", "question"), ALIKE)
def test_invariant_11_an_event_is_not_superseded_by_a_like_one(
    tmp_path: Path, earlier: str, later: str, question: str
) -> None:
    memory = tell(tmp_path, earlier, later, "I need a name for a cat")
    told = find_standings(memory, question)
    assert told[earlier]
    assert told[later]
    block = list_lines(memory, question)
    for text in (earlier, later):
        (line,) = [line for line in block if text in line]
        assert line.endswith(text)


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "I ran 7 km on Tuesday",
            "Sorry, I meant 9 km on Tuesday",
            "How far did I run on Tuesday?",
        ),
        (
            "I paid 54 euros for the vet",
            "Correction: I paid 45 euros for the vet",
            "How much did I pay for the vet?",
        ),
        (
            "Pagué 54 euros en el veterinario",
            "Me equivoqué, pagué 45 euros en el veterinario",
            "¿Cuánto pagué en el veterinario?",
        ),
        (
            "I bought a new car, a Kia",
            "I sold the Kia and bought a new car, a Tesla",
            "What car do I drive?",
        ),
    ],
)
def test_a_correction_or_a_question_for_the_present_supersedes_an_event(
    tmp_path: Path, earlier: str, later: str, question: str
) -> None:
    memory = tell(tmp_path, earlier, later, "I need a name for a cat")
    told = find_standings(memory, question)
    assert told[later]
    assert not told[earlier]


@pytest.mark.parametrize(
    "text",
    [
        "I bought a bike",
        "Ran 6 km before work",
        "I've just finished the report",
        "We went to the dentist",
        "Had a long lunch with Bo",
        "Compré una bici",
        "Ayer vi Dune",
        "Hemos cocinado ramen",
        "Fui al dentista",
    ],
)
def test_what_was_done_once_is_an_event(text: str) -> None:
    assert read_cues(text).has("happening")


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Porto",
        "I started at Globex",
        "I went vegan",
        "I'm tired",
        "I live in Ghent",
        "I lost my job",
        "I need a name for a cat",
        "Me mudé a Gijón",
        "He dejado de fumar",
        "Vivo en Oporto",
        "Como arroz los lunes",
    ],
)
def test_a_state_or_its_change_is_no_event(text: str) -> None:
    assert not read_cues(text).has("happening")


@pytest.mark.parametrize(
    "text",
    [
        "What did I buy?",
        "How much did we spend on food?",
        "Which books have I read?",
        "¿Qué compré?",
        "¿Qué películas he visto?",
    ],
)
def test_a_question_for_an_event_asks_for_no_bygone_state(text: str) -> None:
    assert asks_event(read_cues(text))
    assert not asks_bygone(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where did I live?",
        "What did I use to buy?",
        "Which gym did I want to go to?",
        "What did I always order?",
        "Where did I work?",
        "What did I buy before?",
        "How much did we pay at first?",
    ],
)
def test_a_question_for_a_bygone_state_still_asks_for_it(text: str) -> None:
    assert asks_bygone(text)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I bought a bike", "I sold the bike"),
        ("I bought 8 books", "Correction: I bought 9 books"),
        ("I live in Ghent", "I ran 5 km"),
    ],
)
def test_a_change_or_a_correction_repeats_no_event(
    earlier: str, later: str
) -> None:
    assert not leaves_event(read_cues(earlier), read_cues(later))
