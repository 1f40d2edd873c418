"""The memory that a command's options name."""

import argparse
import os

from varve.api.memory import Memory
from varve.domain.calendar import parse_instant
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.wiring.sessions import Now

DEFAULT_ID = "default"


def open_memory(
    options: argparse.Namespace, scope: Scope | None = None
) -> Memory:
    """Open the memory of `scope`, by default that of `--workspace` and `--agent`."""
    chosen = scope or choose_scope(options)
    return Memory.open(
        options.store,
        workspace=chosen.workspace,
        agent=chosen.agent,
        now=_parse_now(options.now),
    )


def choose_scope(
    options: argparse.Namespace, conversation: Conversation | None = None
) -> Scope:
    """Return the scope of the options, else the conversation's own, else the default.

    The default is VARVE_WORKSPACE and VARVE_AGENT, then `default`.

    Raises Rejected: workspace or agent is not a valid id.
    """
    workspace = options.workspace
    agent = options.agent
    if conversation is not None:
        workspace = workspace or conversation.workspace_id
        agent = agent or conversation.agent_id
    return Scope(
        workspace or os.environ.get("VARVE_WORKSPACE") or DEFAULT_ID,
        agent or os.environ.get("VARVE_AGENT") or DEFAULT_ID,
    )


_PLACES = {
    "store": "--store",
    "workspace": "--workspace",
    "agent": "--agent",
    "user": "--user",
    "user_id": "--user",
    "conversation": "--conversation",
    "conversation_id": "--conversation",
}
"""Options that say whose memory a command is about, by their names in the namespace."""


def require_places(options: argparse.Namespace) -> None:
    """Raise Rejected if an option that says whose memory it is was given empty.

    A shell's variable that is not set would else widen the command to another memory.
    """
    for name, option in _PLACES.items():
        if getattr(options, name, None) == "":
            raise Rejected(option, "is empty; give a value or leave it out")


def fill_in_user(options: argparse.Namespace) -> None:
    """Take the user from VARVE_USER where a command pins one and none is given.

    `forget` is left alone: its user is the one to erase.
    """
    if options.command == "forget":
        return
    for name in ("user", "user_id"):
        if getattr(options, name, "") is None:
            setattr(options, name, os.environ.get("VARVE_USER") or None)


class OpenedMemories:
    """The memories that one command has opened, by their scopes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.by_scope: dict[Scope, Memory] = {}

    @property
    def opened(self) -> list[Memory]:
        """The memories opened so far."""
        return list(self.by_scope.values())

    def open(self, conversation: Conversation | None = None) -> Memory:
        """Open a conversation's memory, or the one that the options name.

        Raises Rejected: workspace or agent is not a valid id.
        """
        scope = choose_scope(self._options, conversation)
        if scope not in self.by_scope:
            self.by_scope[scope] = open_memory(self._options, scope)
        return self.by_scope[scope]


def _parse_now(text: str | None) -> Now:
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        reason = f"{text[:40]!r} is not an ISO 8601 date and time"
        raise Rejected("--now", reason) from error
