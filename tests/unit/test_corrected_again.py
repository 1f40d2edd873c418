"""A value that is set again by hand is the last one in every face (invariant 11)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

USER = "u-1"


def open_at(path: Path, month: int) -> Memory:
    """Return the memory at the beginning of a month of 2026."""
    return Memory.open(
        path / "memory", now=datetime(2026, month, 1, 10, tzinfo=UTC)
    )


def set_profile(key: str) -> Callable[[Memory, str], None]:
    return lambda memory, value: memory.set_profile(key, value, user_id=USER)


def update_graph(memory: Memory, value: str) -> None:
    with memory.graph as graph:
        graph.update_facts(
            [{"source_id": USER, "label": "lives_in", "target_id": value}]
        )


@pytest.mark.parametrize(
    ("told", "change", "values", "question"),
    [
        (
            "I work at Acme.",
            set_profile("employer"),
            ("Bosch", "Siemens"),
            "Where do I work?",
        ),
        (
            "Vivo en Sevilla.",
            set_profile("location"),
            ("Cádiz", "Huelva"),
            "¿Dónde vivo?",
        ),
        (
            "My name is Nora.",
            set_profile("name"),
            ("Norah", "Nora-Lee"),
            "What is my name?",
        ),
        (
            "I live in Lisbon.",
            update_graph,
            ("Porto", "Braga"),
            "Where do I live?",
        ),
    ],
)
def test_11_the_second_value_set_by_hand_holds_everywhere(
    tmp_path: Path,
    told: str,
    change: Callable[[Memory, str], None],
    values: tuple[str, str],
    question: str,
) -> None:
    open_at(tmp_path, 1).remember(told, user_id=USER)
    for month, value in enumerate(values, start=2):
        change(open_at(tmp_path, month), value)
    first, last = values
    memory = open_at(tmp_path, 5)
    results = memory.search(question, user_id=USER).results
    assert last in results[0].content
    assert not any(first in one.content for one in results if one.current)
    context = memory.context(question, user_id=USER).text
    assert last in context
    assert first not in context
    held = memory.sql("select object from triples where current")
    assert last.casefold() in {one["object"] for one in held}
    assert first.casefold() not in {one["object"] for one in held}


def test_7_every_telling_of_a_corrected_value_is_corrected(
    tmp_path: Path,
) -> None:
    memory = open_at(tmp_path, 1)
    memory.remember("I live in Lisbon and I work at Acme.", user_id=USER)
    open_at(tmp_path, 2).remember("I still live in Lisbon.", user_id=USER)
    memory = open_at(tmp_path, 3)
    memory.summarize()
    memory.set_profile("location", "Porto", user_id=USER)
    memory = open_at(tmp_path, 4)
    memory.summarize()
    assert memory.review(days=1).statements == ()
    results = memory.search("Where do I live?", user_id=USER).results
    assert [one.content for one in results] == [f"{USER}: I live in Porto."]
    assert (
        "Lisbon" not in memory.context("Where do I live?", user_id=USER).text
    )


def test_7_a_summary_of_a_repetition_is_folded_into_its_statement(
    tmp_path: Path,
) -> None:
    open_at(tmp_path, 1).remember("I live in Lisbon.", user_id=USER)
    open_at(tmp_path, 2).remember("I still live in Lisbon.", user_id=USER)
    memory = open_at(tmp_path, 5)
    memory.summarize()
    (result,) = memory.search("Where do I live?", user_id=USER).results
    assert result.memory_type != "summary"
    assert any(id_.startswith("summary-") for id_ in result.also_in)


@pytest.mark.parametrize(
    ("told", "key", "value", "question", "predicate"),
    [
        ("I'm vegan.", "diet", "vegetarian", "What is my diet?", "diet"),
        ("Soy vegana.", "diet", "vegetariana", "¿Cuál es mi dieta?", "diet"),
        (
            "I live in Lisbon.",
            "location",
            "Porto",
            "Where do I live?",
            "lives_in",
        ),
    ],
)
def test_7_a_value_set_by_hand_has_a_triple_and_one_line(
    tmp_path: Path,
    told: str,
    key: str,
    value: str,
    question: str,
    predicate: str,
) -> None:
    open_at(tmp_path, 1).remember(told, user_id=USER)
    memory = open_at(tmp_path, 2)
    memory.set_profile(key, value, user_id=USER)
    held = memory.sql("select predicate, object from triples where current")
    assert held == [{"predicate": predicate, "object": value.casefold()}]
    block = memory.context(question, user_id=USER).text
    assert block.count(value) == 1
