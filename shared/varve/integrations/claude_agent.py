"""Claude Agent SDK: a session store that keeps words, and a hook that recalls.

Needs the extra `claude-agent`. Shapes: claude-agent-sdk 0.2.187, `SessionStore`.
Search is the MCP server's (`varve mcp`), which the SDK takes in `mcp_servers`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from claude_agent_sdk import SessionKey, SessionStore, SessionStoreEntry

from varve.api.memory import Memory
from varve.domain.context import DEFAULT_TOKENS
from varve.domain.conversation import SPOKEN
from varve.importers.claude_code import FORMAT, add_event
from varve.importers.items import Draft, ImportOptions, text_of, to_path_id
from varve.integrations.turns import Turn, TurnMemory

HOOK = "UserPromptSubmit"
"""The event for which `add_block` is the hook."""


class VarveSessionStore:
    """A `SessionStore` around another that stores the transcripts.

    The words of main transcripts are kept in memory, under the ids that
    `varve ingest --format claude-code` gives them. `add_block` puts a block of memory
    beside the prompt. Sessions that are deleted stay in memory; `Memory.forget` erases
    them. `user_id` None is the agent's whole memory.

    >>> store = VarveSessionStore(InMemorySessionStore(), memory, user_id="dana")
    >>> hooks = {"UserPromptSubmit": [HookMatcher(hooks=[store.add_block])]}
    >>> options = ClaudeAgentOptions(session_store=store, hooks=hooks)
    """

    def __init__(
        self,
        transcripts: SessionStore,
        memory: Memory,
        *,
        user_id: str | None,
        max_tokens: int = DEFAULT_TOKENS,
    ) -> None:
        self._transcripts = transcripts
        self._turns = TurnMemory(memory, max_tokens)
        self._user_id = user_id

    async def append(
        self, key: SessionKey, entries: list[SessionStoreEntry]
    ) -> None:
        """Store the entries, and keep the words of a main transcript."""
        await self._transcripts.append(key, entries)
        if "subpath" in key:
            return
        session = to_path_id(FORMAT, key["session_id"])
        turns = _make_turns(session, entries)
        await asyncio.to_thread(
            self._turns.keep, session, turns, self._user_id
        )

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return the entries of a transcript, or None if there is none."""
        found: list[SessionStoreEntry] | None = await self._transcripts.load(
            key
        )
        return found

    def __getattr__(self, name: str) -> Any:
        """Return an optional method of the wrapped store, if it defines one."""
        own = getattr(type(self._transcripts), name, None)
        if own is None or own is getattr(SessionStore, name, None):
            raise AttributeError(name)
        return getattr(self._transcripts, name)

    async def add_block(
        self, given: Mapping[str, Any], tool_use_id: str | None, context: Any
    ) -> dict[str, Any]:
        """Answer the hook `UserPromptSubmit` with the block that bears on the prompt."""
        block = await asyncio.to_thread(
            self._turns.recall, str(given["prompt"]), self._user_id
        )
        if not block:
            return {}
        added = {"hookEventName": HOOK, "additionalContext": block}
        return {"hookSpecificOutput": added}


def _make_turns(
    session: str, entries: Sequence[Mapping[str, Any]]
) -> list[Turn]:
    """Return the words of user and assistant; an entry without an id has none."""
    draft = Draft(FORMAT, session, session)
    options = ImportOptions(name=session)
    for entry in entries:
        uuid = text_of(entry.get("uuid"))
        if uuid and text_of(entry.get("type")) in SPOKEN:
            add_event(draft, entry, uuid, options)
    return draft.messages
