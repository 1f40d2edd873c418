"""`varve forget`: what would go, the question, the erasure, the receipt."""

import argparse
import sys
from collections.abc import Callable
from textwrap import shorten
from typing import Any

from varve.api.memory import Memory
from varve.cli.output import MAX_LINE, as_json, say
from varve.domain.errors import Rejected, Retryable

_NAMES = {
    "facts": "facts",
    "turns": "turns",
    "summaries": "summaries (those with anything left below them are due again: varve summarize)",
    "tripleOperations": "statements in the graph",
    "messages": "messages on the timeline",
    "conversations": "whole conversations",
    "payloads": "payloads",
    "profileEntries": "statements in profiles",
    "experience": "episodes, reports and lessons",
}


def run(
    options: argparse.Namespace, open_memory: Callable[[argparse.Namespace], Memory]
) -> None:
    """Ask unless told not to, erase, and print what was erased.

    Raises Rejected: not exactly one selector, or nobody to ask; Retryable: something is left.
    """
    memory = open_memory(options)
    given: dict[str, Any] = {
        "user": options.user,
        "conversation": options.conversation,
        "ids": options.ids,
    }
    plan = memory.forget(**given, query=options.query, dry_run=True)
    if options.dry_run:
        print(as_json(plan) if options.json else "\n".join(_plan_lines(plan)))
        return
    if plan["found"] and not options.yes:
        _ask(plan, options)
    if options.query is not None:
        # What was listed is what goes, also where more would match by now.
        given["ids"] = [record["id"] for record in plan["records"]]
    done = (
        memory.forget(**given, verify=options.verify) if _has_subject(given) else plan
    )
    print(as_json(done) if options.json else "\n".join(_lines(done)))
    _require_done(done)


def _ask(plan: dict[str, Any], options: argparse.Namespace) -> None:
    if options.json or not sys.stdin.isatty():
        raise Rejected("--yes", "is needed where nobody can be asked")
    for line in _plan_lines(plan):
        say(line)
    say("Erase this for good? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Rejected("forget", "not confirmed; nothing was erased")


def _has_subject(given: dict[str, Any]) -> bool:
    return any(given.values())


def _plan_lines(plan: dict[str, Any]) -> list[str]:
    if not plan["found"]:
        return ["nothing was found"]
    records = plan["records"]
    lines = [
        f"  {r['date']}  {r['id']}  {shorten(r['content'], MAX_LINE, placeholder=' …')}"
        for r in records
    ]
    return [*lines, f"{len(records)} facts and turns, {plan['messages']} messages"]


def _lines(done: dict[str, Any]) -> list[str]:
    if not done["found"]:
        return ["nothing was found", *_proof(done)]
    lines = [
        f"{done['erased'][sort]:>8} {words}"
        for sort, words in _NAMES.items()
        if done["erased"][sort]
    ]
    return [
        "erased:",
        *lines,
        *_proof(done),
        *done["notes"],
        f"receipt: {done['receipt']}",
    ]


def _proof(done: dict[str, Any]) -> list[str]:
    checked = done.get("verification")
    if not checked:
        return []
    line = (
        f"verified: {checked['objects']} objects, {checked['bytes']} bytes read, {checked['needles']} words, "
        f"ids and texts looked for, {checked['hits']} hits"
    )
    return [
        line,
        *(f"  found in {key}" for key in checked["foundIn"] + checked["remains"]),
    ]


def _require_done(done: dict[str, Any]) -> None:
    if not done.get("complete", True):
        raise Retryable(
            "forget: the writer has not come to all of it yet; run the same command again"
        )
    checked = done.get("verification")
    if checked and not checked["proved"]:
        raise Retryable(
            "forget: not all of it is proved to be gone; run the same command again"
        )
