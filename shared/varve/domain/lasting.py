"""The words of several days that are worth keeping: changes, decisions, and recurring names."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from varve.domain.asked_in_passing import QUESTION_MARKS
from varve.domain.language.stems import stem_all
from varve.domain.language.stopwords import NO_TOPICS
from varve.domain.language.tokens import bare_words, fold, words
from varve.domain.last_states import (
    find_changed_figures,
    find_last_states,
    tells_change,
)
from varve.domain.source_lines import SourceLine
from varve.domain.statements.texts.particulars import read_particulars

LEAST_DAYS = 3
"""Days on which a word must occur to be named as recurring."""
MAX_NAMED = 6

_CHANGE_BONUS = 0.15
_RECURRENCE_BONUS = 0.1
_LAST_STATE_LEAD = 0.01
_ANSWER_WEIGHT = 0.3
_REMARK_WORDS = 4
_BRIEF_WORDS = 2
_AGENTS = frozenset({"assistant", "agent", "bot"})

Floats = npt.NDArray[np.float64]


def recurring_words(lines: Sequence[SourceLine]) -> dict[str, int]:
    """Return the folded words of substance that occur on at least two days, and on how many."""
    days: dict[str, set[str]] = {}
    for line in lines:
        for word in bare_words(fold(line.sentence)):
            if len(word) > 3 and word not in NO_TOPICS and not word.isdigit():
                days.setdefault(word, set()).add(line.day)
    return {word: len(found) for word, found in days.items() if len(found) > 1}


def prefer_what_lasts(
    lines: Sequence[SourceLine],
    relevance: Floats,
    recurring: Collection[str],
    successions: Iterable[tuple[int, int]] = (),
) -> Floats:
    """Return the relevance with bonuses for change and recurrence, and less for an agent.

    The last state of a matter is more relevant than the earlier ones: "They granted the
    licence" than "They refused the licence". So is the later one of a succession, which
    has the indexes of a line and of the one that supersedes it.
    """
    weighed = relevance.copy()
    for index, line in enumerate(lines):
        if line.speaker.casefold() in _AGENTS:
            weighed[index] *= _ANSWER_WEIGHT
        if tells_change(line):
            weighed[index] += _CHANGE_BONUS
        told = set(bare_words(fold(line.sentence)))
        shared = sum(word in recurring for word in told)
        weighed[index] += _RECURRENCE_BONUS * min(1.0, shared / 2)
    states = {*find_last_states(lines), *successions}
    for earlier, later in sorted(states, key=lambda pair: pair[::-1]):
        lead = weighed[earlier] + _LAST_STATE_LEAD
        weighed[later] = max(weighed[later], lead)
    return np.round(weighed, 6)


def leave_out_passing(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines without what does not last; all of them if nothing lasts.

    That is an agent's short remark ("Sounds like a big one.") and the date or figure of a
    thing that a later line changes.
    """
    changed = {earlier for earlier, _ in find_changed_figures(lines)}
    speakers = _find_speakers(lines)
    told = [
        line
        for index, line in enumerate(lines)
        if index not in changed and not _is_remark(line, speakers)
    ]
    return told or list(lines)


def leave_out_remarks(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines without an agent's shortest remarks; all of them if nothing else is left.

    "Take ibuprofen with food" is none, nor is a question, which its answer needs.
    """
    speakers = _find_speakers(lines)
    told = [
        line
        for line in lines
        if line.sentence.endswith(QUESTION_MARKS)
        or not _is_remark(line, speakers, _BRIEF_WORDS)
    ]
    return told or list(lines)


def _find_speakers(lines: Iterable[SourceLine]) -> frozenset[str]:
    """Return the stems of the speakers' names."""
    return stem_all(words(" ".join(line.speaker for line in lines)))


def _is_remark(
    line: SourceLine, speakers: frozenset[str], most: int = _REMARK_WORDS
) -> bool:
    """Return whether an agent's line has few words, and neither figure nor name.

    The name of a speaker, who is addressed, is no such name.
    """
    if line.speaker.casefold() not in _AGENTS:
        return False
    told = read_particulars(line.sentence)
    behind = [word for word in told.telling[1:] if not word.stems & speakers]
    if told.numbers or any(word.named for word in behind):
        return False
    return len(behind) < most


def name_recurring(
    lines: Sequence[SourceLine], terms: Sequence[str]
) -> list[str]:
    """Return the terms that occur on at least `LEAST_DAYS` days, as most lines write them.

    The terms are persons and topics, the most important first.
    """
    found: list[str] = []
    for term in terms:
        named = set(bare_words(fold(term)))
        days = {line.day for line in lines if named <= _words_of(line)}
        if len(days) >= LEAST_DAYS:
            found.append(_spell(term, lines))
    return found[:MAX_NAMED]


def _spell(term: str, lines: Sequence[SourceLine]) -> str:
    """Return a term as most lines write it inside a sentence: "Marco" for "marco".

    One that only begins sentences is written as it begins them.
    """
    written = re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", re.IGNORECASE)
    inside: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for line in lines:
        for found in written.finditer(line.sentence):
            spellings = inside if found.start() else first
            spellings[found[0]] += 1
    (spelling, _), *_ = (inside or first or Counter([term])).most_common(1)
    return spelling


def _words_of(line: SourceLine) -> frozenset[str]:
    return frozenset(bare_words(fold(line.sentence)))
