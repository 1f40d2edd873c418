"""`varve COMMAND …`: parse, call the library, print; 0 done, 1 failed, 2 bad usage or input."""

import argparse
import io
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence

from varve.api.memory import Memory
from varve.cli import experience, knowledge, mcp, transfer
from varve.cli.arguments import SEARCH_ARGUMENTS, parser
from varve.cli.inputs import AT_ONCE, read_conversations
from varve.cli.operations import dlq
from varve.cli.output import (
    as_json,
    cleanup_lines,
    config_lines,
    say,
    search_lines,
    show_lines,
    status_lines,
)
from varve.domain.calendar import parse_instant
from varve.domain.conversation import Conversation
from varve.domain.errors import Misconfigured, Rejected, VarveError
from varve.domain.identity import Scope
from varve.wiring.sessions import Now

DEFAULT_ID = "default"
FAILED, BAD_INPUT = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What was said may hold any character, and a file's name bytes that are none.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(words)
    try:
        COMMANDS[options.command](options)
    except (Rejected, Misconfigured) as error:
        say(f"varve: {error}")
        return BAD_INPUT
    except VarveError as error:
        say(f"varve: {error}")
        return FAILED
    except KeyboardInterrupt:
        say("varve: interrupted")
        return FAILED
    except BrokenPipeError:
        # The reader of our output has gone; what is still buffered has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0


def open_memory(options: argparse.Namespace, scope: Scope | None = None) -> Memory:
    """The memory the common options name, or that of the scope under the same store."""
    workspace = scope.workspace if scope else options.workspace or DEFAULT_ID
    agent = scope.agent if scope else options.agent or DEFAULT_ID
    return Memory.open(
        options.store, workspace=workspace, agent=agent, now=_now(options.now)
    )


def ingest(options: argparse.Namespace) -> None:
    """Validate everything first, then take it in, agent by agent."""
    Scope(
        options.workspace or DEFAULT_ID, options.agent or DEFAULT_ID
    )  # a bad option is no file's fault
    by_scope: defaultdict[Scope, list[Conversation]] = defaultdict(list)
    for conversation in read_conversations(
        options.files, lambda c: c.in_scope(_scope_of(c, options))
    ):
        by_scope[conversation.scope].append(conversation)
    totals: dict[str, dict[str, int] | None] = {}
    for scope, conversations in by_scope.items():
        memory = open_memory(options, scope)
        for start in range(0, len(conversations), AT_ONCE):
            taken = conversations[start : start + AT_ONCE]
            _add(totals, memory.ingest(taken).to_dict())
            say(f"{scope}: {start + len(taken)} of {len(conversations)} conversations")
    print(as_json(totals) if options.json else _ingested(totals))


def search(options: argparse.Namespace) -> None:
    """Ask, or browse by time."""
    given = {name: getattr(options, name) for name in SEARCH_ARGUMENTS}
    response = open_memory(options).search(options.text, **given)
    print(
        as_json(response.to_dict())
        if options.json
        else "\n".join(search_lines(response))
    )


def show(options: argparse.Namespace) -> None:
    """One record and where it comes from."""
    shown = open_memory(options).show(options.id, depth=options.depth)
    print(as_json(shown) if options.json else "\n".join(show_lines(shown)))


def status(options: argparse.Namespace) -> None:
    """What memory holds."""
    held = open_memory(options).status()
    print(as_json(held) if options.json else "\n".join(status_lines(held)))


def summarize(options: argparse.Namespace) -> None:
    """The nightly summaries by hand."""
    done = open_memory(options).summarize(grain=options.grain)
    print(
        as_json(done)
        if options.json
        else ", ".join(f"{n} {what}" for what, n in done.items())
    )


def cleanup(options: argparse.Namespace) -> None:
    """The nightly cleanup by hand."""
    report = open_memory(options).cleanup(dry_run=options.dry_run, force=options.force)
    lines = cleanup_lines(report, dry_run=options.dry_run)
    print(as_json(report) if options.json else "\n".join(lines))


def config(options: argparse.Namespace) -> None:
    """The workspace's settings."""
    memory = open_memory(options)
    if options.action == "set":
        if options.key is None or options.value is None:
            raise Rejected("config set", "needs KEY and VALUE")
        settings = memory.configure(options.key, options.value)
    else:
        settings = memory.config()
    if options.action == "get" and options.key is None:
        raise Rejected("config get", "needs KEY")
    if options.key is not None:
        settings = {options.key: memory.setting(options.key)}
    print(as_json(settings) if options.json else "\n".join(config_lines(settings)))


def demo(options: argparse.Namespace) -> None:
    """The project's corpus, remembered and asked about."""
    from varve.cli.demo import run

    run(options, open_memory)


def graph(options: argparse.Namespace) -> None:
    """The triples."""
    from varve.cli.graph import run

    run(options, open_memory(options).graph)


def forget(options: argparse.Namespace) -> None:
    """Erasure, with a receipt."""
    from varve.cli.forgetting import run

    run(options, open_memory)


def evaluate(options: argparse.Namespace) -> None:
    """How much memory is worth, measured."""
    experience.evaluate(options, open_memory(options))


def _with_memory(
    verb: Callable[[argparse.Namespace, Memory], None],
) -> Callable[[argparse.Namespace], None]:
    return lambda options: verb(options, open_memory(options))


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "answers": _with_memory(experience.answers),
    "cleanup": cleanup,
    "config": config,
    "context": lambda options: knowledge.context(open_memory(options), options),
    "demo": demo,
    "dlq": dlq,
    "episode": _with_memory(experience.episode),
    "eval": evaluate,
    "export": lambda options: transfer.export(open_memory(options), options),
    "forget": forget,
    "graph": graph,
    "import": lambda options: transfer.import_(open_memory(options), options),
    "ingest": ingest,
    "lessons": _with_memory(experience.lessons),
    "mcp": lambda options: mcp.serve(open_memory(options), options),
    "profile": lambda options: knowledge.profile(open_memory(options), options),
    "recall": _with_memory(experience.recall),
    "reembed": lambda options: transfer.reembed(open_memory(options), options),
    "search": search,
    "show": show,
    "status": status,
    "summarize": summarize,
}


def _now(text: str | None) -> Now:
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        raise Rejected(
            "--now", f"{text[:40]!r} is not an ISO 8601 date and time"
        ) from error


def _scope_of(conversation: Conversation, options: argparse.Namespace) -> Scope:
    """The options' workspace and agent, else the conversation's own, else the default."""
    return Scope(
        options.workspace or conversation.workspace_id or DEFAULT_ID,
        options.agent or conversation.agent_id or DEFAULT_ID,
    )


def _add(
    totals: dict[str, dict[str, int] | None], one: dict[str, dict[str, int] | None]
) -> None:
    for part, counts in one.items():
        sums = totals.setdefault(part, None if counts is None else {})
        for name, count in (counts or {}).items():
            if sums is not None:
                sums[name] = sums.get(name, 0) + count


def _ingested(totals: dict[str, dict[str, int] | None]) -> str:
    accepted, stored = totals["accepted"] or {}, totals["stored"]
    line = f"accepted {accepted['conversations']} conversations, {accepted['messages']} messages"
    if stored is None:
        return f"{line}; they are on the ingest queue"
    line += (
        f"; new: {stored['messages']} messages, {stored['turns']} turns, {stored['facts']} facts, "
        f"{stored['tripleOperations']} triple operations"
    )
    ignored = stored["ignored"]
    return line + (
        f"; {ignored} messages came before with other words, which stay"
        if ignored
        else ""
    )
