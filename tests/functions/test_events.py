"""The sample events are what the functions understand; people copy them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.builders import MORNING
from tests.support.drivers import read_forget_event
from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.queues.lambda_batch import deliveries
from varve.domain.context import parse_context_request
from varve.domain.errors import Rejected
from varve.domain.experience.outcomes import Outcome
from varve.domain.identity import Identity, Scope
from varve.domain.search.query import parse_search_request
from varve.messages.function_url import find_caller, parse_url_event
from varve.messages.ingest import read_ingest
from varve.messages.outcome import is_outcome_event, parse_outcome_event
from varve.messages.tool_calls import ToolCall, answer_tool_call
from varve.messages.write import WriteTriples, read_write
from varve.usecases.ingest.ingest import read_event

EVENTS = Path(__file__).parents[2] / "events"
FUNCTIONS = Path(__file__).parents[2] / "functions"
QUEUE: Any = SimpleNamespace(redrive=("dead.fifo", 5))


def load_event(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text("utf-8"))


def test_every_event_is_named_after_a_function() -> None:
    functions = {path.parent.name for path in FUNCTIONS.glob("*/app.py")}
    assert {
        path.name.partition(".")[0] for path in EVENTS.glob("*.json")
    } == functions


def test_the_outcome_event_tells_how_the_conversation_ended() -> None:
    event = load_event("ingest.outcome")
    assert is_outcome_event(event)
    scope, report = parse_outcome_event(event, MORNING)
    assert scope == Scope("acme", "support")
    assert (report.target, report.outcome, report.user_id) == (
        "c-2026-03-02-1",
        Outcome.FAILURE,
        "u-42",
    )


@pytest.mark.parametrize("name", ["ingest.conversation", "ingest.several"])
def test_an_ingest_event_is_a_conversation_of_the_contract(name: str) -> None:
    (conversation,) = read_event(load_event(name), MORNING)
    assert conversation.scope == Scope("acme", "support")


@pytest.mark.parametrize("name", ["ingest.remember", "ingest.correct"])
def test_a_told_event_is_a_conversation_of_one_message(name: str) -> None:
    (conversation,) = read_event(load_event(name), MORNING)
    assert conversation.scope == Scope("acme", "support")
    assert len(conversation.messages) == 1


def test_the_faulty_ingest_event_is_refused_by_its_field() -> None:
    with pytest.raises(Rejected) as refused:
        read_event(load_event("ingest.unknown-role"), MORNING)
    assert refused.value.field == "messages[0].role"


def test_the_extract_event_carries_an_ingest_message() -> None:
    (delivery,) = deliveries(load_event("extract.batch"), QUEUE)
    message = read_ingest(delivery, objects=InMemoryObjects())
    assert message.conversation.conversation_id == "c-2026-03-02-1"


def test_the_poison_event_can_never_succeed() -> None:
    (delivery,) = deliveries(load_event("extract.poison"), QUEUE)
    with pytest.raises(Rejected):
        read_ingest(delivery, objects=InMemoryObjects())


def test_the_write_event_carries_a_write_message() -> None:
    (delivery,) = deliveries(load_event("write.batch"), QUEUE)
    assert isinstance(
        read_write(delivery, objects=InMemoryObjects()), WriteTriples
    )


@pytest.mark.parametrize("name", ["forget.user", "forget.dry-run"])
def test_a_forget_event_says_whose_memory_and_what(name: str) -> None:
    scope, request = read_forget_event(load_event(name))
    assert scope == Scope("acme", "support")
    assert request.selector is not None


def test_an_mcp_event_is_a_request_of_the_principal_who_signed_it() -> None:
    request = parse_url_event(load_event("mcp.search"))
    bound = Identity(Scope("acme", "support"), "dana")
    role = "arn:aws:iam::123456789012:role/assistant"
    assert find_caller(request.caller, {role: bound}) == bound
    call = json.loads(request.body)["params"]
    assert call["name"] == "search_memory"
    parse_search_request(call["arguments"])


@pytest.mark.parametrize(
    "name",
    [
        "search.direct",
        "search.browse",
        "search.gateway",
        "search.bedrock-agent",
    ],
)
def test_a_search_event_is_a_call_on_behalf_of_the_callers_own_memory(
    name: str,
) -> None:
    custom = (
        {"bedrockAgentCoreToolName": "memory___search_memory"}
        if name == "search.gateway"
        else {}
    )
    seen: list[ToolCall] = []

    def answer(call: ToolCall) -> dict[str, Any]:
        seen.append(call)
        parse_search_request(call.arguments)
        return {}

    answer_tool_call(
        load_event(name),
        custom,
        {"memory": Identity(Scope("acme", "support"))},
        answer,
    )
    assert [call.scope for call in seen] == [Scope("acme", "support")]


def test_a_direct_caller_may_ask_for_a_context_block() -> None:
    seen: list[ToolCall] = []

    def answer(call: ToolCall) -> dict[str, Any]:
        seen.append(call)
        return {}

    event = load_event("search.context")
    answer_tool_call(event, {}, {}, answer)
    (call,) = seen
    assert call.tool == "get_context"
    assert parse_context_request(call.arguments).user_id == "u-42"
    refused = answer_tool_call({**event, "tool": "erase"}, {}, {}, answer)
    assert refused["error"]["field"] == "tool"
