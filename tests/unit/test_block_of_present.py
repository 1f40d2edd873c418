"""A block about the present has what holds, and not what was surely superseded (2, 7, 10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.usecases.context.bearing import MAX_GUESSED

CHATTER = (
    "finished the puzzle, 2000 pieces!",
    "my back hurts from the garden work",
    "got stuck in traffic for two hours",
    "what's a good name for a sourdough starter",
)
CHANGES = [
    (
        "My daycare charges $1,450 a month per kid, is that a lot for Boise?",
        "Letter from daycare today: starting this month it's $1,610 per kid.",
        "How much does daycare cost me per kid?",
        "How much did daycare cost me before?",
        ("$1,450", "$1,610"),
    ),
    (
        "la cuota del gimnasio son 30 euros al mes",
        "han subido la cuota del gimnasio, desde este mes son 36 euros",
        "¿Cuánto pago de gimnasio?",
        "¿Cuánto pagaba antes de gimnasio?",
        ("30 euros", "36 euros"),
    ),
]


def tell_all(root: Path, *texts: str) -> Memory:
    """Return a memory of one statement a day, and chatter between them."""
    memory = Memory.open(root / "memory", now=NOW)
    for number, text in enumerate(texts):
        memory.ingest(talk(10 * number, text))
        memory.ingest(talk(10 * number + 3, CHATTER[number]))
    return memory


def list_lines(memory: Memory, prompt: str, user: str = "u-1") -> list[str]:
    """Return the lines of the entries of a prompt's block."""
    text = memory.context(prompt, user_id=user).text
    return [line for line in text.splitlines() if line.startswith("- [")]


@pytest.mark.parametrize(
    ("before", "after", "present", "past", "values"), CHANGES
)
def test_invariant_11_a_block_leaves_out_what_was_surely_superseded(
    tmp_path: Path,
    before: str,
    after: str,
    present: str,
    past: str,
    values: tuple[str, str],
) -> None:
    memory = tell_all(tmp_path, before, after)
    stale, right = values
    block = "\n".join(list_lines(memory, present))
    assert right in block
    assert stale not in block
    assert stale in "\n".join(list_lines(memory, past))


def test_invariant_11_a_block_marks_what_may_no_longer_hold(
    tmp_path: Path,
) -> None:
    memory = tell_all(
        tmp_path,
        "I do claims adjusting for Allstate, mostly hail damage, so my"
        " spreadsheets are huge. how do I freeze two rows in excel",
        "first week at Progressive done, badge photo is awful. Can you help"
        " me write a short intro for the team channel?",
    )
    lines = list_lines(memory, "who's my employer?")
    (stale,) = (line for line in lines if "Allstate" in line)
    (right,) = (line for line in lines if "Progressive" in line)
    assert stale.endswith("(may no longer hold)")
    assert "no longer" not in right


@pytest.mark.parametrize(
    ("told", "prompt", "value"),
    [
        (
            "I've signed up for the half marathon in October",
            "Which race will Desmond run?",
            "half marathon",
        ),
        (
            "Me he apuntado a la media maratón de octubre",
            "¿Qué carrera va a correr Desmond?",
            "media maratón",
        ),
    ],
)
def test_10_a_prompt_that_names_the_user_gets_no_chatter_for_the_name(
    tmp_path: Path, told: str, prompt: str, value: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for number, text in enumerate((told, *CHATTER)):
        conversation = talk(number, text)
        for message in conversation["messages"]:
            message["name"] = "Desmond"
        memory.ingest(conversation)
    lines = list_lines(memory, prompt)
    assert any(value in line for line in lines)
    assert len(lines) <= MAX_GUESSED


@pytest.mark.parametrize(
    ("before", "after", "prompt", "stale"),
    [
        ("I live in Leeds.", "I moved to Porto.", "Where do I live?", "Leeds"),
        (
            "My phone number is 0151 555 1234.",
            "My new phone number is 0170 222 3344.",
            "What is my phone number?",
            "0151",
        ),
        (
            "Vivo en Vigo.",
            "Me mudé a Oporto.",
            "¿Dónde vivo?",
            "Vigo",
        ),
    ],
)
def test_invariant_11_a_block_leaves_out_what_a_fact_superseded(
    tmp_path: Path, before: str, after: str, prompt: str, stale: str
) -> None:
    # Facts tell both statements, so a fact's place has the turn that supersedes the other.
    memory = tell_all(tmp_path, before, after)
    first, *_ = memory.search(prompt, user_id="u-1").results
    assert first.memory_type == "fact"
    assert stale not in "\n".join(list_lines(memory, prompt))
