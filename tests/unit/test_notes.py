"""Notes: conditional puts, versions, paths that are refused, and the records that follow."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve import AsyncMemory, Memory, NoteConflict, Rejected
from varve.cli.main import main
from varve.domain.identity import Scope
from varve.domain.note_operations import NoteOperation
from varve.domain.notes import (
    MAX_NOTE_BYTES,
    MAX_VERSIONS,
    note_key,
    note_path,
    path_of,
)
from varve.domain.record import Store
from varve.messages.notes import IndexNote, send_index
from varve.messages.write import read_write
from varve.ports.queues import Delivery
from varve.usecases.write.write import write_now

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
PATH = "projects/lisbon.md"
FLAT = "Dana looks for a flat in Alfama."
RENTED = "Dana rents a flat in Graça."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, now=NOW, environment={})


def found(memory: Memory, text: str, **given_: Any) -> list[str]:
    answer = memory.search(text, memory_types=["note"], **given_)
    return [result.content for result in answer.results]


def stored_records(memory: Memory) -> int:
    reader = memory.sessions.store.records
    return sum(reader.periods(memory.scope, Store.NOTES).values())


def test_a_put_creates_or_replaces_the_version_it_names(
    memory: Memory,
) -> None:
    note = memory.notes.put(PATH, FLAT)
    with pytest.raises(NoteConflict) as refused:
        memory.notes.put(PATH, RENTED)
    assert refused.value.current == note.version
    second = memory.notes.put(PATH, RENTED, version=note.version)
    with pytest.raises(NoteConflict):
        memory.notes.put(PATH, "Too late.", version=note.version)
    with pytest.raises(NoteConflict):
        memory.notes.put("other", "None.", version=note.version)
    last = memory.notes.put(PATH, "Whatever was there.", overwrite=True)
    kept = [one.content for one in memory.notes.versions(PATH)]
    assert kept == [FLAT, RENTED, "Whatever was there."]
    assert (second.current.number, last.current.number) == (2, 3)
    assert memory.notes.get(PATH) == last


def test_invariant_2_the_same_put_again_changes_nothing(
    memory: Memory,
) -> None:
    first = memory.notes.put(PATH, FLAT)
    later = NOW + timedelta(hours=1)
    assert memory.notes.put(PATH, FLAT, now=later) == first
    second = memory.notes.put(PATH, RENTED, version=first.version)
    repeated = memory.notes.put(PATH, RENTED, version=first.version, now=later)
    assert repeated == second
    assert memory.notes.put(PATH, RENTED, overwrite=True, now=later) == second
    assert stored_records(memory) == 1


def test_a_note_keeps_its_last_versions_only(memory: Memory) -> None:
    for number in range(MAX_VERSIONS + 2):
        memory.notes.put(PATH, f"Version {number}.", overwrite=True)
    kept = memory.notes.versions(PATH)
    assert [one.number for one in kept] == list(range(3, MAX_VERSIONS + 3))


def test_a_deleted_note_is_gone_from_list_search_and_history(
    memory: Memory,
) -> None:
    note = memory.notes.put(PATH, FLAT)
    with pytest.raises(NoteConflict):
        memory.notes.delete(PATH, version="another")
    assert memory.notes.delete(PATH, version=note.version)
    assert not memory.notes.delete(PATH)
    assert memory.notes.get(PATH) is None
    assert memory.notes.list() == []
    assert memory.notes.versions(PATH) == ()
    assert found(memory, "flat") == []
    again = memory.notes.put(PATH, RENTED)
    assert [one.content for one in again.kept] == [RENTED]


def test_a_list_has_the_notes_of_one_owner_below_a_prefix(
    memory: Memory,
) -> None:
    for path in ("projects/b.md", "projects/a.md", "projection.md"):
        memory.notes.put(path, FLAT)
    memory.notes.put("projects/c.md", FLAT, user_id="u-1")
    listed = [one.path for one in memory.notes.list("projects/")]
    assert listed == ["projects/a.md", "projects/b.md"]
    own = [one.path for one in memory.notes.list(user_id="u-1")]
    assert own == ["projects/c.md"]
    assert memory.notes.get("projects/a.md", user_id="u-1") is None


REFUSED = [
    "", "/a", "a/", "a//b", ".", "..", "a/../b", "a..b", "a\\b", " a", "a /b", "a\nb", "a\0b", "e\u0301",
    "\ud800", "/".join("a" * 21), "a" * 241, "A" * 121, 5,
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED, ids=ascii)
def test_invariant_7_a_bad_path_is_refused_and_never_cleaned(
    memory: Memory, tmp_path: Path, path: Any
) -> None:
    for call in (memory.notes.get, memory.notes.delete):
        with pytest.raises(Rejected, match="path"):
            call(path)
    with pytest.raises(Rejected, match="path"):
        memory.notes.put(path, FLAT)
    with pytest.raises(Rejected, match="userId"):
        memory.notes.put("a", FLAT, user_id="../u")
    assert list(tmp_path.iterdir()) == []


@given(st.text(min_size=1, max_size=40))
def test_every_path_has_a_key_of_its_own_on_every_file_system(
    path: str,
) -> None:
    try:
        note_path(path)
    except Rejected:
        return
    key = note_key(Scope("acme", "support"), path, None)
    assert key.isascii()
    assert key == key.lower()
    assert key.count("/") == 4
    assert path_of(key) == path


def test_a_content_that_is_too_long_or_no_text_is_refused(
    memory: Memory,
) -> None:
    for content in ("é" * (MAX_NOTE_BYTES // 2 + 1), "\ud800", None):
        with pytest.raises(Rejected, match="content"):
            memory.notes.put(PATH, content)  # type: ignore[arg-type]
    with pytest.raises(Rejected, match="version"):
        memory.notes.put(PATH, FLAT, version="x", overwrite=True)


def test_secrets_are_replaced_before_a_note_is_stored(
    memory: Memory, tmp_path: Path
) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    put = memory.notes.put(PATH, f"The key is {key}.")
    assert key not in put.content
    assert memory.notes.put(PATH, f"The key is {key}.") == put
    held = [path.read_bytes() for path in tmp_path.rglob("*.json")]
    assert not any(key.encode() in data for data in held)


def test_a_search_and_a_context_find_the_current_version_with_its_path(
    memory: Memory,
) -> None:
    note = memory.notes.put(PATH, FLAT)
    memory.notes.put(PATH, RENTED, version=note.version)
    (result,) = memory.search("Where does Dana rent a flat?").results
    assert result.content == f"{PATH}: {RENTED}"
    assert (result.memory_type, result.grain) == ("note", "notes")
    assert result.source_ids == [PATH]
    assert RENTED in memory.context("Where does Dana rent a flat?").text
    only_facts = memory.search("flat", memory_types=["fact"])
    assert (only_facts.results, only_facts.searched.records) == ([], 0)
    assert found(memory, "flat", user_id="u-1") == []
    assert memory.search("flat", grain="working").results == []
    assert [one.content for one in memory.search().results] == [result.content]


def test_a_shorter_version_leaves_no_passage_of_the_longer(
    memory: Memory,
) -> None:
    note = memory.notes.put(PATH, "Dana has a flat. " * 400)
    assert stored_records(memory) > 2
    memory.notes.put(PATH, "Dana moved.", version=note.version)
    assert stored_records(memory) == 1


def test_notes_are_shared_by_a_grant_of_their_type(tmp_path: Path) -> None:
    sales = Memory.open(tmp_path, agent="sales", now=NOW, environment={})
    support = Memory.open(tmp_path, agent="support", now=NOW, environment={})
    sales.notes.put(PATH, FLAT)
    sales.share.grant("support", types=["fact"])
    assert found(support, "flat", agents=["sales"]) == []
    sales.share.grant("support", types=["note"])
    assert found(support, "flat", agents=["sales"]) == [f"{PATH}: {FLAT}"]


class Sent:
    """A queue that keeps the messages sent to it."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        delivery = Delivery(id=deduplication_id, body=body, group=group)
        self.deliveries.append(delivery)


