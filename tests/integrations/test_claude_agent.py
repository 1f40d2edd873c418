"""Claude Agent SDK with our session store: its own suite, and its agent on a written model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

pytest.importorskip(
    "claude_agent_sdk",
    reason="make test-integrations installs claude-agent-sdk",
)

from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookMatcher,
    InMemorySessionStore,
    ResultMessage,
    query,
)
from claude_agent_sdk.testing import run_session_store_conformance

from tests.integrations.contract import REPLY, AdapterContract, open_memory
from tests.support.loopback import LoopbackHandler, LoopbackServer
from varve import Memory
from varve.integrations.claude_agent import VarveSessionStore


class _ApiHandler(LoopbackHandler):
    """Anthropic's Messages API as a stream of one written reply."""

    def post(self) -> None:
        api: WrittenApi = self.server.owner  # type: ignore[attr-defined]
        asked = json.loads(self.body())
        if not self.path.startswith("/v1/messages?"):
            self.answer(404)
            return
        api.seen.append(json.dumps(asked["messages"], ensure_ascii=False))
        self.answer(
            200, _stream(asked["model"]), {"Content-Type": "text/event-stream"}
        )


def _stream(model: str) -> bytes:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": REPLY}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
         "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]  # fmt: skip
    lines = [
        f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events
    ]
    return "".join(lines).encode()


class WrittenApi(LoopbackServer):
    def __init__(self) -> None:
        self.seen: list[str] = []
        super().__init__(_ApiHandler)


@contextmanager
def serve_model(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WrittenApi]:
    """Give the SDK's program a home of its own, and a written model on loopback."""
    home.mkdir()
    with WrittenApi() as server:
        for name, value in {
            "ANTHROPIC_API_KEY": "sk-ant-test",
            "ANTHROPIC_BASE_URL": f"http://{server.address}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CONFIG_DIR": str(home),
            "HOME": str(home),
        }.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture(autouse=True)
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serve_model(tmp_path / "home", monkeypatch) as server:
        ClaudeTalker.api = server
        yield


class ClaudeTalker:
    api: WrittenApi

    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.memory = memory
        self.user = user
        self.entries = InMemorySessionStore()
        self.store = VarveSessionStore(self.entries, memory, user_id=user)
        self.session = str(uuid5(NAMESPACE_URL, conversation))
        self.turns = 0

    async def say(self, text: str) -> str:
        started = len(self.api.seen)
        which = (
            {"resume": self.session}
            if self.turns
            else {"session_id": self.session}
        )
        options = ClaudeAgentOptions(
            tools=[],
            setting_sources=[],
            session_store=self.store,
            hooks={
                "UserPromptSubmit": [HookMatcher(hooks=[self.store.add_block])]
            },
            **which,
        )
        said = ""
        async for message in query(prompt=text, options=options):
            if isinstance(message, ResultMessage):
                said = message.result or ""
        self.turns += 1
        self.seen += self.api.seen[started:]
        return said

    async def repeat(self) -> None:
        # Another process has no list of the kept turns.
        other = VarveSessionStore(
            InMemorySessionStore(), self.memory, user_id=self.user
        )
        (project,) = {key.split("/")[0] for key in self.entries._store}
        key: Any = {"project_key": project, "session_id": self.session}
        await other.append(key, await self.store.load(key) or [])


class TestClaudeAgent(AdapterContract):
    make_talker = ClaudeTalker


def test_it_passes_the_sdks_fourteen_contracts(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)

    def make_store() -> Any:
        return VarveSessionStore(
            InMemorySessionStore(), memory, user_id="dana"
        )

    asyncio.run(run_session_store_conformance(make_store))


def test_a_store_without_optional_methods_stays_without(
    tmp_path: Path,
) -> None:
    class Least:
        async def append(self, key: Any, entries: Any) -> None: ...

        async def load(self, key: Any) -> None: ...

    least: Any = Least()
    store: Any = VarveSessionStore(least, open_memory(tmp_path), user_id=None)
    assert not hasattr(store, "delete")
    whole = VarveSessionStore(InMemorySessionStore(), store, user_id=None)
    assert hasattr(whole, "list_subkeys")
