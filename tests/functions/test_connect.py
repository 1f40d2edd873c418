"""Memory.connect: boto3 over HTTP, the real handlers behind it, no right on the data."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.runtime_api import FunctionError
from tests.support.stack_api import StackApi
from varve import AsyncMemory, Memory, Misconfigured, Rejected, Retryable
from varve.api.connected import ConnectedMemory
from varve.api.ingest_calls import CALL_BYTES, MOST_CALL_BYTES
from varve.domain.allowance import FilterLimit, PartlyFiltered
from varve.domain.conversation import MAX_MESSAGE_BYTES, parse_conversation
from varve.integrations.turns import TurnMemory
from varve.usecases.ingest.ingest import IngestOutcome, read_event

CONTEXT: Any = SimpleNamespace(
    function_name="f",
    memory_limit_in_mb=1,
    invoked_function_arn="a",
    aws_request_id="r",
    client_context=None,
)
POLICIES = Path(__file__).parents[2] / "policies"
WORDS = "I moved to Porto last week."


def say(user: str, *texts: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"conversationId": user, "userId": user, "messages": messages}


@pytest.fixture
def local(tmp_path: Path) -> Memory:
    memory = Memory.open(
        tmp_path, workspace="acme", agent="support", environment={}
    )
    memory.ingest([say("dana", WORDS), say("marco", "I moved to Braga.")])
    memory.set_profile("name", "Dana", user_id="dana")
    return memory


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StackApi]:
    """SearchFunction and ForgetFunction on the local store; a recorder for ingest."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Varve")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    monkeypatch.setenv("VARVE_STORE", str(tmp_path))
    apps = {
        "SearchFunction": importlib.import_module("functions.search.app"),
        "ForgetFunction": importlib.import_module("functions.forget.app"),
    }
    functions: dict[str, Any] = {}
    for logical, app in apps.items():
        app.sessions.cache_clear()
        functions[logical] = lambda event, app=app: app.lambda_handler(
            event, CONTEXT
        )
    with StackApi("varve", functions) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server
    for app in apps.values():
        app.sessions.cache_clear()


@pytest.fixture
def memory(api: StackApi) -> Memory:
    return Memory.connect("varve", workspace="acme", agent="support")


def test_reading_answers_as_the_open_store_does(
    memory: Memory, local: Memory, api: StackApi
) -> None:
    asked: dict[str, Any] = {"max_results": 3, "user_id": "dana"}
    found = memory.search("Where do I live?", since="2020-01-01", **asked)
    ids = [one.id for one in found.results]
    expected = local.search("Where do I live?", since="2020-01-01", **asked)
    assert ids == [one.id for one in expected.results]
    assert "Porto" in found.results[0].content
    block = memory.context("Which city did I move to?", user_id="dana")
    assert block.head == local.context("city", user_id="dana").head
    assert "Porto" in block.text
    start = memory.load_context(user_id="marco", max_tokens=200)
    assert start.ids == local.load_context(user_id="marco", max_tokens=200).ids
    assert {name for _, name in api.seen} == {
        "varve",
        "varve-SearchFunction-1A2B",
    }


def connect_to_ingest(api: StackApi) -> tuple[Memory, list[Any]]:
    """Connect to a stack that accepts conversations; return also what it was sent."""
    sent: list[Any] = []

    def accept(event: Any) -> Any:
        sent.extend(event["conversations"])
        return {"accepted": {"conversations": 1, "messages": 1}}

    api.outputs["IngestFunctionName"] = "ingest"
    api.functions["ingest"] = accept
    again = Memory.connect("varve", workspace="acme", agent="support")
    return again, sent


def test_a_correction_belongs_to_the_user_of_the_record(
    memory: Memory, local: Memory, api: StackApi
) -> None:
    again, sent = connect_to_ingest(api)
    found = again.search("Porto", user_id="dana", memory_types=["fact"])
    known = found.results[0].id
    assert again.get(known) == local.get(known)
    again.correct(known, "I live in Faro.")
    local.ingest(sent)
    assert [one["userId"] for one in sent] == ["dana"]
    lives = local.search("Where do I live?", user_id="dana")
    assert "Faro" in lives.results[0].content
    with pytest.raises(Rejected, match="no record"):
        again.correct("fact-none", "It is green.")


