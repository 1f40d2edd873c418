"""`varve demo`: ingest a corpus or a chat, show what memory finds, say what to try next."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.demo_chat import Answer, AskedQuestion, answer_chat, ask
from varve.cli.look import serve_pages
from varve.cli.opening import OpenedMemories
from varve.cli.output import ask_person, print_result
from varve.cli.progress import show_progress
from varve.cli.reading import format_results
from varve.cli.standing import format_status
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.importers.items import ImportOptions

QUESTIONS = "questions.json"
CONTRACT = "varve"
"""The format of the corpus."""
_PACKAGED = Path(__file__).parents[1] / "corpus"
_IN_REPOSITORY = Path(__file__).parents[3] / "tests" / "corpus"
_OFFER = "Build the summaries, and look at this memory as pages?"


def add_demo(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve demo`."""
    source = command.add_mutually_exclusive_group()
    source.add_argument(
        "--corpus",
        metavar="DIR",
        help=f"directory with conversations and {QUESTIONS}; default: the built-in "
        "corpus",
    )
    source.add_argument(
        "--chat",
        metavar="FILE",
        help="your own chat instead, such as ChatGPT's export; any format of ingest",
    )


def demo(options: argparse.Namespace) -> None:
    """Ingest the corpus or a chat, and print answers from it; offer the pages.

    Raises Rejected: the directory is not a corpus, or a file is invalid.
    """
    memories = OpenedMemories(options)
    if options.chat is None:
        answers = _answer_corpus(options, memories)
        title = "Ten questions, answered by search_memory"
    else:
        answers = answer_chat(options.chat, memories)
        title = "Answers of search_memory"
    statuses = [memory.status() for memory in memories.by_scope.values()]
    first = next(iter(answers), None)
    lines = [
        *_format_demo(statuses, title, answers),
        *_format_next_steps(options, first, memories),
    ]
    print_result(options, _to_json(statuses, answers), lines)
    _offer_pages(options, _choose_memory(first, memories))


def _answer_corpus(
    options: argparse.Namespace, memories: OpenedMemories
) -> list[Answer]:
    """Store the corpus, and return its demo questions with their answers."""
    corpus = _find_corpus(options.corpus)
    questions = json.loads((corpus / QUESTIONS).read_text("utf-8"))
    _ingest(corpus, memories)
    asked = []
    for question in questions:
        if question.get("demo"):
            scope = Scope(question["workspaceId"], question["agentId"])
            asked.append(ask(memories.by_scope[scope], question["question"]))
    return asked


def _find_corpus(given: str | None) -> Path:
    """Return the directory given, else the packaged corpus, else the repository's."""
    places = [Path(given)] if given else [_PACKAGED, _IN_REPOSITORY]
    for place in places:
        with suppress(OSError):  # the name cannot be a path
            if (place / QUESTIONS).is_file():
                return place
    reason = f"{places[0]} holds no corpus ({QUESTIONS} and conversations)"
    raise Rejected("--corpus", reason)


def _ingest(corpus: Path, memories: OpenedMemories) -> None:
    """Store the conversations of the corpus."""
    from varve.cli.file_import import import_one  # the readers are many

    for path in sorted(corpus.glob("*.json")):
        if path.name == QUESTIONS:
            continue
        given = ImportOptions(path.stem)
        report = import_one(str(path), CONTRACT, given, memories.open)
        if report.failures:
            raise Rejected(str(path), report.failures[0])


def _choose_memory(first: Answer | None, memories: OpenedMemories) -> Memory:
    """Return the memory that the first answer comes from."""
    if first is None:
        return next(iter(memories.by_scope.values()))
    return memories.by_scope[first[0].scope]


def _to_json(
    statuses: list[dict[str, Any]], answers: list[Answer]
) -> dict[str, Any]:
    shown = []
    for question, response in answers:
        answer = {"question": question.text, "response": response.to_dict()}
        shown.append(answer)
    return {"status": statuses, "answers": shown}


def _format_demo(
    statuses: list[dict[str, Any]], title: str, answers: list[Answer]
) -> Iterator[str]:
    yield from ["", "Memory holds"]
    for status in statuses:
        yield from format_status(status)
    yield from ["", title]
    for question, response in answers:
        yield ""
        yield f"? {question.text or 'the newest memories'}   ({question.scope})"
        yield from format_results(response, ids=False)


def _format_next_steps(
    options: argparse.Namespace, first: Answer | None, memories: OpenedMemories
) -> Iterator[str]:
    """Yield commands to try on the same store."""
    memory = _choose_memory(first, memories)
    store = memory.sessions.settings.store
    place = Path(store).resolve() if memory.is_directory else store
    program = sys.argv[0] if Path(sys.argv[0]).name == "varve" else "varve"
    scope = memory.scope
    where = (
        f"--store {store} --workspace {scope.workspace} --agent {scope.agent}"
    )
    question = first[0] if first else AskedQuestion(scope, "")
    yield ""
    yield f"The store is {place}. Try next:"
    if question.text:
        yield f'  {program} search "{question.text}" {where}'
    if options.chat is None:
        yield f"  {program} search --since 2026-10-01 {where}"
    yield f"  {program} summarize {where}"
    yield f"  {program} look {where}"


def _offer_pages(options: argparse.Namespace, memory: Memory) -> None:
    """Ask at a terminal whether to serve the pages; do it until Ctrl-C."""
    if options.json or not ask_person(_OFFER):
        return
    with show_progress() as progress:
        memory.summarize(progress=progress)
    serve_pages(options, memory, port=0)
