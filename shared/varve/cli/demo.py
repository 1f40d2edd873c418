"""`varve demo`: ingest a corpus, ask its questions, say what to try next."""

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.ingestion import group_by_scope, ingest_in_batches
from varve.cli.inputs import read_conversations
from varve.cli.opening import open_memory
from varve.cli.output import print_result
from varve.cli.reading import format_results, format_status
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse

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
    paths = sorted(corpus.glob("*.json"))
    files = [str(path) for path in paths if path.name != QUESTIONS]
    by_scope = group_by_scope(read_conversations(files))
    memories = {scope: open_memory(options, scope) for scope in by_scope}
    for scope, memory in memories.items():
        for _ in ingest_in_batches(memory, by_scope[scope]):
            pass
    return memories


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
