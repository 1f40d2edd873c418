"""The parser of `varve COMMAND …`: one row a command."""

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from varve import __version__
from varve.cli.analytics import add_publish, add_sql
from varve.cli.completion import add_completion
from varve.cli.costs import add_costs
from varve.cli.demo import add_demo
from varve.cli.doctor import add_doctor
from varve.cli.evaluation import add_eval
from varve.cli.experience import add_answers, add_episode, add_recall
from varve.cli.forgetting import add_forget
from varve.cli.graph import add_graph
from varve.cli.ingestion import add_ingest
from varve.cli.lessons import add_lessons
from varve.cli.look import add_look
from varve.cli.maintenance import add_cleanup, add_config, add_summarize
from varve.cli.mcp import add_mcp
from varve.cli.notes import add_note
from varve.cli.operations import add_dlq
from varve.cli.prompt import add_context, add_profile
from varve.cli.reading import add_search, add_show
from varve.cli.report import add_report
from varve.cli.review import add_review
from varve.cli.sharing import add_share
from varve.cli.standing import add_status
from varve.cli.telling import add_correct, add_remember
from varve.cli.tool_schema import add_tool_schema
from varve.cli.transfer import add_export, add_import, add_reembed

AddArguments = Callable[[argparse.ArgumentParser], None]

_BAD_CHOICE = re.compile(
    r"argument COMMAND: invalid choice: '(.{1,80}?)'", re.DOTALL
)

_COMMANDS: list[tuple[str, str, AddArguments | None]] = [
    ("demo", "ingest a sample corpus and ask ten questions", add_demo),
    (
        "ingest",
        "store conversations, of Varve's or a foreign format",
        add_ingest,
    ),
    (
        "search",
        "search memory; without TEXT list the newest memories",
        add_search,
    ),
    ("context", "print the memory block to put before a prompt", add_context),
    ("profile", "show or set a user's stable attributes", add_profile),
    ("agents", "list the workspace's agents with what each remembers", None),
    ("show", "show a record and its sources, level by level", add_show),
    (
        "status",
        "show how much memory holds, and the periods that are due or failed",
        add_status,
    ),
    (
        "look",
        "open memory as read-only pages on loopback, or write them as files",
        add_look,
    ),
    (
        "summarize",
        "build the summaries that are due, daily ones first",
        add_summarize,
    ),
    (
        "cleanup",
        "delete the periods whose retention limit has passed",
        add_cleanup,
    ),
    (
        "forget",
        "erase a user, a conversation, records or the matches of a query, and print "
        "a receipt",
        add_forget,
    ),
    ("config", "show or set the workspace's configuration", add_config),
    ("costs", "show what agents have used, with estimated dollars", add_costs),
    (
        "doctor",
        "examine store, queues, role, clock and models, and say what mends them",
        add_doctor,
    ),
    ("report", "print a workspace's month as Markdown", add_report),
    ("graph", "query the knowledge graph with SQL, or show it", add_graph),
    ("sql", "query the tables of the workspace's agents with SQL", add_sql),
    ("publish", "write the workspace's tables as Parquet files", add_publish),
    ("dlq", "list, show, redrive or drop dead letters", add_dlq),
    (
        "episode",
        "list, show or explain episodes, or record how one ended",
        add_episode,
    ),
    ("recall", "find past episodes and lessons for a situation", add_recall),
    ("lessons", "list, add, retire, curate or print lessons", add_lessons),
    ("answers", "list or evict prior answers", add_answers),
    (
        "eval",
        "compare this memory with flat vector search on scenarios",
        add_eval,
    ),
    ("export", "write an agent's memory to a directory", add_export),
    ("import", "add an exported memory to an agent's memory", add_import),
    ("remember", "remember one statement", add_remember),
    ("correct", "say what holds instead of a fact or turn", add_correct),
    ("note", "put, show, list or delete notes, texts at paths", add_note),
    (
        "review",
        "list statements to confirm, correct or erase",
        add_review,
    ),
    ("share", "let other agents read parts of this agent's memory", add_share),
    (
        "completion",
        "print a script that completes commands in a shell",
        add_completion,
    ),
    (
        "mcp",
        "serve the memory tools over MCP on standard input and output",
        add_mcp,
    ),
    (
        "tool-schema",
        "print the tools' definitions in the form of a model's API",
        add_tool_schema,
    ),
    (
        "reembed",
        "move the workspace's stores to another embedding model",
        add_reembed,
    ),
]
"""Name, help text and own arguments of each command, in the order of `varve --help`."""


class SuggestingParser(argparse.ArgumentParser):
    """A parser whose errors propose the command or option that was probably meant."""

    def parse_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> argparse.Namespace:
        """Return the arguments; print usage and the fault and exit with 2 if one is unknown."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown[0], options.command)
        return options

    def error(self, message: str) -> NoReturn:
        """Print usage and message, with a proposal for a command, and exit with 2."""
        found = _BAD_CHOICE.match(message)
        if found is not None:
            near = _propose(found[1], self._commands)
            message = (
                f"{found[1]!r} is not a command{near} (varve --help lists all)"
            )
        super().error(message)

    @property
    def _commands(self) -> dict[str, argparse.ArgumentParser]:
        """The parser of each command."""
        for action in self._actions:
            if isinstance(action.choices, dict):
                return action.choices
        return {}

    def _refuse(self, word: str, command: str) -> NoReturn:
        """Exit for a word that is not an argument of the command."""
        parser = self._commands[command]
        option = word.partition("=")[0][:80]
        if option.startswith("-"):
            near = _propose(option, parser._option_string_actions)
            parser.error(f"{option} is not an option of varve {command}{near}")
        parser.error(f"{option!r} is one argument too many")


def _propose(word: str, known: Iterable[str]) -> str:
    """Return the known word that this one resembles or begins, as the end of a message."""
    bare = word.lstrip("-")
    by_name = {name.lstrip("-"): name for name in known}
    near = get_close_matches(bare, by_name, 1)
    if not near and bare:
        near = [name for name in by_name if name.startswith(bare)]
    return f"; did you mean {by_name[near[0]]!r}?" if near else ""


def build_parser() -> argparse.ArgumentParser:
    """Build the parser; it exits with 2 on a usage error."""
    root = SuggestingParser(
        prog="varve",
        description="Long-term memory for AI agents.",
        epilog="Options come after the command; `varve COMMAND --help` lists them.",
        allow_abbrev=False,
    )
    root.add_argument(
        "--version", action="version", version=f"varve {__version__}"
    )
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", required=True
    )
    common = _build_common_options()
    for name, words, add_arguments in _COMMANDS:
        command = commands.add_parser(
            name,
            help=words,
            description=words,
            parents=[common],
            allow_abbrev=False,
        )
        if add_arguments is not None:
            add_arguments(command)
    return root


def _build_common_options() -> SuggestingParser:
    common = SuggestingParser(add_help=False)
    common.add_argument(
        "--store",
        metavar="PATH|URI",
        help="directory or s3://bucket/prefix; default: VARVE_STORE, then ./memory",
    )
    common.add_argument(
        "--workspace", metavar="W", help="workspace; default: default"
    )
    common.add_argument("--agent", metavar="A", help="agent; default: default")
    common.add_argument(
        "--now", metavar="T", help="time to use as the present, ISO 8601"
    )
    common.add_argument(
        "--json",
        action="store_true",
        help="print JSON on standard output and nothing else there",
    )
    return common
