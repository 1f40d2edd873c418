"""`varve context` and `varve profile`: what an agent puts before a prompt."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.elsewhere import name_other_memories
from varve.cli.output import format_count, print_result, say
from varve.cli.reading import add_agents
from varve.domain.errors import Rejected, rename_field
from varve.domain.profile import DEFAULT_USER

_OPTION_NAMES = {
    "prompt": "TEXT",
    "max_tokens": "--max-tokens",
    "window_fraction": "--window-fraction",
    "user_id": "--user",
    "agents": "--agents",
}
"""The options of `varve context` as they are typed, by the names that errors give them."""


def add_context(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve context`."""
    command.add_argument(
        "text", metavar="TEXT", help="prompt that the block is for"
    )
    command.add_argument(
        "--max-tokens",
        metavar="N",
        type=int,
        help="tokens of the block at most; default: 1000",
    )
    command.add_argument(
        "--window-fraction",
        metavar="F",
        type=float,
        help="share of the model's window that the block may take, such as 0.05",
    )
    command.add_argument(
        "--user",
        metavar="U",
        dest="user_id",
        help="only memories of this user",
    )
    add_agents(command)
    command.add_argument(
        "--document",
        metavar="FILE",
        dest="documents",
        action="append",
        default=[],
        help="text file to choose passages from; may be repeated",
    )


def context(options: argparse.Namespace, memory: Memory) -> None:
    """Print the block; without one print the reason on standard error."""
    documents = [_read_text(name) for name in options.documents]
    with rename_field(_OPTION_NAMES):
        block = memory.context(
            options.text,
            max_tokens=options.max_tokens,
            window_fraction=options.window_fraction,
            user_id=options.user_id,
            documents=documents,
            agents=options.agents,
        )
    if block.empty and not options.json:
        reason = (block.reason or "").replace("max_tokens=", "--max-tokens ")
        say(f"nothing to inject: {reason}")
        name_other_memories(memory)
        return
    print_result(options, block.to_dict(), [str(block)])


def _read_text(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = f"cannot be read as UTF-8 text ({type(error).__name__})"
        raise Rejected(name, reason) from error


def add_profile(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve profile`."""
    command.add_argument(
        "action",
        choices=["show", "set"],
        help="show all attributes, or set KEY VALUE",
    )
    command.add_argument(
        "key", nargs="?", metavar="KEY", help="attribute, such as location"
    )
    command.add_argument(
        "value",
        nargs="?",
        metavar="VALUE",
        help="new value; an empty value ends the present ones",
    )
    command.add_argument(
        "--user",
        metavar="U",
        dest="user_id",
        help="user; default: the profile of messages without a user id",
    )


def profile(options: argparse.Namespace, memory: Memory) -> None:
    """Print a user's attributes; with `set` change one first."""
    if options.action == "set":
        if options.key is None or options.value is None:
            raise Rejected("profile set", "needs KEY and VALUE")
        memory.set_profile(options.key, options.value, user_id=options.user_id)
    elif options.key is not None:
        raise Rejected("profile show", "takes no KEY")
    shown = memory.profile(user_id=options.user_id)
    print_result(options, shown, _format_profile(shown))


def _format_profile(shown: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each attribute, with its date and its conversation."""
    attributes = format_count(len(shown["attributes"]), "attribute")
    statements = format_count(len(shown["history"]), "statement")
    user = shown["userId"]
    whose = "messages without a user id" if user == DEFAULT_USER else user
    yield f"{whose}: {attributes}, {statements}"
    for held in shown["attributes"]:
        source = held["conversationId"] or "set by hand"
        since = held["since"][:10]
        of = f"  of {held['name']}" if "name" in held else ""
        yield f"  {held['key']:<16}{held['value']}{of}  ({since}, {source})"
