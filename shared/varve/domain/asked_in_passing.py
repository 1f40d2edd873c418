"""The assistant's questions of a conversation, and which of them an answer needs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from varve.domain.language.courtesies import is_courtesy
from varve.domain.language.tokens import bare_words, fold
from varve.domain.source_lines import SourceLine
from varve.domain.statements.texts.cues import (
    compile_phrases,
    join_phrases,
    read_cues,
)
from varve.domain.statements.texts.persons import is_person

QUESTION_MARKS = ("?", "？")
_BARE = 3
"""An answer of so few words needs its question."""
_SHORT = 6
"""So does one of so few words that has no verb that its language lists."""


@dataclass(frozen=True, slots=True)
class AskedInPassing:
    """The assistant's questions that no answer needs, and the answers that need theirs."""

    idle: frozenset[SourceLine]
    answers: frozenset[SourceLine]


def find_asked_in_passing(lines: Sequence[SourceLine]) -> AskedInPassing:
    """Return which of the assistant's questions are idle, by their answers.

    "How old is he?" before "Nine." is not, "Is there anything else?" always is. `lines` are
    in the order of a conversation; those of one time may be in any.
    """
    idle: set[SourceLine] = set()
    answers: set[SourceLine] = set()
    for place, line in enumerate(lines):
        if not _asks(line):
            continue
        needing = _list_needing(lines, place)
        answers.update(needing)
        if not needing:
            idle.add(line)
    return AskedInPassing(frozenset(idle), frozenset(answers))


def _asks(line: SourceLine) -> bool:
    is_said = bool(line.speaker) and not is_person(line.speaker)
    return is_said and line.sentence.endswith(QUESTION_MARKS)


def _list_needing(lines: Sequence[SourceLine], place: int) -> list[SourceLine]:
    """Return the answers that are not understood without a question."""
    asked = fold(lines[place].sentence)
    if is_courtesy(asked) or _compile_offers().search(asked):
        return []
    answers = _list_answers(lines, place)
    return [one for one in answers if needs_question(one.sentence)]


def _list_answers(
    lines: Sequence[SourceLine], place: int
) -> Iterator[SourceLine]:
    """Yield the first sentence said after a question, and those said at its own time."""
    question = lines[place]
    for line in lines[place + 1 :]:
        if not line.speaker or not is_person(line.speaker):
            continue
        if line.day != question.day:
            return
        yield line
        if not line.heard or line.at > question.at:
            return
    if question.heard:
        yield from _list_beside(lines[:place], question)


def _list_beside(
    lines: Iterable[SourceLine], question: SourceLine
) -> Iterator[SourceLine]:
    for line in lines:
        is_beside = line.heard and line.at == question.at
        if is_beside and line.speaker and is_person(line.speaker):
            yield line


def needs_question(answer: str) -> bool:
    """Return whether an answer is not understood without its question: "Yes, on Monday."."""
    if is_courtesy(answer):
        return False
    text = fold(answer)
    words = bare_words(text)
    if len(words) <= _BARE or _compile_answering().match(text):
        return True
    if read_cues(answer).has("own") or _compile_stating().search(text):
        return False
    return len(words) <= _SHORT


@cache
def _compile_offers() -> re.Pattern[str]:
    return compile_phrases(lambda language: language.questions.offering)


@cache
def _compile_answering() -> re.Pattern[str]:
    words = join_phrases(lambda language: language.questions.answering)
    return re.compile(rf"\W*(?:{words})(?!\w)")


@cache
def _compile_stating() -> re.Pattern[str]:
    return compile_phrases(lambda language: language.questions.stating)
