"""The command line's grammar."""

import argparse

from varve import __version__
from varve.cli import experience
from varve.cli.knowledge import add_context, add_profile
from varve.cli.mcp import add_mcp
from varve.cli.operations import add_dlq
from varve.cli.transfer import add_export, add_import, add_reembed
from varve.domain.calendar import SUMMARY_GRAINS, Grain


def parser() -> argparse.ArgumentParser:
    """The parser for `varve COMMAND …`; usage errors exit with 2."""
    root = argparse.ArgumentParser(
        prog="varve",
        description="Long-term memory for AI agents.",
        epilog="Options come after the command; `varve COMMAND --help` lists them.",
        allow_abbrev=False,
    )
    root.add_argument("--version", action="version", version=f"varve {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    common = _common()

    def command(name: str, words: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=words, description=words, parents=[common], allow_abbrev=False
        )

    demo = command("demo", "ingest the project's corpus and show what memory holds")
    demo.add_argument(
        "--corpus", metavar="DIR", help="conversations and questions to use instead"
    )
    ingest = command(
        "ingest", "take conversations in: one JSON object, a JSON array or JSON Lines"
    )
    ingest.add_argument(
        "files", nargs="+", metavar="FILE", help="a file, or - for standard input"
    )
    _search(command("search", "ask memory; without TEXT, the newest first"))
    add_context(command("context", "the block to put before a prompt"))
    add_profile(command("profile", "a user's stable attributes: show, set KEY VALUE"))
    show = command("show", "a record and its sources, level by level")
    show.add_argument("id", metavar="ID")
    show.add_argument(
        "--depth",
        metavar="N",
        type=int,
        help="levels of sources; default: to the messages",
    )
    command("status", "what memory holds, and which periods wait or have failed")
    summarize = command("summarize", "build the summaries that are due, from daily up")
    summarize.add_argument(
        "--grain", metavar="G", help="only this one: " + ", ".join(SUMMARY_GRAINS)
    )
    cleanup = command("cleanup", "delete what has outlived the plan")
    cleanup.add_argument(
        "--dry-run", action="store_true", help="only say what would go"
    )
    cleanup.add_argument(
        "--force", action="store_true", help="also what has no ready summary above it"
    )
    _forget(
        command(
            "forget",
            "erase a user, a conversation, records or what a description names; with a receipt",
        )
    )
    config = command(
        "config", "the workspace's configuration: list, get KEY, set KEY VALUE"
    )
    config.add_argument("action", choices=["list", "get", "set"])
    config.add_argument("key", nargs="?", metavar="KEY")
    config.add_argument(
        "value", nargs="?", metavar="VALUE", help="empty for the default"
    )
    _graph(command("graph", "the triples: query SQL, show [ENTITY]"))
    add_dlq(command("dlq", "dead letters: list, show ID, redrive ID…, drop ID…"))
    experience.grammar(command)
    add_export(command("export", "write an agent's memory to a directory"))
    add_import(command("import", "add an exported memory to an agent's"))
    add_mcp(
        command(
            "mcp", "serve memory's tools to an MCP client, on standard input and output"
        )
    )
    add_reembed(
        command("reembed", "move the workspace's stores to another embedding model")
    )
    return root


def _forget(forget: argparse.ArgumentParser) -> None:
    forget.add_argument(
        "--user", metavar="U", help="all that this user said, and the answers to it"
    )
    forget.add_argument("--conversation", metavar="C", help="every message of it")
    forget.add_argument(
        "--id", metavar="ID", dest="ids", action="append", default=[],
        help="a fact's or turn's messages; may be repeated",
    )  # fmt: skip
    forget.add_argument(
        "--query",
        metavar="TEXT",
        help="the best ten facts and turns that share a word with it",
    )
    forget.add_argument("--dry-run", action="store_true", help="only say what would go")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.add_argument(
        "--verify", action="store_true", help="read all that is left, and prove it"
    )


def _graph(graph: argparse.ArgumentParser) -> None:
    graph.add_argument("action", choices=["query", "show"])
    graph.add_argument(
        "subject",
        nargs="?",
        metavar="SQL|ENTITY",
        help="one SELECT over facts; whom or what to show",
    )
    graph.add_argument(
        "--out", metavar="FILE", help="draw it into an .svg or .html file"
    )


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--store", metavar="PATH|URI", help="default: VARVE_STORE, then ./memory"
    )
    common.add_argument("--workspace", metavar="W", help="default: default")
    common.add_argument("--agent", metavar="A", help="default: default")
    common.add_argument(
        "--now", metavar="T", help="the time to take for the present, ISO 8601"
    )
    common.add_argument(
        "--json",
        action="store_true",
        help="the contract's JSON on stdout, nothing else",
    )
    return common


def _search(search: argparse.ArgumentParser) -> None:
    search.add_argument(
        "text",
        nargs="?",
        metavar="TEXT",
        default="",
        help="what to look for, in plain words",
    )
    search.add_argument("--grain", metavar="G", help=", ".join(["auto", *Grain]))
    search.add_argument(
        "--since", metavar="T", help="ISO 8601 date or date and time, included"
    )
    search.add_argument(
        "--until", metavar="T", help="a date is included, a time is not"
    )
    search.add_argument(
        "--min-days-ago",
        metavar="N",
        dest="minimum_days_ago",
        help="only what is that old or older",
    )
    search.add_argument(
        "--max-days-ago",
        metavar="N",
        dest="maximum_days_ago",
        help="only what is no older",
    )
    search.add_argument("--as-of", metavar="T", help="as if it were then")
    search.add_argument("--max-results", metavar="N", help="1 to 100, default: 10")
    search.add_argument(
        "--max-tokens", metavar="N", help="of all results together; default: no limit"
    )
    search.add_argument(
        "--user", metavar="U", dest="user_id", help="only what is this user's"
    )
    search.add_argument(
        "--conversation",
        metavar="C",
        dest="conversation_id",
        help="only what was said in it",
    )
    search.add_argument(
        "--types",
        metavar="T,…",
        dest="memory_types",
        help="fact, turn, summary, episode, lesson, prior_answer",
    )
    search.add_argument(
        "--explain",
        action="store_true",
        default=None,
        help="what each signal adds (--json)",
    )


SEARCH_ARGUMENTS = (
    "grain", "since", "until", "minimum_days_ago", "maximum_days_ago", "as_of", "max_results",
    "max_tokens", "user_id", "conversation_id", "explain", "memory_types",
)  # fmt: skip
