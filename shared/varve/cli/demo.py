"""`varve demo`: ingest a corpus, ask its questions, say what to try next."""

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.opening import OpenedMemories
from varve.cli.output import format_count, print_result, say
from varve.cli.reading import format_results, format_status
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse
from varve.importers.files import open_source
from varve.importers.items import ImportOptions

QUESTIONS = "questions.json"
_PACKAGED = Path(__file__).parents[1] / "corpus"
_IN_REPOSITORY = Path(__file__).parents[3] / "tests" / "corpus"

Question = dict[str, Any]
Answer = tuple[Question, SearchResponse]


def add_demo(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve demo`."""
    command.add_argument(
        "--corpus",
        metavar="DIR",
        help=f"directory with conversations and {QUESTIONS}; default: the built-in "
        "corpus",
    )


def demo(options: argparse.Namespace) -> None:
    """Ingest the corpus and answer its demo questions.

    Raises Rejected: the directory is not a corpus, or a file in it is invalid.
    """
    corpus = _find_corpus(options.corpus)
    questions = json.loads((corpus / QUESTIONS).read_text("utf-8"))
    memories = _ingest(options, corpus)
    statuses = [memory.status() for memory in memories.values()]
    answers = _ask(questions, memories)
    lines = [
        *_format_demo(statuses, answers),
        *_format_next_steps(options, answers),
    ]
    print_result(options, _to_json(statuses, answers), lines)


def _find_corpus(given: str | None) -> Path:
    """Return the directory given, else the packaged corpus, else the repository's."""
    places = [Path(given)] if given else [_PACKAGED, _IN_REPOSITORY]
    for place in places:
        with suppress(OSError):  # the name cannot be a path
            if (place / QUESTIONS).is_file():
                return place
    reason = f"{places[0]} holds no corpus ({QUESTIONS} and conversations)"
    raise Rejected("--corpus", reason)


def _ingest(options: argparse.Namespace, corpus: Path) -> dict[Scope, Memory]:
    """Store the conversations and return the memory of each agent."""
    # here, because every command loads this module
    from varve.importers import contract
    from varve.importers.formats import find_format
    from varve.importers.run import import_file

    memories = OpenedMemories(options)
    for path in sorted(corpus.glob("*.json")):
        if path.name == QUESTIONS:
            continue
        with open_source(str(path)) as source:
            format_ = find_format(contract.FORMAT, source)
            report = import_file(
                source, format_, ImportOptions(path.stem), memories.open
            )
        if report.failures:
            raise Rejected(str(path), report.failures[0])
        say(f"{path.stem}: stored {format_count(report.conversations, 'conversation')}")
    return memories.by_scope


def _ask(questions: list[Question], memories: dict[Scope, Memory]) -> list[Answer]:
    """Return the demo questions with their answers."""
    answers = []
    for question in questions:
        if question.get("demo"):
            scope = Scope(question["workspaceId"], question["agentId"])
            response = memories[scope].search(question["question"], max_results=3)
            answers.append((question, response))
    return answers


def _to_json(statuses: list[dict[str, Any]], answers: list[Answer]) -> dict[str, Any]:
    shown = []
    for question, response in answers:
        answer = {"question": question["question"], "response": response.to_dict()}
        shown.append(answer)
    return {"status": statuses, "answers": shown}


def _format_demo(statuses: list[dict[str, Any]], answers: list[Answer]) -> list[str]:
    lines = ["", "Memory holds"]
    for status in statuses:
        lines += format_status(status)
    lines += ["", "Ten questions, answered by search_memory"]
    for question, response in answers:
        agent = f"{question['workspaceId']}/{question['agentId']}"
        lines += ["", f"? {question['question']}   ({agent})"]
        lines += format_results(response, ids=False)
    return lines


def _format_next_steps(options: argparse.Namespace, answers: list[Answer]) -> list[str]:
    """Return three commands to try on the same store."""
    question, _ = answers[0]
    store = options.store or "./memory"
    place = store if "://" in store else Path(store).resolve()
    program = sys.argv[0] if Path(sys.argv[0]).name == "varve" else "varve"
    agent = f"--workspace {question['workspaceId']} --agent {question['agentId']}"
    where = f"--store {store} {agent}"
    return [
        "",
        f"The store is {place}. Try next:",
        f'  {program} search "{question["question"]}" {where}',
        f"  {program} search --since 2026-10-01 {where}",
        f"  {program} summarize {where}",
    ]
