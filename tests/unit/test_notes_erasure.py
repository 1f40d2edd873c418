"""Erasure of notes: with all versions, by user, id and query, proved in bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory
from varve.domain.note_operations import NoteOperation

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
PATH = "people/souza.md"
OLD = "Dana Souza collects xylophones."
NEW = "Dana Souza sold the bagpipes."
OTHER = "Marco prefers harpsichords."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path, now=NOW, environment={})
    for user, text in (("u-dana", OLD), ("u-marco", OTHER)):
        memory.notes.put(PATH, text, user_id=user)
    memory.notes.put(PATH, NEW, overwrite=True, user_id="u-dana")
    return memory


def left(root: Path) -> bytes:
    files = [path for path in root.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)


def test_invariant_8_a_forgotten_user_leaves_no_byte_of_any_version(
    memory: Memory, tmp_path: Path
) -> None:
    memory.notes.put("souza-deleted", OLD, user_id="u-dana")
    memory.notes.delete("souza-deleted", user_id="u-dana")
    told = memory.forget(user="u-dana", verify=True)
    assert told["erased"]["notes"] == 1
    assert told["verification"]["proved"] is True
    data = left(tmp_path)
    assert b"xylophones" not in data
    assert b"bagpipes" not in data
    assert not [one for one in tmp_path.rglob("*") if "deleted" in one.name]
    assert memory.notes.list(user_id="u-dana") == []
    (kept,) = memory.notes.list(user_id="u-marco")
    assert kept.content == OTHER
    assert [one.user_id for one in memory.search().results] == ["u-marco"]


def test_a_user_may_have_notes_again_after_an_erasure(memory: Memory) -> None:
    memory.forget(user="u-dana")
    later = datetime(2026, 3, 4, tzinfo=UTC)
    memory.notes.put(PATH, NEW, user_id="u-dana", now=later)
    answer = memory.search("bagpipes", user_id="u-dana", now=later)
    assert [one.content for one in answer.results] == [f"{PATH}: {NEW}"]


def test_a_note_is_forgotten_by_the_id_of_a_record_of_it(
    memory: Memory, tmp_path: Path
) -> None:
    found = memory.search("bagpipes", user_id="u-dana").results[0]
    planned = memory.forget(ids=[found.id], dry_run=True)
    assert [one["id"] for one in planned["records"]] == [found.id]
    told = memory.forget(ids=[found.id], verify=True)
    assert told["verification"]["proved"] is True
    assert b"xylophones" not in left(tmp_path)
    assert memory.notes.get(PATH, user_id="u-dana") is None


def test_a_query_finds_the_words_of_an_older_version(
    memory: Memory, tmp_path: Path
) -> None:
    query = "Dana Souza collects xylophones"
    planned = memory.forget(query=query, dry_run=True)
    assert [one["memoryType"] for one in planned["statements"]] == ["note"]
    memory.forget(query=query)
    assert b"bagpipes" not in left(tmp_path)
    assert memory.notes.get(PATH, user_id="u-marco") is not None


OPERATION = NoteOperation("run-77", "write")


def change(memory: Memory, path: str) -> None:
    memory.notes.change(
        path, OLD, version=None, operation=OPERATION, user_id="u-dana"
    )


def test_operations_of_a_forgotten_user_are_forgotten(
    memory: Memory, tmp_path: Path
) -> None:
    change(memory, "souza-deleted")
    memory.notes.delete("souza-deleted", user_id="u-dana")
    assert len(list(tmp_path.rglob(".operations-*"))) == 1
    told = memory.forget(user="u-dana", verify=True)
    assert told["verification"]["proved"] is True
    assert not list(tmp_path.rglob(".operations-*"))
    assert memory.notes.find_change(OPERATION, user_id="u-dana") is None


def test_an_operation_outlives_its_forgotten_note_without_its_words(
    memory: Memory, tmp_path: Path
) -> None:
    change(memory, "souza-new")
    (found,) = [
        one
        for one in memory.search("xylophones", user_id="u-dana").results
        if one.source_ids == ["souza-new"]
    ]
    told = memory.forget(ids=[found.id], verify=True)
    assert told["verification"]["proved"] is True
    assert memory.notes.find_change(OPERATION, user_id="u-dana") is not None
    (journal,) = tmp_path.rglob(".operations-*")
    for word in ("souza", "xylophones", OPERATION.id):
        assert word.encode() not in journal.read_bytes()
    assert not [one for one in tmp_path.rglob("*") if "new" in one.name]


def test_an_operation_is_no_note_in_status_and_export(
    memory: Memory, tmp_path: Path
) -> None:
    change(memory, "third.md")
    assert memory.status()["notes"]["count"] == 3
    memory.export(tmp_path / "out")
    twin = Memory.open(
        tmp_path / "twin", agent="twin", now=NOW, environment={}
    )
    assert twin.import_(tmp_path / "out")["notes"] == 3
    note = twin.notes.get("third.md", user_id="u-dana")
    assert note == memory.notes.get("third.md", user_id="u-dana")
    assert note is not None
    assert note.current.operation == OPERATION.id
    assert twin.notes.find_change(OPERATION, user_id="u-dana") is None


def test_the_proof_names_a_note_of_the_agent_that_repeats_a_users_words(
    memory: Memory,
) -> None:
    memory.notes.put("agent.md", "The user collects xylophones, I think.")
    told = memory.forget(user="u-dana", verify=True)
    assert told["verification"]["proved"] is False
    assert (
        "notes/default/default/all/agent=2emd.json"
        in (told["verification"]["foundIn"])
    )


def test_an_export_carries_notes_with_their_versions_once(
    memory: Memory, tmp_path: Path
) -> None:
    memory.export(tmp_path / "out")
    twin = Memory.open(
        tmp_path / "twin", agent="twin", now=NOW, environment={}
    )
    assert twin.import_(tmp_path / "out")["notes"] == 2
    assert twin.import_(tmp_path / "out")["notes"] == 0
    for user in ("u-dana", "u-marco"):
        assert twin.notes.list(user_id=user) == memory.notes.list(user_id=user)
    assert twin.search("bagpipes").results == memory.search("bagpipes").results
    assert twin.status()["notes"]["count"] == 2


def test_an_import_brings_no_forgotten_version_back(
    memory: Memory, tmp_path: Path
) -> None:
    memory.export(tmp_path / "out")
    memory.forget(user="u-dana")
    told = memory.import_(tmp_path / "out")
    assert (told["notes"], told["forgotten"]) == (0, 1)
    assert memory.notes.list(user_id="u-dana") == []
