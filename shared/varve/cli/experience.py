"""What an agent has learnt: `varve episode`, `recall`, `lessons`, `answers`, and `varve eval`."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from varve.api.lessons import lesson_as_json
from varve.api.memory import Memory
from varve.cli.output import as_json
from varve.domain.errors import Rejected, prefix_field
from varve.domain.experience.trial import (
    FlatMemory,
    Scenario,
    Score,
    TrialMemory,
    parse_scenarios,
    run,
)
from varve.domain.experience.trial_memory import ExperienceMemory
from varve.ports.search import word_embedding

OpenMemory = Callable[[argparse.Namespace], Memory]


def grammar(command: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the commands to the parser; `command` makes one from its name and words."""
    episode = command(
        "episode",
        "what was tried and how it ended: list, show ID, why ID, outcome ID OUTCOME",
    )
    episode.add_argument("action", choices=["list", "show", "why", "outcome"])
    episode.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="an episode's id; for outcome also a conversation's",
    )
    episode.add_argument(
        "outcome",
        nargs="?",
        metavar="OUTCOME",
        help="SUCCESS, FAILURE, PARTIAL or UNKNOWN",
    )
    episode.add_argument("--correction", metavar="TEXT", help="what was wrong")
    episode.add_argument("--decision", metavar="TEXT", help="what was done")
    episode.add_argument(
        "--resolution", metavar="TEXT", help="what would have been right"
    )
    episode.add_argument(
        "--used", metavar="ID", nargs="*", default=[], help="what was looked at before"
    )
    episode.add_argument(
        "--limit", metavar="N", type=int, help="list the newest N; default: all"
    )
    recall = command("recall", "what of the past bears on a situation")
    recall.add_argument(
        "text", metavar="SITUATION", help="what the agent is faced with, in plain words"
    )
    recall.add_argument(
        "--state", metavar="S", help="what the agent is doing, such as debugging"
    )
    recall.add_argument("--limit", metavar="N", type=int, default=8, help="default: 8")
    lessons = command(
        "lessons",
        "what was learnt: list, add CLAIM, retire ID, curate, reword, render, block",
    )
    lessons.add_argument(
        "action",
        choices=["list", "add", "retire", "curate", "reword", "render", "block"],
    )
    lessons.add_argument("subject", nargs="?", metavar="CLAIM|ID|SITUATION")
    lessons.add_argument(
        "--when",
        metavar="TEXT",
        default="",
        help="the condition, at least two words of it",
    )
    lessons.add_argument("--then", metavar="TEXT", default="", help="the action")
    lessons.add_argument(
        "--evidence",
        metavar="EPISODE",
        nargs="*",
        default=[],
        help="what stands for it",
    )
    lessons.add_argument(
        "--state", metavar="S", help="what the agent is doing when it applies"
    )
    lessons.add_argument("--tags", metavar="TAG", nargs="*", default=[])
    lessons.add_argument(
        "--reason", metavar="TEXT", default="", help="why it is retired"
    )
    lessons.add_argument(
        "--apply", action="store_true", help="confirm what curate or reword proposes"
    )
    lessons.add_argument(
        "--last",
        action="store_true",
        help="what the last curate found, by schedule or hand",
    )
    answers = command("answers", "prior answers: list, evict")
    answers.add_argument("action", choices=["list", "evict"])
    answers.add_argument(
        "--by", nargs="*", default=["age", "number", "unread"], metavar="RULE",
        help="age, number, unread; default: all three",
    )  # fmt: skip
    answers.add_argument(
        "--dry-run", action="store_true", help="only say what would go"
    )
    trial = command("eval", "measure memory: experience --scenarios FILE")
    trial.add_argument("what", choices=["experience"])
    trial.add_argument(
        "--scenarios",
        metavar="FILE",
        nargs="+",
        required=True,
        help="JSON, one or an array",
    )


def episode(options: argparse.Namespace, memory: Memory) -> None:
    """List, show, explain or judge episodes."""
    experience = memory.experience
    if options.action == "list":
        found = experience.episodes(limit=options.limit)
        return _out(
            options, found, [_line(one) for one in found] or ["no episodes yet"]
        )
    if options.id is None:
        raise Rejected(f"episode {options.action}", "needs ID")
    if options.action == "show":
        shown = experience.episode(options.id)
        return _out(
            options,
            shown,
            [f"{name}: {value}" for name, value in shown.items() if value],
        )
    if options.action == "why":
        why = experience.why(options.id)
        return _out(
            options,
            why,
            [options.id, *why["story"]]
            if why["story"]
            else ["nothing is linked to it"],
        )
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
    return _out(
        options,
        {"id": report.id, "target": report.target, "outcome": str(report.outcome)},
        [report.id],
    )


