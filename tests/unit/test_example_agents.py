"""The examples of plain OpenAI and of Bedrock agents, with written models on loopback."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from struct import pack
from typing import Any
from zlib import crc32

import boto3
import pytest
from botocore.stub import Stubber
from openai import OpenAI

from examples import bedrock_agent, openai_chat
from tests.support.deployment import action_group_event
from tests.support.loopback import LoopbackHandler, LoopbackServer
from tests.support.search_function import serve_search
from varve import Memory

TOLD = "I moved to Porto last week."
CREDENTIALS = {
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
    "region_name": "us-east-1",
}


class WrittenServer(LoopbackServer):
    """Answers each POST with what `reply` makes of its body."""

    def __init__(
        self,
        reply: Callable[[Any], bytes],
        content_type: str = "application/json",
    ) -> None:
        self.reply = reply
        self.content_type = content_type
        self.seen: list[Any] = []
        super().__init__(_WrittenHandler)


class _WrittenHandler(LoopbackHandler):
    def post(self) -> None:
        server: WrittenServer = self.server.owner  # type: ignore[attr-defined]
        server.seen.append(json.loads(self.body()))
        body = server.reply(server.seen[-1])
        self.answer(200, body, {"Content-Type": server.content_type})


def complete(body: Any) -> bytes:
    """Answer as OpenAI does: first a call of the tool, then with what the tool found."""
    last = body["messages"][-1]
    message: dict[str, Any] = {"role": "assistant", "content": last["content"]}
    if last["role"] == "user" and "which city" in last["content"].casefold():
        arguments = json.dumps({"queryText": "moved", "userId": "marco"})
        call = {"name": "search_memory", "arguments": arguments}
        calls = [{"id": "call-1", "type": "function", "function": call}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    completion = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
    }
    return json.dumps(completion).encode()


def test_plain_openai_recalls_calls_the_tool_and_keeps_turns(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    said = [{"role": "user", "content": "I moved to Braga."}]
    memory.save_context("m-1", said, user_id="marco")
    with WrittenServer(complete) as server:
        client = OpenAI(api_key="k", base_url=f"http://{server.address}/v1")
        openai_chat.Chat(client, "m", memory, "dana").reply(TOLD)
        chat = openai_chat.Chat(client, "m", memory, "dana")
        answer = chat.reply("Which city did I move to?")
        client.close()
    assert "Porto" in answer
    assert "Braga" not in answer  # the model named another user
    asked = server.seen[1]
    assert "Porto" in asked["messages"][0]["content"]
    assert asked["tools"][0]["function"]["name"] == "search_memory"
    turns = memory.search(memory_types=["turn"], user_id="dana").results
    assert len(turns) == 4


def encode_event(kind: str, payload: bytes) -> bytes:
    """Return one event of AWS's event streams."""
    headers = b""
    for name, value in ((":event-type", kind), (":message-type", "event")):
        headers += pack("!B", len(name)) + name.encode() + b"\x07"
        headers += pack("!H", len(value)) + value.encode()
    total = len(headers) + len(payload) + 16
    prelude = pack("!II", total, len(headers))
    message = prelude + pack("!I", crc32(prelude)) + headers + payload
    return message + pack("!I", crc32(message))


def test_a_bedrock_agent_searches_the_sessions_memory_and_turns_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(
        tmp_path, workspace="acme", agent="support", environment={}
    )
    with serve_search(tmp_path, monkeypatch) as search:

        def invoke(body: Any) -> bytes:
            attributes = body["sessionState"]["sessionAttributes"]
            asked = {"queryText": body["inputText"]}
            event = action_group_event(attributes, "AGENT12345", asked)
            found = search(event)["response"]["functionResponse"]
            words = found["responseBody"]["TEXT"]["body"].encode()
            chunk = {"bytes": b64encode(words).decode()}
            return encode_event("chunk", json.dumps(chunk).encode())

        stream = "application/vnd.amazon.eventstream"
        with WrittenServer(invoke, stream) as server:
            client = boto3.client(
                "bedrock-agent-runtime",
                endpoint_url=f"http://{server.address}",
                **CREDENTIALS,
            )
            given = (client, "AGENT12345", "ALIAS12345", memory, "dana")
            bedrock_agent.Assistant(*given).reply(TOLD)
            answer = bedrock_agent.Assistant(*given).reply("Porto?")
            client.close()
    assert "Porto" in json.loads(answer)["results"][0]["content"]
    assert memory.search("Porto", user_id="dana").results
    assert not memory.search("Porto", user_id="marco").results


def test_the_action_group_takes_the_tools_own_schema() -> None:
    client = boto3.client("bedrock-agent", **CREDENTIALS)
    group = {
        "agentId": "AGENT12345",
        "agentVersion": "DRAFT",
        "actionGroupId": "GROUP12345",
        "actionGroupName": "memory",
        "createdAt": 1,
        "updatedAt": 1,
        "actionGroupState": "ENABLED",
    }
    prepared = {
        "agentId": "AGENT12345",
        "agentStatus": "PREPARED",
        "agentVersion": "DRAFT",
        "preparedAt": 1,
    }
    with Stubber(client) as stub:
        stub.add_response(
            "create_agent_action_group", {"agentActionGroup": group}
        )
        stub.add_response("prepare_agent", prepared)
        arn = "arn:aws:lambda:us-east-1:111122223333:function:search"
        bedrock_agent.add_tool(client, "AGENT12345", arn)
        stub.assert_no_pending_responses()
    described = bedrock_agent.describe_function()["parameters"]
    assert described["maxResults"]["type"] == "integer"
    assert len(described) <= 5
