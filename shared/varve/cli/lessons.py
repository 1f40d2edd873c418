"""`varve lessons`."""

import argparse
from collections.abc import Callable
from typing import Any

from varve.api.lessons import LessonBook, lesson_as_json
from varve.api.memory import Memory
from varve.cli.output import print_result
from varve.domain.errors import Rejected, rename_field
from varve.usecases.experience.lessons import Calibration

_OPTION_NAMES = {
    name: f"--{name}" for name in ("when", "then", "evidence", "state", "tags")
}


def add_lessons(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve lessons`."""
    command.add_argument(
        "action",
        choices=list(ACTIONS),
        help="list all, add CLAIM, retire ID, report conflicts and duplicates "
        "(curate), propose a model's words (reword), print Markdown (render), or "
        "print the block for a prompt (block)",
    )
    command.add_argument(
        "subject",
        nargs="?",
        metavar="CLAIM|ID|SITUATION",
        help="claim to add, id to retire, or situation of the block",
    )
    _add_claim_options(command)
    command.add_argument(
        "--reason",
        metavar="TEXT",
        default="",
        help="why the lesson is retired",
    )
    command.add_argument(
        "--apply",
        action="store_true",
        help="write what curate or reword proposes",
    )
    command.add_argument(
        "--last",
        action="store_true",
        help="print the report of the last curate, scheduled or manual",
    )


def _add_claim_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--when",
        metavar="TEXT",
        default="",
        help="condition of the lesson, at least two words (add)",
    )
    command.add_argument(
        "--then", metavar="TEXT", default="", help="action of the lesson (add)"
    )
    command.add_argument(
        "--evidence",
        metavar="EPISODE",
        nargs="*",
        default=[],
        help="ids of episodes and prior answers that support the lesson (add); without "
        "any the lesson has no confidence and says so",
    )
    command.add_argument(
        "--calibration",
        nargs=3,
        metavar=("NAME", "RANGE", "N"),
        help="predictions that the lesson was checked on: name, range, number (add)",
    )
    command.add_argument(
        "--state",
        metavar="S",
        help="activity to which the lesson applies, such as debugging (add)",
    )
    command.add_argument(
        "--tags",
        metavar="TAG",
        nargs="*",
        default=[],
        help="tags of the lesson (add), or tags to select lessons by (block)",
    )


def lessons(options: argparse.Namespace, memory: Memory) -> None:
    """List, add, retire, curate or print lessons."""
    act = ACTIONS[options.action]
    act(options, memory.experience.lessons)


def _list(options: argparse.Namespace, book: LessonBook) -> None:
    values = [lesson_as_json(lesson) for lesson in book.all()]
    lines = []
    for one in values:
        lines.append(
            f"{one['id']}  {one['standing']}  {one['basis']}  {one['claim']}"
        )
    print_result(options, values, lines or ["no lessons yet"])


def _add(options: argparse.Namespace, book: LessonBook) -> None:
    with rename_field(_OPTION_NAMES):
        id_ = book.add(
            _require_subject(options, "CLAIM"),
            when=options.when,
            then=options.then,
            evidence=options.evidence,
            calibration=_read_calibration(options.calibration),
            state=options.state,
            tags=options.tags,
        )
    print_result(options, {"id": id_}, [id_])


def _read_calibration(given: list[str] | None) -> Calibration | None:
    if given is None:
        return None
    name, range_, number = given
    if not number.isdecimal():
        raise Rejected("--calibration", "N must be a number")
    return Calibration(name, range_, int(number))


def _retire(options: argparse.Namespace, book: LessonBook) -> None:
    id_ = _require_subject(options, "ID")
    book.retire(id_, reason=options.reason)
    print_result(
        options, {"id": id_, "standing": "retired"}, [f"{id_} retired"]
    )


def _curate(options: argparse.Namespace, book: LessonBook) -> None:
    if options.last:
        _print_report(options, book.last_curation() or {})
    else:
        _print_report(options, book.curate(apply=options.apply))


def _print_report(options: argparse.Namespace, report: dict[str, Any]) -> None:
    lines = [f"{name}: {value}" for name, value in report.items()]
    print_result(options, report, lines or ["never curated"])


def _reword(options: argparse.Namespace, book: LessonBook) -> None:
    report = book.reword(apply=options.apply)
    lines = [f"{one['lesson']}: {one['claim']}" for one in report["proposed"]]
    print_result(options, report, lines or ["no new words proposed"])


def _render(options: argparse.Namespace, book: LessonBook) -> None:
    markdown = book.render()
    print_result(options, {"markdown": markdown}, [markdown])


def _print_block(options: argparse.Namespace, book: LessonBook) -> None:
    block = book.block(options.subject, tags=options.tags)
    print_result(options, {"block": block}, [block])


ACTIONS: dict[str, Callable[[argparse.Namespace, LessonBook], None]] = {
    "list": _list,
    "add": _add,
    "retire": _retire,
    "curate": _curate,
    "reword": _reword,
    "render": _render,
    "block": _print_block,
}


def _require_subject(options: argparse.Namespace, name: str) -> str:
    if options.subject is None:
        raise Rejected(f"lessons {options.action}", f"needs {name}")
    return str(options.subject)
