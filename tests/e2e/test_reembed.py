"""Moving a workspace to another embedding model: search goes on, a crash costs nothing twice."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.contract.test_lance_upkeep import BUCKET, moto, prefixes
from tests.e2e.test_corpus import CORPUS, NOW
from tests.support.drivers import driver_of, open_driver
from tests.support.model_server import ModelServer
from varve import Memory
from varve.adapters.models.wordllama_embedder import MODEL
from varve.cli import main
from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.identity import Scope
from varve.domain.record import StoreName

__all__ = ["moto"]  # the fixtures

TO, NEW = "openai:other:32", "other:32"
ASKED = "where does Dana live?"

OpenMemory = Callable[..., Memory]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("VARVE_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        server.dimensions = 32
        yield server


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A directory, or where the test says so a prefix on S3."""
    if getattr(request, "param", "directory") == "directory":
        return str(tmp_path / "store")
    request.getfixturevalue("moto")
    return f"s3://{BUCKET}/{next(prefixes)}"


on_both = pytest.mark.parametrize("root", ["directory", "s3"], indirect=True)


@pytest.fixture
def open_memory(root: str, model: ModelServer, tmp_path: Path) -> OpenMemory:
    """Opens the memory as another process would."""
    environment = {
        **model.environment,
        "VARVE_CACHE_DIR": str(tmp_path / "cache"),
    }

    def open_(agent: str = "assistant", **more: str) -> Memory:
        given = {**environment, **more}
        return Memory.open(
            root,
            workspace="northwind",
            agent=agent,
            now=NOW,
            environment=given,
        )

    return open_


def fill(memory: Memory, count: int = 3) -> None:
    for conversation in json.loads(
        (CORPUS / "northwind-dana.json").read_text("utf-8")
    )[:count]:
        memory.ingest({**conversation, "agentId": memory.scope.agent})
    memory.summarize()


def models(memory: Memory) -> set[str]:
    return {
        held["model"]
        for held in memory.status()["grains"].values()
        if held["model"]
    }


def everything(memory: Memory) -> set[str]:
    """The contents of all records, those folded in a search among them."""
    found: set[str] = set()
    for grain in (Grain.WORKING, *SUMMARY_GRAINS):
        records = memory.list(grain=grain, limit=1_000).records
        found |= {record.content for record in records}
    return found


def contents(memory: Memory) -> set[str]:
    return {
        result.content
        for result in memory.search(ASKED, max_results=100).results
    }


@contextmanager
def searching(memory: Memory) -> Iterator[list[set[str]]]:
    """A thread that asks, and asks again, until the block has ended; its answers. Raises what it met."""
    answers: list[set[str]] = []
    errors: list[BaseException] = []
    first, stop = Event(), Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                answers.append(contents(memory))
                first.set()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test is to see it
            errors.append(error)
            first.set()

    thread = Thread(target=ask)
    thread.start()
    first.wait()
    try:
        yield answers
    finally:
        stop.set()
        thread.join()
    if errors:
        raise errors[0]


@on_both
def test_search_goes_on_while_stores_move(open_memory: OpenMemory) -> None:
    memory = open_memory()
    fill(memory)
    held = everything(memory)
    assert models(memory) == {MODEL}
    with searching(open_memory()) as answers:
        done = open_memory().reembed(to=TO)
        reached = len(answers)
        while len(answers) < reached + 2:  # and some more with the new model
            contents(memory)
    assert done["model"] == NEW
    assert (len(done["moved"]), done["waiting"]) == (done["stores"], [])
    assert done["stores"] > 1
    assert models(memory) == {NEW}
    assert memory.setting("models.movingFrom") is None
    for answer in answers:
        assert any("Leeds" in content for content in answer)
        assert answer <= held
    assert everything(memory) == held


