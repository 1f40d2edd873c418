"""The two things that every framework's adapter does: recall before a turn, keep after it.

A failure of memory is logged without content and never ends the agent's turn.
"""

import logging
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from varve.api.memory import Memory
from varve.domain.context import DEFAULT_TOKENS, MAX_PROMPT_CHARACTERS
from varve.domain.errors import Rejected, VarveError
from varve.domain.identity import digest, path_id, reference

MAX_CONVERSATIONS = 1_000
"""Conversations whose kept message ids a process remembers."""
MAX_BLOCKS = 64
"""Turns whose block a process remembers, for the further model calls of the turn."""

Turn = dict[str, Any]
"""One message of the contract's JSON."""

_log = logging.getLogger("varve.integrations")


@dataclass
class TurnMemory:
    """Recalls blocks from a memory and keeps turns in it.

    `max_tokens` bounds a block. Threads may share an object.
    """

    memory: Memory
    max_tokens: int = DEFAULT_TOKENS
    _kept: OrderedDict[str, set[str]] = field(
        default_factory=OrderedDict, repr=False
    )
    _blocks: OrderedDict[Hashable, str] = field(
        default_factory=OrderedDict, repr=False
    )
    _lock: Lock = field(default_factory=Lock, repr=False)

    def recall(
        self, prompt: str, user_id: str | None, *, turn: Hashable = None
    ) -> str:
        """Return the block to put before a prompt; empty if nothing bears on it.

        With `turn`, the further calls of this turn return the same block, so that the
        prompt's beginning stays equal. Empty as well if memory fails.
        """
        key = (turn, user_id, prompt)
        known = self._blocks.get(key) if turn is not None else None
        if known is not None:
            return known
        with tolerate("recall"):
            block = self.memory.context(
                prompt[-MAX_PROMPT_CHARACTERS:],
                max_tokens=self.max_tokens,
                user_id=user_id,
            )
            self._remember_block(key, str(block))
            return str(block)
        return ""

    def keep(
        self, conversation_id: str, turns: Iterable[Turn], user_id: str | None
    ) -> None:
        """Take in the turns that this process has not kept yet, in order.

        A turn that could not be kept is tried again with the next one, if the framework
        still has it.
        """
        name = make_conversation_id(conversation_id)
        known = self._kept.get(name, set())
        new = [turn for turn in turns if turn["id"] not in known]
        if not new:
            return
        with tolerate("keep"):
            store_turns(self.memory, name, new, user_id)
            self._remember_kept(name, new)

    def _remember_block(self, key: Hashable, block: str) -> None:
        with self._lock:
            self._blocks[key] = block
            while len(self._blocks) > MAX_BLOCKS:
                self._blocks.popitem(last=False)

    def _remember_kept(self, name: str, turns: Sequence[Turn]) -> None:
        with self._lock:
            kept = self._kept.setdefault(name, set())
            kept.update(turn["id"] for turn in turns)
            self._kept.move_to_end(name)
            while len(self._kept) > MAX_CONVERSATIONS:
                self._kept.popitem(last=False)


def make_turn(
    role: str,
    text: str,
    message_id: str,
    *,
    name: str | None = None,
    at: datetime | None = None,
) -> Turn:
    """Return a message of the contract; `message_id` may be any string."""
    turn: Turn = {
        "id": _make_reference(message_id),
        "role": role,
        "content": text,
    }
    if name is not None:
        turn["name"] = name
    if at is not None:
        turn["timestamp"] = at.isoformat()
    return turn


def store_turns(
    memory: Memory,
    conversation_id: str,
    turns: Sequence[Turn],
    user_id: str | None,
) -> None:
    """Ingest turns of one conversation. Raises Rejected, Retryable, Misconfigured."""
    conversation: dict[str, Any] = {
        "conversationId": make_conversation_id(conversation_id),
        "messages": list(turns),
    }
    if user_id is not None:
        conversation["userId"] = user_id
    memory.ingest(conversation)


def make_conversation_id(value: str) -> str:
    """Return a framework's conversation id if it is valid, else a hash of it."""
    try:
        return path_id(value, "conversationId")
    except Rejected:
        return f"c-{digest(value, length=24)}"


def require_user(value: object) -> str:
    """Return the user that an application's function named.

    Raises Rejected: it named none. Without this check memory would be searched for all
    users.
    """
    if not isinstance(value, str):
        raise Rejected("user_id", "the function must return a user's id")
    return reference(value, "user_id")


@contextmanager
def tolerate(act: str) -> Iterator[None]:
    """Log an error of memory by its type and field, and let the agent's turn go on."""
    try:
        yield
    except Rejected as error:
        _log.warning("memory could not %s: Rejected, %s", act, error.field)
    except VarveError as error:
        _log.warning("memory could not %s: %s", act, type(error).__name__)


def _make_reference(value: str) -> str:
    try:
        return reference(value, "id")
    except Rejected:
        return f"m-{digest(value, length=24)}"