def test_messages_about_a_note_may_come_late_twice_and_in_any_order(
    memory: Memory,
) -> None:
    """The writer indexes what the note is, not what a message says."""
    queue = Sent()
    objects = memory.sessions.store.objects
    note = memory.notes.put(PATH, "Dana has a flat. " * 400)
    memory.notes.put(PATH, RENTED, version=note.version)
    memory.notes.put("gone", FLAT)
    memory.notes.delete("gone")
    for path, records in ((PATH, 4), ("gone", 1), (PATH, 4), ("never", 2)):
        message = IndexNote(memory.scope, path, None, records)
        send_index(message, path, queue=queue, objects=objects)  # type: ignore[arg-type]
        assert read_write(queue.deliveries[-1], objects=objects) == message
    write_now(memory.sessions.open_writer(), queue.deliveries[::-1])
    assert [one.content for one in memory.search().results] == [
        f"{PATH}: {RENTED}"
    ]
    assert all(RENTED not in one.body for one in queue.deliveries)


def test_invariant_10_writers_of_one_note_all_succeed(memory: Memory) -> None:
    def put(number: int) -> str:
        return memory.notes.put(
            PATH, f"Line {number}.", overwrite=True
        ).version

    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(put, range(8)))
    kept = memory.notes.versions(PATH)
    assert {one.version for one in kept} == set(versions)
    (result,) = memory.search().results
    assert result.content == f"{PATH}: {kept[-1].content}"