def test_a_correction_back_to_earlier_words_holds(
    memory: Memory, local: Memory, api: StackApi
) -> None:
    again, sent = connect_to_ingest(api)
    local.ingest(say("nils", "Our standup is at 9:30."))
    found = memory.search("standup", user_id="nils", memory_types=["turn"])
    for time in ("10:00", "9:30", "10:00"):
        again.correct(found.results[0].id, f"Our standup is at {time}.")
    for _ in range(2):
        local.ingest(sent)
        (held,) = local.search("When is our standup?", user_id="nils").results
        assert "10:00" in held.content


@pytest.mark.usefixtures("local")
def test_the_frameworks_adapters_recall_over_it(memory: Memory) -> None:
    recalled = TurnMemory(memory).recall("Which city did I move to?", "dana")
    assert "Porto" in recalled
    assert "Braga" not in recalled


def test_erasure_by_the_function_reaches_the_store(
    memory: Memory, local: Memory
) -> None:
    assert memory.forget(user="dana", dry_run=True)["dryRun"]
    memory.delete(user_id="dana")
    assert not local.search("Porto", user_id="dana").results
    assert local.search("Braga", user_id="marco").results
    with pytest.raises(Rejected, match="query"):
        memory.forget(query="Braga")


def test_what_a_function_refuses_is_rejected_with_its_field(
    memory: Memory,
) -> None:
    with pytest.raises(Rejected) as refused:
        memory.forget(ids=["fact-1"], verify="yes")  # type: ignore[arg-type]
    assert refused.value.field == "verify"
    with pytest.raises(Rejected, match="max_results"):
        memory.search("Porto", max_results=1_000)


def test_other_verbs_say_that_they_need_the_store(memory: Memory) -> None:
    answered = {
        name for name in vars(ConnectedMemory) if not name.startswith("_")
    }
    answered |= {"answer", "search", "context", "save_context"}
    needed: dict[str, dict[str, Any]] = {
        "show": {"record_id": "fact-1"},
        "recall_experience": {"situation": "a printer"},
    }
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        parameters = list(inspect.signature(method).parameters.values())[1:]
        bare = all(one.default is not one.empty for one in parameters)
        if name.startswith("_") or name in answered:
            continue
        if bare or name in needed:
            filters = {"where": {"a": 1}} if name == "delete" else {}
            with pytest.raises(Rejected, match="connected to the stack varve"):
                getattr(memory, name)(**needed.get(name, filters))


def test_a_stack_that_is_not_there_or_is_another_is_misconfigured(
    api: StackApi,
) -> None:
    with pytest.raises(Misconfigured, match="stack other: ValidationError"):
        Memory.connect("other")
    api.outputs = {"BucketName": "b"}
    with pytest.raises(Misconfigured, match="no output"):
        Memory.connect("varve")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Misconfigured", Misconfigured),
        ("Retryable", Retryable),
        ("Sandbox.Timedout", Retryable),
    ],
)
def test_a_function_that_fails_says_what_to_do(
    memory: Memory, api: StackApi, kind: str, expected: type[Exception]
) -> None:
    def fail(event: Any) -> None:
        raise FunctionError(kind, "no model")

    api.functions = dict.fromkeys(api.functions, fail)
    with pytest.raises(expected, match="SearchFunction"):
        memory.search("Porto")


