"""`varve summarize`, `varve cleanup` and `varve config`."""

import argparse
from collections.abc import Iterator
from typing import Any

from varve.api.memory import Memory
from varve.cli.costs import format_usage
from varve.cli.output import confirm, format_count, list_some, print_result
from varve.cli.progress import show_progress
from varve.domain.calendar import SUMMARY_GRAINS
from varve.domain.errors import Rejected, Retryable

MAX_PERIODS = 5
"""Periods of a grain that a report of cleanup names; the others are counted."""


def add_summarize(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve summarize`."""
    grains = ", ".join(SUMMARY_GRAINS)
    command.add_argument(
        "--grain", metavar="G", help=f"build this grain only: {grains}"
    )


def summarize(options: argparse.Namespace, memory: Memory) -> None:
    """Build the summaries that are due."""
    with show_progress() as progress:
        counts = memory.summarize(grain=options.grain, progress=progress)
    lines = [_format_built(counts), *format_usage(memory.usage)]
    value = {**counts, "model": memory.usage.to_dict()}
    print_result(options, value, lines)
    if counts["failed"] and not counts["built"] + counts["unchanged"]:
        raise Retryable(f"every period failed: {_find_failure(memory)}")


def _format_built(counts: dict[str, int]) -> str:
    if not any(counts.values()):
        return "no summary is due"
    line = f"built {format_count(counts['built'], 'summary', 'summaries')}"
    if counts["unchanged"]:
        line += f"; {format_count(counts['unchanged'], 'period')} unchanged"
    if counts["failed"]:
        line += f"; {format_count(counts['failed'], 'period')} failed"
    return line


def _find_failure(memory: Memory) -> str:
    """Return why the first failed period has no summary."""
    for held in memory.status()["grains"].values():
        for failed in (held.get("periods") or {}).get("failed", []):
            return f"{failed['period']}: {failed['reason']}"
    return "varve status tells why"


def add_cleanup(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve cleanup`."""
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="report what cleanup would delete",
    )
    command.add_argument(
        "--force",
        action="store_true",
        help="delete expired periods even if their parent summary is not ready",
    )
    command.add_argument(
        "--yes",
        action="store_true",
        help="delete without asking; only a store in a directory asks",
    )


def cleanup(options: argparse.Namespace, memory: Memory) -> None:
    """Delete the expired periods; ask first if the store is a directory.

    Raises Rejected: not confirmed.
    """
    if memory.is_directory and not (options.dry_run or options.yes):
        _confirm_cleanup(options, memory)
    report = memory.cleanup(dry_run=options.dry_run, force=options.force)
    verb = "would be deleted" if options.dry_run else "deleted"
    print_result(options, report, _format_cleanup(report, verb))


def _confirm_cleanup(options: argparse.Namespace, memory: Memory) -> None:
    """Ask if anything would be deleted. Raises Rejected: the answer is not yes."""
    plan = memory.cleanup(dry_run=True, force=options.force)
    grains = plan["grains"].values()
    if not (
        plan["timelineDays"] or any(one["expiredRecords"] for one in grains)
    ):
        return
    lines = _format_cleanup(plan, "would be deleted")
    if not confirm(options, lines, "Delete this permanently?"):
        raise Rejected("cleanup", "not confirmed; nothing was deleted")


def _format_cleanup(report: dict[str, Any], verb: str) -> Iterator[str]:
    """Yield for each grain what expired, its limit, and the periods kept past it."""
    for grain, held in report["grains"].items():
        records = format_count(held["expiredRecords"], "record")
        periods = format_count(held["expiredPeriods"], "period")
        limit = f"limit {held['limit']}"
        if held["oldestKept"]:
            limit += f", oldest kept {held['oldestKept']}"
        yield f"  {grain:<12}{records} of {periods} {verb}; {limit}"
        if held["unsealed"]:
            waiting = list_some(list(held["unsealed"]), MAX_PERIODS)
            yield f"              kept until their parent summary is ready: {waiting}"
    days = format_count(report["timelineDays"], "day")
    yield f"  {'timeline':<12}{days} {verb}"
    if asked := report["requestsToForget"]:
        requests = format_count(asked, "request")
        yield f"  {requests} to forget {verb} too: `varve forget --proposals` then lists what they ask"


def add_config(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve config`."""
    command.add_argument(
        "action",
        choices=["list", "get", "set"],
        help="list all settings, get KEY, or set KEY VALUE",
    )
    command.add_argument(
        "key", nargs="?", metavar="KEY", help="name of a setting, such as plan"
    )
    command.add_argument(
        "value",
        nargs="?",
        metavar="VALUE",
        help="new value; an empty value restores the default",
    )
    command.add_argument(
        "--no-check",
        action="store_false",
        dest="check",
        help="set a model without trying it",
    )


def config(options: argparse.Namespace, memory: Memory) -> None:
    """Print the workspace's settings; with `set` change one first."""
    if options.action == "set":
        if options.key is None or options.value is None:
            raise Rejected("config set", "needs KEY and VALUE")
        memory.configure(options.key, options.value, check=options.check)
    if options.action == "get" and options.key is None:
        raise Rejected("config get", "needs KEY")
    settings = memory.config()
    if options.key is not None:
        settings = {options.key: memory.setting(options.key)}
    print_result(options, settings, _format_settings(settings))


def _format_settings(settings: dict[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        text = "" if value is None else value
        yield f"{name} = {text}"
