"""Pydantic AI Harness's memory over notes, against the harness's own stores."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "pydantic_ai_harness", reason="make test-integrations installs it"
)

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    MemoryConflictError,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    SearchableMemoryStore,
    SqliteMemoryStore,
)
from pydantic_ai_harness.memory import Memory as Notebook

from varve import Memory, Retryable
from varve.integrations.pydantic_harness import VarveNotebookStore

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
PATHS = ["main/MEMORY.md", "main/a.md", "main/deep/b.md", "other/MEMORY.md"]
BOUNDS = {
    "limit": 10,
    "max_files": 100,
    "max_chars": 4_000,
    "max_file_chars": 65_536,
}
APPEND = MemoryOperation("run-1", "append")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW, environment={})


@pytest.fixture
def store(memory: Memory) -> VarveNotebookStore:
    return VarveNotebookStore(memory, user_id="dana")


def wait_for(call: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(call)


operations = st.none() | st.builds(
    MemoryOperation, st.sampled_from(["o1", "o2"]), st.sampled_from(["f", "g"])
)
expected = st.sampled_from(["current", "current", "none", "stale"])
commands = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            st.sampled_from(PATHS),
            st.text("ab\n", max_size=3),
            expected,
            operations,
        ),
        st.tuples(
            st.just("delete"), st.sampled_from(PATHS), expected, operations
        ),
        st.tuples(st.just("read"), st.sampled_from(PATHS), st.integers(0, 3)),
        st.tuples(st.just("get_operation"), operations),
        st.tuples(
            st.just("list"),
            st.sampled_from(["", "main", "main/", "m", "none/", "//"]),
            st.integers(0, 4),
        ),
    ),
    max_size=14,
)


class Driver:
    """A store with the versions it gave, which the commands name by their order."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.versions: list[str] = []

    async def do(self, command: tuple[Any, ...]) -> Any:
        """Return what a command returns or raises, with versions as numbers."""
        verb, *given_ = command
        try:
            return await getattr(self, verb)(*given_)
        except (
            MemoryConflictError,
            MemoryOperationConflictError,
            ValueError,
        ) as error:
            return type(error).__name__

    async def write(
        self, path: str, content: str, which: str, operation: Any
    ) -> Any:
        version = await self.choose(path, which)
        return self.show(
            await self.store.write(
                path, content, expected_version=version, operation=operation
            )
        )

    async def delete(self, path: str, which: str, operation: Any) -> Any:
        version = await self.choose(path, which)
        return self.show(
            await self.store.delete(
                path, expected_version=version, operation=operation
            )
        )

    async def read(self, path: str, max_chars: int) -> Any:
        found = await self.store.read(path, max_chars=max_chars)
        if found is None:
            return None
        return (
            found.content,
            self.number(found.version),
            found.operation_id,
            found.truncated,
            found.metadata,
        )

    async def get_operation(self, operation: Any) -> Any:
        if operation is None:
            return None
        found = await self.store.get_operation(operation)
        return None if found is None else self.show(found)

    async def list(self, prefix: str, limit: int) -> Any:
        return await self.store.list_paths(prefix, limit=limit)

    async def choose(self, path: str, which: str) -> str | None:
        """Return the version to expect; a stale one is the oldest there was."""
        if which == "none":
            return None
        if which == "stale":
            return self.versions[0] if self.versions else "never"
        found = await self.store.read(path, max_chars=1)
        return None if found is None else found.version

    def show(self, mutation: MemoryMutation) -> Any:
        version = self.number(mutation.version)
        return version, mutation.replayed, mutation.existed

    def number(self, version: str | None) -> int | None:
        """Return how many versions came before this one."""
        if version is None:
            return None
        if version not in self.versions:
            self.versions.append(version)
        return self.versions.index(version)


@given(commands)
def test_any_commands_have_the_outcomes_of_the_harness_own_stores(
    tmp_path_factory: pytest.TempPathFactory,
    given_: list[tuple[Any, ...]],
) -> None:
    root = tmp_path_factory.mktemp("stores")
    memory = Memory.open(root / "memory", now=NOW, environment={})
    own = Driver(VarveNotebookStore(memory, user_id=None))
    others = [
        Driver(InMemoryStore()),
        Driver(SqliteMemoryStore(database=root / "memory.db")),
    ]

    async def compare() -> None:
        for command in given_:
            outcome = await own.do(command)
            for other in others:
                assert outcome == await other.do(command), command

    wait_for(compare())