def test_many_conversations_go_in_calls_that_lambda_takes(
    memory: Memory, api: StackApi
) -> None:
    events: list[Any] = []

    def accept(event: Any) -> Any:
        events.append(event["conversations"])
        messages = sum(len(one["messages"]) for one in events[-1])
        counts = {"conversations": len(events[-1]), "messages": messages}
        partly = {"conversationId": "c-0", "message": 0, "limit": "time"}
        return {"accepted": counts, "partlyFiltered": [partly]}

    api.outputs["IngestFunctionName"] = "ingest"
    api.functions["ingest"] = accept
    long = "word " * (MAX_MESSAGE_BYTES // 5)
    sent = [say(f"c-{number}", long) for number in range(5)]
    again = Memory.connect("varve", workspace="acme", agent="support")
    outcome = again.ingest(sent).accepted
    assert [len(one) for one in events] == [3, 2]
    assert (outcome.conversations, outcome.messages) == (5, 5)
    assert len(outcome.partly_filtered) == 2
    first = events[0][0]
    assert (first["workspaceId"], first["agentId"]) == ("acme", "support")
    assert first["messages"][0]["id"]


def connect_recorder(api: StackApi, events: list[Any]) -> Memory:
    """Return a memory over an IngestFunction that validates and notes its events."""

    def accept(event: Any) -> Any:
        given = read_event(event, datetime.now(UTC))
        events.append(given)
        partly = [
            PartlyFiltered(one.conversation_id, 0, FilterLimit.TIME)
            for one in given
        ]
        messages = sum(len(one.messages) for one in given)
        return IngestOutcome(
            len(given), messages, partly_filtered=tuple(partly)
        ).to_dict()

    api.outputs["IngestFunctionName"] = "ingest"
    api.functions["ingest"] = accept
    return Memory.connect("varve", workspace="acme", agent="support")


def test_a_long_conversation_goes_in_parts_that_repeat_their_context(
    memory: Memory, api: StackApi
) -> None:
    events: list[Any] = []
    texts = [f"{n} " + "x" * 200_000 for n in range(45)]
    given = parse_conversation(say("c-9", *texts))
    outcome = connect_recorder(api, events).ingest(given).accepted
    parts = [one for (one,) in events]
    ids = [[one.id for one in part.messages] for part in parts]
    assert len(parts) == 3
    assert ids[0][-4:] == ids[1][:4]
    assert ids[1][-4:] == ids[2][:4]
    assert [*ids[0], *ids[1][4:], *ids[2][4:]] == [
        one.id for one in given.messages
    ]
    assert (outcome.conversations, outcome.messages) == (1, 45)
    assert {part.user_id for part in parts} == {"c-9"}
    # That of a repeated message was told with the first part.
    assert [one.message for one in outcome.partly_filtered] == [0]


def test_what_a_function_refuses_in_a_later_part_has_its_place_in_the_whole(
    memory: Memory, api: StackApi
) -> None:
    again = connect_recorder(api, [])
    accept = api.functions["ingest"]

    def refuse(event: Any) -> Any:
        if "42 " in event["conversations"][0]["messages"][-1]["content"]:
            error = {"field": "messages[4].content", "reason": "is blocked"}
            return {"error": error}
        return accept(event)

    api.functions["ingest"] = refuse
    texts = [f"{n} " + "x" * 200_000 for n in range(43)]
    with pytest.raises(Rejected, match="is blocked") as refused:
        again.ingest(say("c-9", *texts))
    assert refused.value.field == "messages[34].content"


def test_a_message_that_no_call_takes_is_refused_before_any_is_sent(
    memory: Memory, api: StackApi
) -> None:
    events: list[Any] = []
    again = connect_recorder(api, events)
    large = say("c-9", "small", "also small")
    large["messages"][1]["attachment"] = "x" * MOST_CALL_BYTES
    with pytest.raises(Rejected, match="bytes as JSON") as refused:
        again.ingest([say("c-8", WORDS), large])
    assert refused.value.field == "[1].messages[1]"
    assert events == []


def test_a_message_larger_than_a_call_should_be_travels_alone(
    memory: Memory, api: StackApi
) -> None:
    events: list[Any] = []
    long = say("c-9", "one", "two", "three")
    long["messages"][1]["attachment"] = "x" * (CALL_BYTES + 1_000_000)
    connect_recorder(api, events).ingest(long)
    texts = [[one.text for one in part.messages] for (part,) in events]
    assert texts == [["one"], ["two"], ["three"]]


def test_the_callers_policy_allows_what_it_calls_and_nothing_else(
    memory: Memory, api: StackApi
) -> None:
    memory.search("Porto")
    memory.forget(user="nobody", dry_run=True)
    policies = {
        name: json.loads((POLICIES / f"{name}.json").read_text("utf-8"))
        for name in ("caller", "eraser")
    }
    (find, use) = policies["caller"]["Statement"]
    (erase,) = policies["eraser"]["Statement"]
    allowed = [(one["Action"], one["Resource"]) for one in (find, use, erase)]
    actions = {action for action, _ in allowed}
    assert actions == {
        "cloudformation:DescribeStacks",
        "lambda:InvokeFunction",
    }
    for action, name in api.seen:
        statement = erase if "Forget" in name else use
        if action == find["Action"]:
            statement = find
        resources = str(statement["Resource"])
        assert statement["Action"] == action
        assert re.sub("-1A2B$", "-*", name) in resources


@pytest.mark.usefixtures("local")
def test_an_asynchronous_program_connects_too(api: StackApi) -> None:
    async def ask() -> list[str]:
        connecting = AsyncMemory.connect(
            "varve", workspace="acme", agent="support"
        )
        async with await connecting as memory:
            found = await memory.search("Porto")
            await memory.forget(user="nobody", dry_run=True)
        return [one.content for one in found.results]

    assert any("Porto" in content for content in asyncio.run(ask()))