def recall(options: argparse.Namespace, memory: Memory) -> None:
    """What bears on a situation."""
    found = memory.recall_experience(
        options.text, state=options.state, limit=options.limit
    ).to_dict()
    memory.experience.flush()
    lines = [f"familiar: {found['familiarity']:.2f}"]
    for item in found["items"]:
        lines.append(f"[{item['outcome']}] {item['content']}")
        lines += [
            f"    {name}: {item[name]}"
            for name in ("answer", "correction", "confidence")
            if item[name]
        ]
    _out(options, found, lines)


def lessons(options: argparse.Namespace, memory: Memory) -> None:
    """List, add, retire, curate or render lessons."""
    book = memory.experience.lessons
    match options.action:
        case "list":
            known = [lesson_as_json(lesson) for lesson in book.all()]
            lines = [
                f"{one['id']}  {one['standing']}  {one['confidence']:.2f}  {one['claim']}"
                for one in known
            ]
            _out(options, known, lines or ["no lessons yet"])
        case "render":
            _out(options, {"markdown": book.render()}, [book.render()])
        case "block":
            text = book.block(options.subject, tags=options.tags)
            _out(options, {"block": text}, [text])
        case "reword":
            report = book.reword(apply=options.apply)
            _out(
                options,
                report,
                [f"{one['lesson']}: {one['claim']}" for one in report["proposed"]],
            )
        case "curate":
            report = (
                (book.last_curation() or {})
                if options.last
                else book.curate(apply=options.apply)
            )
            _out(
                options,
                report,
                [f"{name}: {value}" for name, value in report.items()]
                or ["never curated"],
            )
        case "add":
            id_ = book.add(
                _given(options, "CLAIM"),
                when=options.when,
                then=options.then,
                evidence=options.evidence,
                state=options.state,
                tags=options.tags,
            )
            _out(options, {"id": id_}, [id_])
        case _:
            book.retire(_given(options, "ID"), reason=options.reason)
            _out(
                options,
                {"id": options.subject, "standing": "retired"},
                [f"{options.subject} retired"],
            )


def answers(options: argparse.Namespace, memory: Memory) -> None:
    """List prior answers, or evict what is old or unread."""
    book = memory.experience.answers
    if options.action == "evict":
        gone = book.evict(by=options.by, dry_run=options.dry_run)
        return _out(
            options,
            gone,
            [f"{id_}  {reason}" for id_, reason in gone.items()] or ["nothing goes"],
        )
    known = [
        {"id": a.id, "subject": a.subject, "question": a.question, "answer": a.answer}
        for a in book.all()
    ]
    lines = [f"{a['subject']}: {a['question']} {a['answer']}" for a in known]
    return _out(options, known, lines or ["no prior answers yet"])


def evaluate(options: argparse.Namespace, memory: Memory) -> None:
    """The same agent over the same scenarios, with this memory and with flat vectors."""
    scenarios: list[Scenario] = []
    for name in options.scenarios:
        read = _json(name)
        with prefix_field(f"{name}: "):
            scenarios += parse_scenarios(read)
    embedder = memory.sessions.open(memory.scope).embedder
    memories: dict[str, Callable[[], TrialMemory]] = {
        "memory": lambda: ExperienceMemory(embedder.embed, word_embedding(embedder)),
        "flat": lambda: FlatMemory(embedder.embed),
    }
    printed: dict[str, Any] = {"scenarios": len(scenarios)}
    for agent, make in memories.items():
        score = Score()
        for scenario in scenarios:
            run(scenario, make(), embedder.embed, score)
        printed[agent] = score.to_dict()
    _out(
        options,
        printed,
        [
            line
            for agent in ("memory", "flat")
            for line in _score_lines(agent, printed[agent])
        ],
    )


def _score_lines(agent: str, score: dict[str, Any]) -> list[str]:
    types = ", ".join(
        f"{type_} {share:.2f}" for type_, share in score["accuracyByType"].items()
    )
    explicit = score["explicitOutcomeShare"]
    return [
        f"{agent}: {score['right']} of {score['rounds']} right ({types})",
        f"    retrieved with an explicit outcome: {'-' if explicit is None else f'{explicit:.2f}'}; "
        f"right applications {score['rightApplications']}, false ones {score['falseApplications']}",
    ]


def _json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Rejected(name, "does not exist") from error
    except (OSError, ValueError) as error:
        raise Rejected(
            name, f"cannot be read as JSON ({type(error).__name__})"
        ) from error


def _given(options: argparse.Namespace, what: str) -> str:
    if options.subject is None:
        raise Rejected(f"lessons {options.action}", f"needs {what}")
    return str(options.subject)


def _line(one: dict[str, Any]) -> str:
    words = one["situation"][:80]
    return f"{one['id']}  {one['began'][:16]}  {one['outcome']:<8} {one['state'] or '-'}  {words}"


def _out(options: argparse.Namespace, value: Any, lines: list[str]) -> None:
    print(as_json(value) if options.json else "\n".join(lines))
