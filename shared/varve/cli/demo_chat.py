"""`varve demo --chat`: what memory makes of a person's own chat."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

from varve.api.memory import Memory
from varve.cli.opening import OpenedMemories
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse
from varve.importers.files import show_name
from varve.importers.items import ImportOptions
from varve.importers.names import AUTO

RESULTS = 3
"""Results of each answer."""
NAMES = 3
"""Persons and things that are asked about."""

SPEAKERS = ("user", "assistant")
"""Names of speakers whose own names are not known."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question for one memory; without text it asks for the newest memories."""

    scope: Scope
    text: str


Answer: TypeAlias = tuple[AskedQuestion, SearchResponse]


def ask(memory: Memory, text: str) -> Answer:
    """Ask a memory, and return the question with its answer."""
    response = memory.search(text, max_results=RESULTS)
    return AskedQuestion(memory.scope, text), response


def answer_chat(name: str, memories: OpenedMemories) -> list[Answer]:
    """Store a chat of any format, and answer what it may be asked.

    Those are the names that its facts mention most, and the newest memories. Raises
    Rejected: the file cannot be read, or holds nothing to store.
    """
    from varve.cli.file_import import import_one  # the readers are many

    given = ImportOptions(PurePath(show_name(name)).stem)
    report = import_one(name, AUTO, given, memories.open)
    if report.is_empty:
        reason = (
            report.failures[0] if report.failures else "holds no conversation"
        )
        raise Rejected(show_name(name), reason)
    answers: list[Answer] = []
    for memory in memories.by_scope.values():
        answers += _answer(memory)
    return answers


def _answer(memory: Memory) -> list[Answer]:
    from varve.api.inspection import Inspection

    names = [entity.name for entity in Inspection(memory).entities()]
    asked = [name for name in names if name.casefold() not in SPEAKERS]
    answers = [ask(memory, f"What about {name}?") for name in asked[:NAMES]]
    return [*answers, ask(memory, "")]
