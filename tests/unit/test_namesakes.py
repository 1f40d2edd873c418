"""Two users of one name in one agent's memory leave each other's statements as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.test_speaks_by_id import said_by
from tests.unit.test_told_last import NOW
from varve import Memory


def open_memory(root: Path, *told: dict[str, Any]) -> Memory:
    memory = Memory.open(root / "memory", now=NOW)
    memory.ingest(list(told))
    return memory


def list_current(memory: Memory, user: str) -> list[str]:
    """Return what holds of a user's records, as each of them is shown."""
    records = memory.list(user_id=user).records
    return [one.content for one in records if memory.show(one.id)["current"]]


def test_invariant_11_a_namesakes_statement_ends_nothing(
    tmp_path: Path,
) -> None:
    memory = open_memory(
        tmp_path,
        said_by("Vera", 1, "I live in Hamburg.", user="u-a"),
        said_by("Vera", 2, "I live in Rome.", user="u-b"),
    )
    assert any("Hamburg" in one for one in list_current(memory, "u-a"))
    assert any("Rome" in one for one in list_current(memory, "u-b"))
    facts = memory.graph.entity("Vera")["facts"]
    assert {(one["target"], one["userId"]) for one in facts} == {
        ("Hamburg", "u-a"),
        ("Rome", "u-b"),
    }
    assert not memory.review(days=0).statements


def test_invariant_11_what_a_graph_changes_of_one_user_leaves_a_namesake(
    tmp_path: Path,
) -> None:
    memory = open_memory(
        tmp_path,
        said_by("Dana", 1, "I live in Hamburg. I work at Globex.", user="u-a"),
        said_by("Dana", 2, "I live in Rome. I work at Fiat.", user="u-b"),
    )
    own = {"userId": "u-a"}
    moved = {"source_id": "Dana", "label": "lives_in", "target_id": "Wien"}
    with memory.graph as graph:
        graph.insert_facts([{**moved, "properties": own}])
    left = {"source_id": "Dana", "label": "works_at"}
    with memory.graph as graph:
        graph.delete_facts([{**left, "properties": own}])
    profiles = {
        user: {
            one["key"]: one["value"]
            for one in memory.profile(user_id=user)["attributes"]
        }
        for user in ("u-a", "u-b")
    }
    assert profiles["u-b"]["location"] == "Rome"
    assert profiles["u-b"]["employer"] == "Fiat"
    assert profiles["u-a"]["location"] == "Wien"
    assert "employer" not in profiles["u-a"]
    told = memory.search("Where do I live?", user_id="u-b").results
    assert "Wien" not in "".join(one.content for one in told)
