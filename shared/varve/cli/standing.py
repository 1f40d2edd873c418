"""`varve status` and `varve agents`: what memory holds and how it stands."""

import argparse
from collections.abc import Iterator
from typing import Any

from varve.api.memory import Memory
from varve.cli.costs import format_budget
from varve.cli.elsewhere import name_other_memories
from varve.cli.output import format_count, print_result


def add_status(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve status`."""
    command.add_argument(
        "--people", action="store_true", help="list who occurs in memory"
    )
    command.add_argument(
        "--topics",
        action="store_true",
        help="list the topics of the summaries",
    )


def status(options: argparse.Namespace, memory: Memory) -> None:
    """Print how much memory holds and which periods wait."""
    report = memory.status(people=options.people, topics=options.topics)
    print_result(options, report, format_status(report))
    if not any(held["records"] for held in report["grains"].values()):
        name_other_memories(memory)


def agents(options: argparse.Namespace, memory: Memory) -> None:
    """Print the workspace's agents, a line each."""
    shares = memory.agents()
    print_result(options, {"agents": shares}, map(_format_agent, shares))


def _format_agent(share: dict[str, Any]) -> str:
    records = format_count(share["records"], "record")
    users = format_count(share["users"], "user")
    newest = f", newest {share['newest']}" if share["newest"] else ""
    return f"{share['agentId']}: {records}, {users}, {_format_size(share['bytes'])}{newest}"


def format_status(report: dict[str, Any]) -> Iterator[str]:
    """Yield the agent, then a line for each grain, the graph and the timeline."""
    yield f"{report['workspaceId']}/{report['agentId']}"
    for grain, held in report["grains"].items():
        yield _format_grain(grain, held)
        if held.get("periods") is not None:
            yield from _format_periods(held["periods"])
    yield from _format_backlog(report["backlog"])
    yield from _format_graph(report["graph"])
    if report["notes"]["count"]:
        yield _format_notes(report["notes"])
    timeline = _format_size(report["timeline"]["bytes"])
    yield f"  {'timeline':<10}{'':>16} {timeline:>10}"
    yield from format_budget(report)
    if report["erasure"] is not None:
        yield _format_erasure(report["erasure"])
    yield from _format_occurring(report)
    if report["rereads"]:
        waiting = format_count(report["rereads"], "conversation")
        yield (
            f"  {'erasure':<10}INTERRUPTED: {waiting} to read again; any varve forget "
            "of this agent continues"
        )


def _format_occurring(report: dict[str, Any]) -> Iterator[str]:
    """Yield the people and the topics, if they were asked for."""
    for kind, member in (("people", "name"), ("topics", "topic")):
        if kind in report:
            told = [
                f"{one[member]} ({one['records']})" for one in report[kind]
            ]
            yield f"  {kind:<10}{', '.join(told) or 'none yet'}"


def _format_grain(grain: str, held: dict[str, Any]) -> str:
    records = _format_cell(held["records"], "record")
    line = f"  {grain:<10}{records} {_format_size(held['bytes']):>10}"
    if held["records"]:
        line += f"  {held['oldest']} to {held['newest']}"
    return line


def _format_backlog(backlog: dict[str, int]) -> Iterator[str]:
    waiting = []
    if backlog["periods"]:
        waiting.append(
            format_count(backlog["periods"], "period") + " to summarize"
        )
    if backlog["cleanups"]:
        waiting.append(
            format_count(backlog["cleanups"], "grain") + " to clean up"
        )
    if waiting:
        yield f"  {'backlog':<10}{', '.join(waiting)}"


def _format_notes(notes: dict[str, Any]) -> str:
    count = _format_cell(notes["count"], "note")
    return f"  {'notes':<10}{count} {_format_size(notes['bytes']):>10}"


def _format_graph(graph: dict[str, Any]) -> Iterator[str]:
    triples = _format_cell(graph["triples"], "triple")
    size = _format_size(graph["bytes"])
    yield f"  {'graph':<10}{triples} {size:>10}  {graph['current']} current"
    confirmed = graph["confirmed"]
    if confirmed:
        indent = " " * 12
        yield (
            f"{indent}last confirmed {confirmed['oldest'][:10]} to "
            f"{confirmed['newest'][:10]}; the oldest: {confirmed['statement']}"
        )


def _format_periods(periods: dict[str, Any]) -> Iterator[str]:
    """Yield the periods that are due, stale or failed; nothing if there are none."""
    indent = " " * 12
    waiting = []
    for state in ("due", "stale"):
        if periods[state]:
            waiting.append(f"{len(periods[state])} {state}")
    if waiting:
        yield f"{indent}{', '.join(waiting)}; build them with: varve summarize"
    for failed in periods["failed"]:
        attempts = format_count(failed["attempts"], "time")
        yield (
            f"{indent}{failed['period']} failed {attempts}, next try "
            f"{failed['nextTry']}: {failed['reason']}"
        )


def _format_erasure(erasure: dict[str, Any]) -> str:
    state = "NOT COMPLETE (run varve forget again)"
    if erasure["complete"]:
        state = "complete"
    proofs = {True: "proved", False: "NOT PROVED", None: "not verified"}
    proof = proofs[erasure["proved"]]
    ended = f"{erasure['forgottenAt']}  {state}, {proof}"
    return f"  {'erasure':<10}{ended}: {erasure['receipt']}"


def _format_cell(number: int, singular: str) -> str:
    """Return a right-aligned number and its noun, padded to the plural's width."""
    noun = singular if number == 1 else f"{singular}s"
    return f"{number:>8} {noun:<{len(singular) + 1}}"


def _format_size(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} MB"
    return f"{count / 1_000:.1f} kB"
