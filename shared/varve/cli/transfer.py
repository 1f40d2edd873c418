"""`varve export`, `varve import` and `varve reembed`."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from varve.api.memory import Memory
from varve.cli.elsewhere import name_other_memories
from varve.cli.output import format_count, print_result, say
from varve.cli.progress import show_progress


def add_export(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve export`."""
    command.add_argument(
        "directory",
        metavar="DIR",
        help="directory that is empty or does not exist",
    )
    command.add_argument(
        "--force", action="store_true", help="replace an earlier export in DIR"
    )


def export(options: argparse.Namespace, memory: Memory) -> None:
    """Write an agent's memory to a directory."""
    with show_progress() as progress:
        manifest = memory.export(
            options.directory, force=options.force, progress=progress
        )
    counts = manifest["counts"]
    records = format_count(sum(counts["records"].values()), "record")
    triples = format_count(counts["triples"], "triple")
    entries = format_count(
        counts["profiles"], "profile entry", "profile entries"
    )
    messages = format_count(counts["timeline"], "message")
    exported = f"{records}, {triples}, {entries} and {messages}"
    print_result(
        options, manifest, [f"exported {exported} to {options.directory}"]
    )
    if not any(counts["records"].values()):
        name_other_memories(memory)


def add_import(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve import`."""
    command.add_argument(
        "directory", metavar="DIR", help="directory that `varve export` wrote"
    )


def import_(options: argparse.Namespace, memory: Memory) -> None:
    """Add an export to an agent's memory."""
    with show_progress() as progress:
        report = memory.import_(options.directory, progress=progress)
    print_result(options, report, _format_import(report))


def _format_import(report: Mapping[str, Any]) -> Iterator[str]:
    counts = report["records"]
    new = [
        f"{format_count(counts['new'], 'record')} ({report['reembedded']} re-embedded)",
        format_count(report["tripleOperations"], "triple operation"),
        format_count(
            report["profileEntries"], "profile entry", "profile entries"
        ),
        format_count(report["messages"], "message"),
    ]
    yield f"new: {', '.join(new)}"
    present = format_count(counts["present"], "record")
    conflicts = format_count(counts["differing"], "conflict")
    yield f"already present: {present}; {conflicts} (existing records kept)"
    yield f"skipped because this memory has forgotten them: {report['forgotten']}"
    yield f"configuration: {report['config']}"


def add_reembed(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve reembed`."""
    command.add_argument(
        "--to",
        metavar="MODEL",
        help="set models.embedder to MODEL first; default: the configured model",
    )


def reembed(options: argparse.Namespace, memory: Memory) -> None:
    """Move a workspace's stores to its embedding model."""
    with show_progress() as progress:
        report = memory.reembed(to=options.to, progress=progress)
    moved = len(report["moved"])
    unchanged = report["stores"] - moved - len(report["waiting"])
    stores = format_count(moved, "store")
    line = f"{stores} moved to {report['model']}; {unchanged} already there"
    print_result(options, report, [line])
    if report["waiting"] and not options.json:
        waiting = ", ".join(report["waiting"])
        say(
            f"sent to the writer: {waiting}; run reembed again when it has written them"
        )
