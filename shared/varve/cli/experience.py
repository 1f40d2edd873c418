"""`varve episode`, `varve recall` and `varve answers`."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from varve.api.experience import Experience
from varve.api.memory import Memory
from varve.cli.output import print_result
from varve.domain.block import EXPERIENCE_UNKNOWN
from varve.domain.errors import Rejected
from varve.domain.experience.block import KNOWN_FROM

MAX_SHOWN_SITUATION = 80
"""Characters of a situation in the list of episodes."""


def add_episode(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve episode`."""
    command.add_argument(
        "action",
        choices=["list", "show", "why", "outcome"],
        help="list all, show ID, tell what ID is linked to (why), or record an outcome",
    )
    command.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="id of an episode; for outcome also the id of a conversation",
    )
    command.add_argument(
        "outcome",
        nargs="?",
        metavar="OUTCOME",
        help="SUCCESS, FAILURE, PARTIAL or UNKNOWN",
    )
    command.add_argument(
        "--correction", metavar="TEXT", help="what was wrong (outcome)"
    )
    command.add_argument(
        "--decision", metavar="TEXT", help="what the agent did (outcome)"
    )
    command.add_argument(
        "--resolution",
        metavar="TEXT",
        help="what would have been right (outcome)",
    )
    command.add_argument(
        "--used",
        metavar="ID",
        nargs="*",
        default=[],
        help="ids of the memories that the agent used (outcome)",
    )
    command.add_argument(
        "--limit",
        metavar="N",
        type=int,
        help="list the newest N; default: all",
    )


def episode(options: argparse.Namespace, memory: Memory) -> None:
    """List, show or explain episodes, or record the outcome of one."""
    experience = memory.experience
    if options.action == "list":
        episodes = experience.episodes(limit=options.limit)
        lines = [_format_episode(one) for one in episodes]
        print_result(options, episodes, lines or ["no episodes yet"])
        return
    if options.id is None:
        raise Rejected(f"episode {options.action}", "needs ID")
    match options.action:
        case "show":
            shown = experience.episode(options.id)
            print_result(options, shown, _format_fields(shown, shown))
        case "why":
            why = experience.why(options.id)
            lines = [options.id, *why["story"]]
            print_result(options, why, lines if why["story"] else ["no links"])
        case _:
            _record_outcome(options, experience)


def _record_outcome(
    options: argparse.Namespace, experience: Experience
) -> None:
    if options.outcome is None:
        raise Rejected("episode outcome", "needs ID and OUTCOME")
    report = experience.record_outcome(
        options.id,
        options.outcome,
        correction=options.correction,
        decision=options.decision,
        resolution=options.resolution,
        used=options.used,
    )
    value = {
        "id": report.id,
        "target": report.target,
        "outcome": str(report.outcome),
    }
    print_result(options, value, [report.id])


def _format_episode(one: dict[str, Any]) -> str:
    began = one["began"][:16]
    state = one["state"] or "-"
    situation = one["situation"][:MAX_SHOWN_SITUATION]
    return f"{one['id']}  {began}  {one['outcome']:<8} {state}  {situation}"


def _format_fields(
    value: dict[str, Any], names: Iterable[str]
) -> Iterator[str]:
    """Yield a line for each of the fields that is not empty."""
    for name in names:
        if value[name]:
            yield f"{name}: {value[name]}"


def add_recall(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve recall`."""
    command.add_argument(
        "text",
        metavar="SITUATION",
        help="the agent's situation in plain words",
    )
    command.add_argument(
        "--state", metavar="S", help="the agent's activity, such as debugging"
    )
    command.add_argument(
        "--limit",
        metavar="N",
        type=int,
        default=8,
        help="number of episodes and lessons; default: 8",
    )


def recall(options: argparse.Namespace, memory: Memory) -> None:
    """Print past episodes and lessons for a situation."""
    found = memory.recall_experience(
        options.text, state=options.state, limit=options.limit
    )
    memory.experience.flush()
    value = found.to_dict()
    print_result(options, value, _format_recall(value))


def _format_recall(value: dict[str, Any]) -> Iterator[str]:
    if not value["items"]:
        yield "no episode or lesson bears on it"
        return
    yield f"familiarity: {value['familiarity']:.2f}"
    if value["familiarity"] < KNOWN_FROM:
        yield EXPERIENCE_UNKNOWN
    for item in value["items"]:
        yield f"[{item['outcome']}] {item['content']}"
        lines = _format_fields(item, ["answer", "correction", "confidence"])
        for line in lines:
            yield f"    {line}"
        if item["looks_like"]:
            yield f"    It {item['looks_like']}"


def add_answers(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve answers`."""
    command.add_argument(
        "action",
        choices=["list", "evict"],
        help="list all, or evict old and unread ones",
    )
    command.add_argument(
        "--by",
        nargs="*",
        default=["age", "number", "unread"],
        metavar="RULE",
        help="rules to evict by: age, number, unread; default: all three",
    )
    command.add_argument(
        "--dry-run", action="store_true", help="report what evict would delete"
    )


def answers(options: argparse.Namespace, memory: Memory) -> None:
    """List prior answers, or evict old and unread ones."""
    book = memory.experience.answers
    if options.action == "evict":
        evicted = book.evict(by=options.by, dry_run=options.dry_run)
        lines = [f"{id_}  {reason}" for id_, reason in evicted.items()]
        print_result(options, evicted, lines or ["nothing to evict"])
        return
    values = []
    lines = []
    for one in book.all():
        values.append(
            {
                "id": one.id,
                "subject": one.subject,
                "question": one.question,
                "answer": one.answer,
            }
        )
        lines.append(f"{one.subject}: {one.question} {one.answer}")
    print_result(options, values, lines or ["no prior answers yet"])
