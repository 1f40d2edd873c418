"""The examples of docs/integrations.md, run with the real frameworks and written models."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT, blocks_of
from tests.integrations.contract import list_memory
from varve import Memory

PAGE = ROOT / "docs" / "integrations.md"
MODULE = re.compile(r"from varve\.integrations\.(\w+) import")
LIBRARIES = {"openai_agents": "agents", "adk": "google.adk"}


def find_snippets() -> dict[str, str]:
    """Return the page's examples by the adapter that they import."""
    snippets = {}
    for block in blocks_of(PAGE):
        named = MODULE.search(block.text)
        if block.language == "python" and named:
            snippets[named[1]] = block.text
    return snippets


SNIPPETS = find_snippets()


def make_model(adapter: str) -> Any:
    """Return the written model of an adapter's own tests."""
    seen: list[str] = []
    if adapter == "langchain":
        from tests.integrations.test_langchain import (
            WrittenModel as LangChainModel,
        )

        return LangChainModel(seen=seen)
    if adapter == "openai_agents":
        from tests.integrations.test_openai_agents import (
            WrittenModel as OpenAIModel,
        )

        return OpenAIModel(seen)
    if adapter == "pydantic_ai":
        from tests.integrations.test_pydantic_ai import (
            make_model as make_pydantic,
        )

        return make_pydantic(seen)
    if adapter == "strands":
        from tests.integrations.test_strands import (
            WrittenModel as StrandsModel,
        )

        return StrandsModel(seen)
    from tests.integrations.test_adk import WrittenModel as AdkModel

    return AdkModel(seen=seen)


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


def test_every_adapter_has_an_example() -> None:
    # An adapter has an extra of its name; the modules beside it are shared.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {
        name.replace("-", "_") for name in project["optional-dependencies"]
    }
    folder = ROOT / "shared" / "varve" / "integrations"
    adapters = {path.stem for path in folder.glob("*.py")} & extras
    assert adapters == set(SNIPPETS)


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
    memory = Memory.open(tmp_path, environment={})
    names = {"memory": memory, "model": make_model(adapter)}
    exec(compile(SNIPPETS[adapter], str(PAGE), "exec"), names)
    user: str | None = "dana"
    if adapter == "adk":
        finish_adk(names)
        user = None
    found = " ".join(
        result.content for result in list_memory(memory, user).results
    )
    assert "Porto" in found