def test_the_new_model_may_be_set_before_and_search_goes_on(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    fill(memory, 2)
    held = contents(memory)
    memory.configure("models.embedder", TO)
    assert memory.setting("models.movingFrom") == "default"
    assert contents(memory) == contents(open_memory()) == held
    memory.ingest(
        {
            "conversationId": "late",
            "messages": [{"role": "user", "content": "I bought a kayak."}],
        }
    )
    assert models(memory) == {MODEL}
    assert any("kayak" in content for content in contents(memory))
    memory.reembed()
    assert models(memory) == {NEW}
    assert any("kayak" in content for content in contents(memory))


class Dying:
    """Stores of which one is moved; whoever moves another is killed."""

    def __init__(
        self, stores: Any, moved: list[tuple[Scope, StoreName]]
    ) -> None:
        self._stores, self._moved = stores, moved

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stores, name)

    def move(self, scope: Scope, grain: StoreName, *given: Any) -> int:
        if self._moved:
            raise Retryable("killed between two stores")
        self._moved.append((scope, grain))
        return int(self._stores.move(scope, grain, *given))


@on_both
def test_a_crash_between_stores_leaves_a_memory_that_answers_and_goes_on_where_it_was(
    open_memory: OpenMemory, model: ModelServer, root: str, tmp_path: Path
) -> None:
    memory = open_memory()
    fill(memory)
    held = everything(memory)
    moved: list[tuple[Scope, StoreName]] = []
    dying = open_driver(
        {**model.environment, "VARVE_CACHE_DIR": str(tmp_path / "cache")},
        root,
        NOW,
        wrap_stores=lambda stores: Dying(stores, moved),
    )
    with pytest.raises(Retryable, match="killed"):
        dying.memory(memory.scope).reembed(to=TO)
    assert models(memory) == {MODEL, NEW}
    for asking in (memory, open_memory()):
        assert any("Leeds" in content for content in contents(asking))

    asked = len(model.embeddings)
    told: list[str] = []
    done = open_memory().reembed(progress=lambda store, *_: told.append(store))
    ((scope, store),) = moved
    assert f"{scope}/{store}" not in told
    assert len(done["moved"]) == done["stores"] - 1
    assert models(memory) == {NEW}
    assert everything(memory) == held
    # What the first run had embedded, also of the store it was killed before, is not asked for again.
    parts = driver_of(memory)
    above = [
        e.record.content
        for g in SUMMARY_GRAINS[1:]
        for e in parts.stores.embedded(scope, g)[1]
    ]
    again = [
        text
        for request in model.embeddings[asked:]
        for text in request.body["input"]
    ]
    assert Counter(text for text in again if text != ASKED) <= Counter(above)
    assert list(parts.objects.list("payloads/northwind/assistant")) == []


def test_a_model_that_does_not_answer_is_not_moved_to(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    fill(memory, 1)
    with pytest.raises(Misconfigured, match="dimensions"):
        memory.reembed(to="openai:other:64")
    assert memory.setting("models.embedder") is None
    assert models(memory) == {MODEL}


def test_done_again_it_changes_nothing_and_asks_nobody(
    open_memory: OpenMemory, model: ModelServer
) -> None:
    fill(open_memory(), 1)
    open_memory().reembed(to=TO)
    asked = len(model.embeddings)
    done = open_memory().reembed()
    assert (done["moved"], done["waiting"], done["records"]) == ([], [], 0)
    assert len(model.embeddings) == asked


def test_all_agents_of_the_workspace_move(open_memory: OpenMemory) -> None:
    for agent in ("assistant", "second"):
        fill(open_memory(agent), 1)
    open_memory().reembed(to=TO)
    assert models(open_memory("second")) == models(open_memory()) == {NEW}


def test_a_model_that_only_the_environment_names_is_moved_to_as_well(
    open_memory: OpenMemory,
) -> None:
    fill(open_memory(), 1)
    changed = open_memory(VARVE_EMBEDDER=TO)
    with pytest.raises(EmbeddingMismatch, match=f"'{MODEL}'.*'{NEW}'"):
        changed.search(ASKED)
    assert changed.reembed()["model"] == NEW
    assert contents(changed)
    assert changed.setting("models.movingFrom") is None


def test_the_command_line(
    root: str, model: ModelServer, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    fill(open_memory(), 1)
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    given = ["--store", root, "--workspace", "northwind", "--json"]
    assert main(["reembed", "--to", "openai:nothing", *given]) == 2
    assert main(["reembed", "--to", TO, *given]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["model"] == NEW
    assert printed.err.count("\n") == 1, "the refusal alone, and no progress"
    assert main(["reembed", *given]) == 0
    assert json.loads(capsys.readouterr().out)["moved"] == []
