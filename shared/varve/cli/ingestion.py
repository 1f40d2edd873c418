"""`varve ingest`: conversations of any known format."""

import argparse
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from varve.cli.costs import folding, format_usage
from varve.cli.opening import OpenedMemories, choose_scope, open_memory
from varve.cli.output import format_count, print_result, say
from varve.cli.understood import format_requests
from varve.domain.calendar import parse_instant_field
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import reference
from varve.domain.usage import ModelUsage
from varve.importers.files import show_name
from varve.importers.items import ImportOptions
from varve.importers.names import AUTO, NAMES

if TYPE_CHECKING:
    from varve.importers.report import ImportReport


def add_ingest(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve ingest`."""
    command.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="file to read; - is standard input",
    )
    command.add_argument(
        "--format",
        metavar="F",
        default=AUTO,
        help=f"format of the files: {', '.join(NAMES)}; default: auto",
    )
    command.add_argument(
        "--user", metavar="U", help="user of the conversations that name none"
    )
    command.add_argument(
        "--at", metavar="T", help="time of messages that have none, ISO 8601"
    )
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="read and check everything, and store nothing",
    )
    command.add_argument(
        "--workers",
        metavar="N",
        type=int,
        help="processes that store a long file; default: one for each processor, 4 at most",
    )
    command.add_argument(
        "--catch-up",
        action="store_true",
        help="have the model read what waited for its budget; takes no FILE",
    )
    command.set_defaults(refuse=command.error)


def ingest(options: argparse.Namespace) -> None:
    """Store the conversations of every file, and report what each held.

    Raises Rejected: a file cannot be read, or holds refused conversations; the others
    are stored. Raises Retryable: some are not stored, and the same command goes on.
    """
    if options.catch_up == bool(options.files):
        options.refuse("needs FILE, or --catch-up alone")
    if options.catch_up:
        _catch_up(options)
        return
    choose_scope(options)  # an invalid option is not the fault of a file
    memories = OpenedMemories(options)
    with folding(lambda: memories.opened):
        _ingest(options, memories)


def _ingest(options: argparse.Namespace, memories: OpenedMemories) -> None:
    reports = {
        show_name(name): _import(name, options, memories)
        for name in options.files
    }
    _require_something(reports)
    usage = sum((memory.usage for memory in memories.opened), ModelUsage())
    value = {**_sum_up(reports, options), "model": usage.to_dict()}
    lines = chain(_format_reports(reports, options), format_usage(usage))
    print_result(options, value, lines)
    _warn_of_limits(reports)
    _raise_failures(reports, dry_run=options.dry_run)


def _catch_up(options: argparse.Namespace) -> None:
    """Have the model read what waited for its budget."""
    memory = open_memory(options)
    with folding(lambda: [memory]):
        caught = memory.catch_up()
    value = {**caught, "model": memory.usage.to_dict()}
    messages = format_count(caught["messages"], "message")
    periods = format_count(caught["periods"], "period")
    lines = [f"read {messages}; {periods} due again (varve summarize)"]
    if caught["left"]:
        lines.append(f"{format_count(caught['left'], 'part')} wait for budget")
    print_result(options, value, [*lines, *format_usage(memory.usage)])


def _import(
    name: str, options: argparse.Namespace, memories: OpenedMemories
) -> "ImportReport":
    """Store one file. Raises Rejected: names the file and why it cannot be read."""
    from varve.cli.file_import import import_one  # the readers are many

    if options.workers is not None and options.workers < 1:
        raise Rejected("--workers", f"{options.workers} is not 1 or more")
    given = _build_options(options, name)
    return import_one(
        name,
        options.format,
        given,
        memories.open,
        dry_run=options.dry_run,
        workers=options.workers,
    )


def _build_options(options: argparse.Namespace, name: str) -> ImportOptions:
    at: datetime | None = None
    if options.at is not None:
        at = parse_instant_field(options.at, "--at")
    user = None if options.user is None else reference(options.user, "--user")
    return ImportOptions(PurePath(show_name(name)).stem, user, at)


def _require_something(reports: "dict[str, ImportReport]") -> None:
    """Raise the first failure if no file held anything to store.

    Raises Rejected, Retryable.
    """
    if not all(report.is_empty for report in reports.values()):
        return
    for name, report in reports.items():
        if report.failures and report.again:
            raise Retryable(f"{name}: {report.failures[0]}")
        if report.failures:
            raise Rejected(name, report.failures[0])
    if not any(report.skipped for report in reports.values()):
        raise Rejected(next(iter(reports)), "holds no conversation")


def _sum_up(
    reports: "dict[str, ImportReport]", options: argparse.Namespace
) -> dict[str, Any]:
    """Return the sums over all files, and each file's report."""
    value: dict[str, Any] = {"accepted": {}, "stored": {}}
    for report in reports.values():
        _add_counts(value["accepted"], report.accepted)
        if report.stored is None or value["stored"] is None:
            value["stored"] = None
        else:
            _add_counts(value["stored"], report.stored)
    value["dryRun"] = options.dry_run
    value["files"] = {
        name: report.to_dict() for name, report in reports.items()
    }
    return value


def _add_counts(sums: dict[str, int], counts: dict[str, int]) -> None:
    for name, count in counts.items():
        sums[name] = sums.get(name, 0) + count


def _format_reports(
    reports: "dict[str, ImportReport]", options: argparse.Namespace
) -> Iterator[str]:
    for name, report in reports.items():
        yield f"{name}: {_format_content(report)}"
        if not options.dry_run:
            yield f"  {_format_stored(report)}"
        for reason, count in report.skipped.most_common():
            yield f"  left out {count}: {reason}"
        yield from format_requests(report.forget_requests)
    if options.dry_run:
        yield "dry run: nothing was stored"


def _format_content(report: "ImportReport") -> str:
    parts = [
        format_count(report.conversations, "conversation"),
        format_count(report.messages, "message"),
    ]
    if report.facts:
        parts.append(format_count(report.facts, "fact"))
    content = f"{report.format}, {', '.join(parts)}"
    if report.first is not None and report.last is not None:
        content += f", {report.first:%Y-%m-%d} to {report.last:%Y-%m-%d}"
    return content


def _format_stored(report: "ImportReport") -> str:
    stored = report.stored
    if stored is None:
        return "sent to the ingest queue"
    new = [
        format_count(stored["messages"], "message"),
        format_count(stored["turns"], "turn"),
        format_count(stored["facts"], "fact"),
        format_count(stored["tripleOperations"], "triple operation"),
    ]
    line = f"new: {', '.join(new)}"
    if stored["ignored"]:
        ignored = format_count(stored["ignored"], "message")
        line += f"; ignored {ignored} stored earlier with different text"
    if stored["forgotten"]:
        refused = format_count(stored["forgotten"], "message")
        line += f"; refused {refused} that this memory has forgotten"
    return line


def _warn_of_limits(reports: "dict[str, ImportReport]") -> None:
    """Name each message whose filter reached a limit."""
    for name, report in reports.items():
        for message in report.partly_filtered:
            say(f"varve: {name}: warning: {message}")


def _raise_failures(
    reports: "dict[str, ImportReport]", *, dry_run: bool
) -> None:
    """Name each failure. Raises Rejected or Retryable if there is one."""
    failed = 0
    for name, report in reports.items():
        failed += report.failed
        for failure in report.failures:
            say(f"varve: {name}: {failure}")
    if not failed:
        return
    if any(report.again for report in reports.values()):
        raise Retryable(
            f"{failed} not stored; run the same command again to go on"
        )
    files = ", ".join(
        name for name, report in reports.items() if report.failed
    )
    others = "can be" if dry_run else "are"
    raise Rejected(
        files, f"{failed} refused as named above; the others {others} stored"
    )