@pytest.mark.parametrize(
    "path",
    [
        *("", "/a", "a/", "a//b", ".", "a/.", "..", "a/../b", "a..b", "a b"),
        *("é", "x" * 201, "a\n", "a\\b", "-", "_a.md", ".hidden", "A.b-c_9"),
    ],
)
def test_a_path_is_valid_if_it_is_in_the_harness_own_stores(
    path: str, store: VarveNotebookStore
) -> None:
    async def use(driver: Driver) -> list[Any]:
        changed = ("write", path, "x", "none", None)
        read = ("read", path, 9)
        listed = ("list", path, 9)
        deleted = ("delete", path, "current", None)
        asked = (changed, read, listed, deleted)
        return [await driver.do(command) for command in asked]

    own = wait_for(use(Driver(store)))
    assert own == wait_for(use(Driver(InMemoryStore())))


def test_it_is_a_searchable_store(store: VarveNotebookStore) -> None:
    assert isinstance(store, MemoryStore)
    assert isinstance(store, SearchableMemoryStore)


def test_what_memory_alone_refuses_is_for_the_model_to_change(
    store: VarveNotebookStore,
) -> None:
    write = store.write
    with pytest.raises(ModelRetry, match="100,000"):
        wait_for(write("main/a.md", "x" * 100_001, expected_version=None))
    with pytest.raises(ModelRetry, match="longer than 240"):
        wait_for(write("M" * 150, "x", expected_version=None))
    with pytest.raises(ModelRetry, match="segments"):
        wait_for(store.read("a/" * 20 + "b", max_chars=1))
    with pytest.raises(ModelRetry, match="operation"):
        wait_for(store.get_operation(MemoryOperation("x" * 201, "f")))


