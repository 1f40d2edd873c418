"""The examples of docs/integrations.md, run with the real frameworks and written models."""

from __future__ import annotations

import asyncio
import gc
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT, blocks_of
from tests.integrations.contract import list_memory
from varve import Memory

PAGE = ROOT / "docs" / "integrations.md"
MODULE = re.compile(r"from varve\.integrations\.(\w+) import")
LIBRARIES = {
    "adk": "google.adk",
    "anthropic_memory": "anthropic",
    "claude_agent": "claude_agent_sdk",
    "langgraph_store": "langgraph.store.base",
    "openai_agents": "agents",
    "pydantic_harness": "pydantic_ai_harness",
}


def find_snippets() -> dict[str, str]:
    """Return the page's examples by the adapter that they import."""
    snippets = {}
    for block in blocks_of(PAGE):
        named = MODULE.search(block.text)
        if block.language == "python" and named:
            snippets[named[1]] = block.text
    return snippets


SNIPPETS = find_snippets()


MODELS: dict[str, Callable[[Any], Any]] = {
    "adk": lambda tests: tests.WrittenModel(seen=[]),
    "agent_framework": lambda tests: tests.WrittenClient([]),
    "anthropic_memory": lambda tests: tests.make_client(),
    "langchain": lambda tests: tests.WrittenModel(seen=[]),
    "langgraph_store": lambda _: None,
    "llama_index": lambda tests: tests.WrittenModel(seen=[]),
    "openai_agents": lambda tests: tests.WrittenModel([]),
    "pydantic_ai": lambda tests: tests.make_model([]),
    "pydantic_harness": lambda tests: tests.make_model(
        [], ("write_memory", {"content": tests.TOLD})
    ),
    "strands": lambda tests: tests.WrittenModel([]),
}


@contextmanager
def open_model(
    adapter: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Give the written model of an adapter's own tests, for as long as it is needed."""
    tests = import_module(f"tests.integrations.test_{adapter}")
    if adapter in MODELS:
        yield MODELS[adapter](tests)
        return
    with tests.serve_model(home, monkeypatch) as served:
        yield served


def finish_adk(names: dict[str, Any]) -> None:
    asyncio.run(names["runner"].run_debug("I moved to Porto.", quiet=True))


@pytest.fixture
def event_loop_of_the_thread() -> Iterator[None]:
    """Frameworks' synchronous calls take the thread's loop; an earlier test may have closed it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
    gc.collect()  # while the warnings of what is left open are ignored


def test_every_adapter_has_an_example() -> None:
    # An adapter has an extra of its name; the modules beside it are shared.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {
        name.replace("-", "_") for name in project["optional-dependencies"]
    }
    folder = ROOT / "shared" / "varve" / "integrations"
    adapters = {path.stem for path in folder.glob("*.py")} & extras
    assert adapters == set(SNIPPETS)


# LlamaIndex reads deprecated attributes of Pydantic's models, and leaves its connection
# to SQLite open.
@pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
@pytest.mark.parametrize("adapter", sorted(SNIPPETS))
def test_an_example_runs_as_shown(
    adapter: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    event_loop_of_the_thread: None,
) -> None:
    pytest.importorskip(
        LIBRARIES.get(adapter, adapter),
        reason="make test-integrations installs it",
    )
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    memory = Memory.open(tmp_path / "memory", environment={})
    user: str | None = "dana"
    with open_model(adapter, tmp_path / "home", monkeypatch) as model:
        names = {"memory": memory, "model": model, "client": model}
        exec(compile(SNIPPETS[adapter], str(PAGE), "exec"), names)
    if adapter == "adk":
        finish_adk(names)
        user = None
    found = " ".join(
        result.content for result in list_memory(memory, user).results
    )
    assert "Porto" in found
