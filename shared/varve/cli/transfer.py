"""`varve export`, `varve import` and `varve reembed`: their arguments, and what they print."""

import argparse
from collections.abc import Mapping
from typing import Any

from varve.api.memory import Memory
from varve.cli.output import as_json, say


def add_export(command: argparse.ArgumentParser) -> None:
    """The arguments of `varve export`."""
    command.add_argument(
        "directory", metavar="DIR", help="a directory that is empty or not there yet"
    )
    command.add_argument(
        "--force", action="store_true", help="in place of an earlier export in it"
    )


def add_import(command: argparse.ArgumentParser) -> None:
    """The arguments of `varve import`."""
    command.add_argument(
        "directory", metavar="DIR", help="what `varve export` has written"
    )


def add_reembed(command: argparse.ArgumentParser) -> None:
    """The arguments of `varve reembed`."""
    command.add_argument(
        "--to",
        metavar="MODEL",
        help="make this the workspace's embedder first, as `config set` would",
    )


def export(memory: Memory, options: argparse.Namespace) -> None:
    """An agent's memory as a directory."""
    manifest = memory.export(options.directory, force=options.force)
    counts = manifest["counts"]
    print(
        as_json(manifest)
        if options.json
        else f"exported {sum(counts['records'].values())} records, {counts['triples']} triples, "
        f"{counts['profiles']} profile entries and {counts['timeline']} messages to {options.directory}"
    )


def import_(memory: Memory, options: argparse.Namespace) -> None:
    """An export added to an agent's memory."""
    done = memory.import_(options.directory)
    print(as_json(done) if options.json else "\n".join(_imported(done)))


def reembed(memory: Memory, options: argparse.Namespace) -> None:
    """A workspace's stores under its embedding model."""
    done = memory.reembed(
        to=options.to,
        progress=lambda store, n, of: say(f"{store}: {n} of {of} records embedded"),
    )
    if options.json:
        print(as_json(done))
        return
    print(
        f"{len(done['moved'])} of {done['stores']} stores moved to {done['model']}; the rest were of it"
    )
    if done["waiting"]:
        say(
            f"sent to the writer: {', '.join(done['waiting'])}; say it again when it has been there"
        )


def _imported(done: Mapping[str, Any]) -> list[str]:
    records = done["records"]
    return [
        f"new: {records['new']} records ({done['reembedded']} embedded anew), "
        f"{done['tripleOperations']} triple operations, {done['profileEntries']} profile entries, "
        f"{done['messages']} messages",
        f"there already: {records['present']} records; with other words, which stay: {records['differing']}",
        f"not let in, because this memory has forgotten it: {done['forgotten']}",
        f"configuration: {done['config']}",
    ]