def test_a_failure_of_the_store_is_not_hidden(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = VarveNotebookStore(memory, user_id="dana")

    def fail(*_: Any, **__: Any) -> Any:
        raise Retryable("the bucket does not answer")

    monkeypatch.setattr(store._notes, "get", fail)
    with pytest.raises(Retryable):
        wait_for(store.read("main/a.md", max_chars=1))


class Watched:
    """Notes that keep which threads use them."""

    def __init__(self, notes: Any) -> None:
        self._notes = notes
        self.threads: list[int] = []

    def __getattr__(self, name: str) -> Any:
        self.threads.append(threading.get_ident())
        return getattr(self._notes, name)


def test_memory_works_in_threads(store: VarveNotebookStore) -> None:
    watched = Watched(store._notes)
    store._notes = watched  # type: ignore[assignment]

    async def use() -> None:
        await store.write("a", "x", expected_version=None, operation=APPEND)
        await store.get_operation(APPEND)
        file = await store.read("a", max_chars=1)
        assert file is not None
        await store.list_paths(limit=1)
        await store.search("", "x", **BOUNDS)
        await store.delete("a", expected_version=file.version)

    wait_for(use())
    assert len(watched.threads) == 7
    assert threading.get_ident() not in watched.threads


def write_all(store: VarveNotebookStore, files: dict[str, str]) -> None:
    for path, content in files.items():
        wait_for(store.write(path, content, expected_version=None))


def search(store: VarveNotebookStore, query: str, **bounds: Any) -> Any:
    return wait_for(store.search("t/main/", query, **(BOUNDS | bounds)))


FILES = {
    "t/main/flat.md": "Dana has a flat in Lisbon. " + "Rain. " * 50,
    "t/main/music.md": "Dana plays the harpsichord.",
    "t/main/deep/flat.md": "A flat of another scope.",
    "u/main/flat.md": "A flat of another tenant.",
}


def test_a_search_ranks_the_files_of_its_scope_alone(
    store: VarveNotebookStore,
) -> None:
    write_all(store, FILES)
    found = search(store, "a flat to live in")
    paths = [one.path for one in found.matches]
    assert paths[0] == "t/main/flat.md"
    assert {*paths} <= {"t/main/flat.md", "t/main/music.md"}
    assert found.matches[0].snippet == FILES["t/main/flat.md"]
    assert 0 < found.matches[0].score <= 1
    assert (found.scanned, found.truncated) == (2, False)
    assert search(store, "zzzqqq xylophone").matches == []
    assert search(store, " ").scanned == 0
    assert search(store, "flat", limit=0).matches == []


def test_a_search_keeps_within_its_limits(store: VarveNotebookStore) -> None:
    files = {
        f"t/main/{number}.md": "Rain. " * 40 + f"A flat in Porto, {number}."
        for number in range(4)
    }
    write_all(store, files)
    for bounds in ({"limit": 2}, {"max_files": 3}, {"max_chars": 50}):
        found = search(store, "flat Porto", **bounds)
        shown = [one.path.removeprefix("t/main/") for one in found.matches]
        size = sum(map(len, shown)) + sum(
            len(one.snippet) for one in found.matches
        )
        assert found.truncated
        assert found.matches
        assert len(found.matches) <= bounds.get("limit", 10)
        assert found.scanned <= bounds.get("max_files", 100)
        assert size <= bounds.get("max_chars", 4_000)
    assert (
        "flat" in search(store, "flat Porto", max_chars=50).matches[0].snippet
    )
    short = search(store, "flat Porto", max_file_chars=12)
    assert short.truncated
    assert {one.snippet for one in short.matches} == {"Rain. Rain. "}


def make_model(
    seen: list[str], *calls: tuple[str, dict[str, Any]]
) -> FunctionModel:
    """A model that makes the calls, one a response, then gives one reply."""
    left = list(calls)

    def answer(messages: list[ModelMessage], info: Any) -> ModelResponse:
        for part in messages[-1].parts:
            seen.append(str(getattr(part, "content", "")))
        if left:
            return ModelResponse([ToolCallPart(*left.pop(0))])
        return ModelResponse([TextPart("Noted.")])

    return FunctionModel(answer)


TOLD = "Dana moved to Porto."


def test_the_harness_notebook_is_written_found_and_forgotten(
    memory: Memory,
) -> None:
    seen: list[str] = []
    model = make_model(
        seen,
        ("write_memory", {"content": TOLD}),
        ("write_memory", {"content": "Likes rain.", "file": "likes"}),
        (
            "write_memory",
            {"content": "Porto, by the river.", "old_text": "Porto."},
        ),
        ("read_memory", {"file": "MEMORY.md"}),
        ("search_memory", {"query": "Where does Dana live?"}),
        ("delete_memory", {"file": "likes"}),
    )
    agent: Any = Agent(
        model,
        deps_type=str,
        capabilities=[
            Notebook(
                store_resolver=lambda run: VarveNotebookStore(
                    memory, user_id=run.deps
                )
            )
        ],
    )
    asyncio.run(agent.run("Hello", deps="dana"))
    told = "\n".join(seen)
    assert "Dana moved to Porto, by the river." in told
    assert "MEMORY.md" in told
    (note,) = memory.notes.list(user_id="dana")
    assert note.path == "harness/main/MEMORY.md"
    assert note.content == "Dana moved to Porto, by the river.\n"
    (result,) = memory.search("Porto", user_id="dana").results
    assert result.source_ids == [note.path]
    seen.clear()
    asyncio.run(agent.run("Hello again", deps="dana"))
    assert "by the river" in "\n".join(seen)
    seen.clear()
    asyncio.run(agent.run("Hello", deps="marco"))
    assert "by the river" not in "\n".join(seen)
    memory.forget(user="dana")
    seen.clear()
    asyncio.run(agent.run("Hello", deps="dana"))
    assert "by the river" not in "\n".join(seen)


def test_a_file_that_is_too_long_is_an_answer_to_the_model(
    memory: Memory,
) -> None:
    seen: list[str] = []
    store = VarveNotebookStore(memory, user_id="dana")
    call = ("write_memory", {"content": "é" * 60_000})
    agent = Agent(make_model(seen, call), capabilities=[Notebook(store)])
    assert asyncio.run(agent.run("Hello")).output == "Noted."
    assert "100,000" in "\n".join(seen)


def test_secrets_are_replaced_before_they_are_stored(
    store: VarveNotebookStore,
) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    write_all(store, {"main/MEMORY.md": f"The key is {key}."})
    file = wait_for(store.read("main/MEMORY.md", max_chars=100))
    assert file.content.startswith("The key is ")
    assert key not in file.content
