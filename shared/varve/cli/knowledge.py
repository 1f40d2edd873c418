"""`varve context` and `varve profile`: their words on the command line, and what they print."""

import argparse
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.output import as_json, say
from varve.domain.errors import Rejected


def add_context(command: argparse.ArgumentParser) -> None:
    """The arguments of `varve context`."""
    command.add_argument(
        "text", metavar="TEXT", help="the prompt that the block is for"
    )
    command.add_argument("--max-tokens", metavar="N", type=int, help="default: 1000")
    command.add_argument(
        "--user", metavar="U", dest="user_id", help="only what concerns this user"
    )
    command.add_argument(
        "--document", metavar="FILE", dest="documents", action="append", default=[],
        help="a text to choose passages from, too; may be given several times",
    )  # fmt: skip


def add_profile(command: argparse.ArgumentParser) -> None:
    """The arguments of `varve profile`."""
    command.add_argument("action", choices=["show", "set"])
    command.add_argument("key", nargs="?", metavar="KEY")
    command.add_argument(
        "value", nargs="?", metavar="VALUE", help="empty to end what it has"
    )
    command.add_argument(
        "--user", metavar="U", dest="user_id", help="default: those without a name"
    )


def context(memory: Memory, options: argparse.Namespace) -> None:
    """The block on stdout, and nothing there where nothing is injected."""
    block = memory.context(
        options.text,
        max_tokens=options.max_tokens,
        user_id=options.user_id,
        documents=[_read(name) for name in options.documents],
    )
    if options.json:
        print(as_json(block.to_dict()))
    elif block.empty:
        say(f"nothing to inject: {block.reason}")
    else:
        print(block)


def profile(memory: Memory, options: argparse.Namespace) -> None:
    """A user's attributes, or one of them set."""
    if options.action == "set":
        if options.key is None or options.value is None:
            raise Rejected("profile set", "needs KEY and VALUE")
        memory.set_profile(options.key, options.value, user_id=options.user_id)
    elif options.key is not None:
        raise Rejected("profile show", "takes no KEY")
    shown = memory.profile(user_id=options.user_id)
    print(as_json(shown) if options.json else "\n".join(profile_lines(shown)))


def profile_lines(shown: dict[str, Any]) -> list[str]:
    """A line for each attribute, with its date and where it was said."""
    lines = [
        f"{shown['userId']}: {len(shown['attributes'])} attributes, {len(shown['history'])} statements"
    ]
    for held in shown["attributes"]:
        source = held["conversationId"] or "set by hand"
        lines.append(
            f"  {held['key']:<16}{held['value']}  ({held['since'][:10]}, {source})"
        )
    return lines


def _read(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise Rejected(
            name, f"cannot be read as UTF-8 text ({type(error).__name__})"
        ) from error
