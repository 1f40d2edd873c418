"""`varve forget`: show the plan, ask, erase, print the receipt."""

import argparse
from collections.abc import Container, Iterable, Iterator
from typing import Any

from varve.api.memory import Memory
from varve.cli.output import confirm, fit_line, format_count, print_result
from varve.cli.progress import show_progress
from varve.domain.errors import Rejected, Retryable

_ERASED = {
    "facts": ("fact", "facts"),
    "turns": ("turn", "turns"),
    "summaries": ("summary", "summaries"),
    "tripleOperations": ("triple operation", "triple operations"),
    "messages": ("message of the timeline", "messages of the timeline"),
    "conversations": ("whole conversation", "whole conversations"),
    "payloads": ("payload", "payloads"),
    "profileEntries": ("profile entry", "profile entries"),
    "experience": ("row of experience", "rows of experience"),
    "notes": ("note", "notes"),
    "searches": ("logged question", "logged questions"),
}
"""Singular and plural for each count of an erasure, in the order printed."""

MAX_RECORDS = 10
"""Facts and turns that a plan shows; the others are counted."""


def add_forget(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve forget`."""
    command.add_argument(
        "--user",
        metavar="U",
        help="erase this user's messages and the answers to them; with --query only "
        "what TEXT names of them",
    )
    command.add_argument(
        "--conversation",
        metavar="C",
        help="erase every message of this conversation",
    )
    command.add_argument(
        "--id",
        metavar="ID",
        dest="ids",
        action="append",
        default=[],
        help="erase this fact or turn with its messages; may be repeated",
    )
    command.add_argument(
        "--query",
        metavar="TEXT",
        help="erase the statements that TEXT names, at every grain",
    )
    _add_proposal_options(command)
    _add_way_options(command)


def _add_proposal_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--proposal",
        metavar="N",
        type=int,
        help="erase what an agent has proposed to forget under this number",
    )
    command.add_argument(
        "--proposals",
        action="store_true",
        help="list the agent's proposals that wait",
    )
    command.add_argument(
        "--discard",
        action="store_true",
        help="remove --proposal; erase nothing",
    )
    command.add_argument(
        "--only",
        metavar="N,N",
        help="of the statements of --query or --proposal those with these numbers, "
        "such as 1,3",
    )


def _add_way_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="show what forget would erase; with --json list all of it",
    )
    command.add_argument(
        "--yes",
        action="store_true",
        help="erase without asking for confirmation",
    )
    command.add_argument(
        "--verify",
        action="store_true",
        help="read everything left and search it for what was erased",
    )


def forget(options: argparse.Namespace, memory: Memory) -> None:
    """Ask for confirmation unless `--yes`, erase, and print the receipt.

    Raises Rejected: not exactly one selector, or not confirmed; Retryable: the erasure
    is not complete.
    """
    if options.proposals:
        proposals = memory.forget_proposals()
        print_result(options, proposals, _format_proposals(proposals))
    elif options.discard:
        _discard(options, memory)
    else:
        _forget_selected(options, memory)


def _discard(options: argparse.Namespace, memory: Memory) -> None:
    if options.proposal is None:
        raise Rejected("--discard", "needs --proposal")
    memory.discard_proposal(options.proposal)
    line = f"proposal {options.proposal} is removed; nothing was erased"
    print_result(options, {"discarded": options.proposal}, [line])


def _forget_selected(options: argparse.Namespace, memory: Memory) -> None:
    selector: dict[str, Any] = {
        "user": options.user,
        "conversation": options.conversation,
        "ids": options.ids,
        "proposal": options.proposal,
    }
    only = _read_numbers(options.only)
    plan = memory.forget(
        **selector, query=options.query, only=only, dry_run=True
    )
    if options.dry_run:
        print_result(options, plan, _format_plan(plan))
        return
    if plan["found"] and not options.yes:
        question = "Erase this permanently?"
        if not confirm(options, _format_plan(plan), question):
            raise Rejected("forget", "not confirmed; nothing was erased")
    if options.query is not None:
        # Erase the statements that the plan lists, even if the query matches more of them.
        selector["ids"] = _list_chosen(plan["statements"], only)
        selector["user"] = None
    receipt = plan
    if any(selector.values()):
        chosen = only if options.proposal is not None else None
        with show_progress() as progress:
            receipt = memory.forget(
                **selector,
                only=chosen,
                verify=options.verify,
                progress=progress,
            )
    print_result(options, receipt, _format_receipt(receipt))
    _require_complete(receipt)


def _read_numbers(text: str | None) -> list[int] | None:
    """Return the numbers of `1,3`. Raises Rejected: they are none."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise Rejected("--only", "must be numbers, such as 1,3") from error


def _list_chosen(
    statements: Iterable[dict[str, Any]], only: Container[int] | None
) -> list[str]:
    ids: dict[str, None] = {}
    for one in statements:
        if only is None or one["number"] in only:
            ids.update(dict.fromkeys(one["erases"]))
    return list(ids)


def _format_proposals(proposals: Iterable[dict[str, Any]]) -> Iterator[str]:
    waiting = False
    for one in proposals:
        waiting = True
        yield f"proposal {one['proposal']}:"
        yield from _format_statements(one["statements"])
    if not waiting:
        yield "no proposal waits"


def _format_statements(statements: Iterable[dict[str, Any]]) -> Iterator[str]:
    for one in statements:
        words = fit_line(one["content"])
        line = (
            f"{one['number']:>3}. {one['date']}  {one['memoryType']:<8}{words}"
        )
        yield line + tell_tellings(one)
        yield from tell_whole_messages(one)


def tell_tellings(statement: dict[str, Any]) -> str:
    """Return how often a statement is told, if more than once: ` (told 4 times)`."""
    times = statement["tellings"]
    return f" (told {times} times)" if times > 1 else ""


def tell_whole_messages(statement: dict[str, Any]) -> Iterator[str]:
    """Yield the messages that go with a statement and say more than it does."""
    for words in statement["wholeMessages"]:
        yield f"     with its whole message: {fit_line(words)}"


def _format_plan(plan: dict[str, Any]) -> Iterator[str]:
    if not plan["found"]:
        yield "nothing was found"
        return
    yield from _format_statements(plan["statements"])
    records = plan["records"]
    for record in records[:MAX_RECORDS]:
        yield f"  {record['date']}  {record['id']}  {fit_line(record['content'])}"
    more = len(records) - MAX_RECORDS
    if more > 0:
        yield f"  and {more} more; --json lists all"
    yield _sum_up(plan)


def _sum_up(plan: dict[str, Any]) -> str:
    """Return how much a plan erases, and of which days."""
    records = plan["records"]
    count = format_count(len(records), "fact or turn", "facts and turns")
    line = f"{count}, {format_count(plan['messages'], 'message')}"
    days = sorted(record["date"] for record in records)
    if not days:
        return line
    if days[0] == days[-1]:
        return f"{line}, of {days[0]}"
    return f"{line}, of {days[0]} to {days[-1]}"


def _format_receipt(receipt: dict[str, Any]) -> Iterator[str]:
    if not receipt["found"]:
        yield "nothing was found"
        yield from _format_published(receipt)
        yield from _format_verification(receipt)
        return
    yield "erased:"
    for name, (singular, plural) in _ERASED.items():
        count = receipt["erased"][name]
        if count:
            yield f"  {format_count(count, singular, plural)}"
    if receipt["erased"]["summaries"]:
        yield "run varve summarize to rebuild the summaries that have sources left"
    yield from _format_published(receipt)
    yield from _format_verification(receipt)
    yield from receipt["notes"]
    yield f"receipt: {receipt['receipt']}"


def _format_published(receipt: dict[str, Any]) -> Iterator[str]:
    for one in receipt.get("published", ()):
        if one["reached"] and one["files"]:
            files = format_count(one["files"], "published file")
            yield f"  {files} written again or dropped at {one['target']}"


def _format_verification(receipt: dict[str, Any]) -> Iterator[str]:
    checked = receipt.get("verification")
    if not checked:
        return
    objects = format_count(checked["objects"], "object")
    bytes_ = format_count(checked["bytes"], "byte")
    needles = format_count(
        checked["needles"], "word, id or text", "words, ids and texts"
    )
    hits = format_count(checked["hits"], "hit")
    yield f"verified: read {objects} ({bytes_}), searched for {needles}, {hits}"
    if checked["reason"]:
        yield f"nothing is proved: {checked['reason']}"
    for key in checked["foundIn"] + checked["remains"]:
        yield f"  found in {key}"


def _require_complete(receipt: dict[str, Any]) -> None:
    if not all(one["reached"] for one in receipt.get("published", ())):
        raise Retryable(
            "forget: published files were not reached; run the same command again"
        )
    if not receipt.get("complete", True):
        raise Retryable(
            "forget: the writer has not finished; run the same command again"
        )
    checked = receipt.get("verification")
    if not checked or checked["proved"] is not False:
        return
    if checked["foundIn"]:
        raise Retryable(
            "forget: words of the subject are left; run the same command again, or name "
            "the records that hold them with --id"
        )
    raise Retryable(
        "forget: the erasure is not proved; run the same command again"
    )