def test_invariant_9_no_log_has_a_path_or_a_content(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    memory.notes.put(PATH, FLAT, user_id="u-17")
    memory.notes.delete(PATH, user_id="u-17")
    for word in ("lisbon", "Alfama", "u-17"):
        assert word not in caplog.text


def test_the_asynchronous_memory_has_notes_too(tmp_path: Path) -> None:
    async def use() -> None:
        async with await AsyncMemory.open(tmp_path, environment={}) as memory:
            note = await memory.notes.put(PATH, FLAT, user_id="u-1")
            assert await memory.notes.get(PATH, user_id="u-1") == note
            assert await memory.notes.list(user_id="u-1") == [note]
            assert await memory.notes.paths(user_id="u-1") == (PATH,)
            (found,) = await memory.notes.search("flat", user_id="u-1")
            assert found.note == note
            versions = await memory.notes.versions(PATH, user_id="u-1")
            assert versions == note.kept
            assert await memory.notes.delete(PATH, user_id="u-1")
            operation = NoteOperation("run-1", "write")
            change = await memory.notes.change(
                PATH, FLAT, version=None, operation=operation
            )
            again = await memory.notes.find_change(operation)
            assert again == replace(change, replayed=True)

    asyncio.run(use())


def test_the_command_puts_shows_lists_and_deletes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> Any:
        code = main(["note", *arguments, "--store", str(tmp_path), "--json"])
        assert code == 0
        return json.loads(capsys.readouterr().out)

    put = run("put", PATH, FLAT)
    assert run("show", PATH) == put
    run("put", PATH, RENTED, "--version", put["version"])
    assert [one["content"] for one in run("show", PATH, "--versions")] == [
        FLAT,
        RENTED,
    ]
    assert [one["path"] for one in run("list", "projects")] == [PATH]
    assert run("delete", PATH) == {"deleted": True}
    assert main(["note", "show", PATH, "--store", str(tmp_path)]) == 2
    assert main(["note", "put", PATH, "--store", str(tmp_path)]) == 2


def test_a_search_among_notes_ranks_those_below_its_prefix_alone(
    memory: Memory,
) -> None:
    for number in range(5):
        memory.notes.put(f"other/{number}", f"A flat in Porto, {number}.")
    memory.notes.put("homes/dana", "Dana has a flat. " * 400)
    memory.notes.put("homes/marco", "Marco keeps harpsichords.")
    memory.notes.put("homes/empty", "")
    found = memory.notes.search("flat", "homes/", max_results=3)
    found_paths = [one.note.path for one in found]
    assert found_paths[0] == "homes/dana"
    assert not [path for path in found_paths if path.startswith("other")]
    assert memory.notes.search("flat", "homes/", user_id="u-1") == ()
    paths = ("homes/dana", "homes/empty", "homes/marco")
    assert memory.notes.paths("homes/") == paths
    with pytest.raises(Rejected, match="query"):
        memory.notes.search(" ")
    with pytest.raises(Rejected, match="maxResults"):
        memory.notes.search("flat", max_results=0)


def test_a_record_of_a_note_is_shown_but_not_corrected(memory: Memory) -> None:
    memory.notes.put(PATH, FLAT, user_id="u-1")
    (result,) = memory.search("flat").results
    record = memory.get(result.id)
    assert record is not None
    assert (record.grain, record.user_id) == ("notes", "u-1")
    shown = memory.show(result.id)
    assert (shown["sourceIds"], shown["sources"]) == ([PATH], [])
    with pytest.raises(Rejected, match="not the id of a fact or turn"):
        memory.correct(result.id, RENTED)
