"""IngestFunction without a queue: what it accepts is in memory when it returns."""

import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from varve import Memory

EVENTS = Path(__file__).parents[2] / "events"
CONTEXT: Any = SimpleNamespace(
    function_name="f",
    memory_limit_in_mb=1,
    invoked_function_arn="a",
    aws_request_id="r",
)
Handle = Callable[[str], dict[str, Any]]


@pytest.fixture
def handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Handle]:
    """Hand an event of `events/` to IngestFunction, over a store in a directory."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Varve")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    monkeypatch.setenv("VARVE_STORE", str(tmp_path))
    monkeypatch.delenv("VARVE_INGEST_QUEUE_URL", raising=False)
    app = importlib.import_module("functions.ingest.app")
    app.sessions.cache_clear()

    def handle(name: str) -> dict[str, Any]:
        event = json.loads((EVENTS / f"ingest.{name}.json").read_text("utf-8"))
        answer: dict[str, Any] = app.lambda_handler(event, CONTEXT)
        return answer

    yield handle
    app.sessions.cache_clear()


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(
        tmp_path, workspace="acme", agent="support", environment={}
    )


@pytest.mark.parametrize("name", ["conversation", "several"])
def test_a_conversation_is_in_memory_when_the_function_returns(
    handle: Handle, memory: Memory, name: str
) -> None:
    assert handle(name) == {"accepted": {"conversations": 1, "messages": 3}}
    found = memory.search("Where did Dana move?", user_id="u-42").results
    assert "Lisbon" in found[0].content


def test_a_statement_is_in_memory_when_the_function_returns(
    handle: Handle, memory: Memory
) -> None:
    assert handle("remember") == {
        "accepted": {"conversations": 1, "messages": 1}
    }
    assert memory.search().results


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
def test_an_outcome_is_in_memory_when_the_function_returns(
    handle: Handle, memory: Memory
) -> None:
    told = json.loads((EVENTS / "ingest.conversation.json").read_text("utf-8"))
    told["messages"][0]["state"] = "delivering"
    memory.ingest(told)
    assert handle("outcome") == {"accepted": {"outcomes": 1}}
    (episode,) = memory.experience.episodes()
    assert episode["outcome"] == "FAILURE"
