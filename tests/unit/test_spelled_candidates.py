"""A hint names those whom a name may mean as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory
from varve.cli.main import main

NOW = datetime(2026, 3, 9, 10, tzinfo=UTC)
SPEAKERS = ["Ana Ruiz", "Ana López", "Bo McLaren", "Bo van Dyk"]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = Memory.open(tmp_path, now=NOW)
    for number, name in enumerate(SPEAKERS):
        message = {"role": "user", "name": name, "content": "I live in Oslo."}
        opened.ingest({"conversationId": f"c{number}", "messages": [message]})
    return opened


def test_about_a_name_of_several_names_them_as_written(memory: Memory) -> None:
    found = memory.search("where?", about="Ana")
    assert "Ana López, Ana Ruiz" in str(found.hint)
    assert "ana" not in str(found.hint)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does Ana live?", ["Ana López", "Ana Ruiz"]),
        ("What do we know about Ana?", ["Ana López", "Ana Ruiz"]),
        ("Where does Bo live?", ["Bo McLaren", "Bo van Dyk"]),
    ],
)
def test_a_question_with_a_name_of_several_names_them_as_written(
    memory: Memory, question: str, names: list[str]
) -> None:
    hint = str(memory.search(question).hint)
    for name in names:
        assert name in hint


def test_the_graph_suggests_names_as_written(memory: Memory) -> None:
    assert memory.graph.suggest("Ana") == ["Ana López", "Ana Ruiz"]


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ("Ana", "'Ana' may also mean Ana López\n"),
        ("ana ruiz", ""),
        ("Oslo", ""),
    ],
)
def test_graph_show_names_others_of_the_name_beside_the_one_shown(
    tmp_path: Path,
    memory: Memory,
    capsys: pytest.CaptureFixture[str],
    asked: str,
    note: str,
) -> None:
    fact = {"source_id": "Ana Ruiz", "label": "also_known_as"}
    with memory.graph as graph:
        graph.update_facts([{**fact, "target_id": "Ana"}])
    assert main(["graph", "show", asked, "--store", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.err == note
    assert "Oslo" in captured.out
