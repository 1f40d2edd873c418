"""The parts of a message: what each of them states holds or ends by itself."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from varve.domain.language.abbreviations import build_abbreviation, split_at
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    Cues,
    join_phrases,
    read_cues,
)
from varve.domain.statements.texts.particulars import count_shared
from varve.domain.statements.texts.several import list_matters

_SENTENCE_ENDS = re.compile(r"(?<=[.!?;])\s+")
_CLAUSE_ENDS = re.compile(
    r"(?<=,)\s+|\s+(?=(?:and|but|y|pero|with\smy|con\smis?)\s)", re.I
)
_ABBREVIATION = build_abbreviation(r"drs|e\.g|i\.e")
_JOINT = re.compile(r"(?:and|but|y|pero)\s+", re.IGNORECASE)
_BESIDE = re.compile(r"(?:with|con)\s", re.IGNORECASE)
MIN_CLAUSE_WORDS = 2
"""A clause of another topic has so many words beside "and"."""


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def split_parts(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, and their clauses that state something themselves.

    "I live in Porto, near the sea, and I work at Acme." has two parts.
    """
    parts: list[str] = []
    for sentence in split_sentences(text):
        first, *clauses = _CLAUSE_ENDS.split(sentence)
        parts.append(first)
        for clause in clauses:
            if _states_itself(clause, parts[-1]):
                parts.append(clause)
            else:
                parts[-1] += f" {clause}"
    return tuple(parts)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    sentences = split_at(text.strip(), _SENTENCE_ENDS, _ABBREVIATION)
    return [one for one in sentences if one]


def _states_itself(clause: str, before: str) -> bool:
    """Return whether a clause tells of the speaker, of another person, or of another topic.

    "And penicillin" only goes on with a list.
    """
    told = read_cues(clause)
    said = read_cues(before)
    if _BESIDE.match(clause):
        return _tells_beside(told, said)
    if told.has("own") or _tells_beside_harm(told, said):
        return True
    if told.begins_with_other and told.present:
        return True
    if len(_JOINT.sub("", clause).split()) < MIN_CLAUSE_WORDS:
        return False
    matters = list_matters(told)
    return (
        bool(matters)
        and not told.persons
        and matters.isdisjoint(list_matters(said))
    )


def _tells_beside(told: Cues, before: Cues) -> bool:
    """Return whether "with my cat Luna" tells another matter than what stands before it.

    That must say enough by itself: "I live" does not.
    """
    has_value = before.tells_name or bool(before.particulars.numbers)
    matters = list_matters(told)
    return (
        has_value
        and bool(matters)
        and matters.isdisjoint(list_matters(before))
    )


def _tells_beside_harm(told: Cues, before: Cues) -> bool:
    """Return whether one text tells an allergy, and the other a way to eat."""
    if before.has("harming"):
        return told.has("diets") and not told.has("harming")
    return told.has("harming") and before.has("diets")


def find_parts(text: str, words: str) -> frozenset[int]:
    """Return the numbers of the parts from which words were drawn, such as a fact.

    Those share most telling words with it. All parts, if none shares any.
    """
    drawn = read_cues(words).particulars
    parts = split_parts(text)
    shared = [count_shared(read_cues(one).particulars, drawn) for one in parts]
    most = max(shared, default=0)
    return frozenset(
        number for number, count in enumerate(shared) if count == most
    )


def find_corrected_parts(text: str, correction: str) -> frozenset[int]:
    """Return the numbers of the parts of a text that a correction of it is about.

    Those are the parts most akin to a part of the correction. All parts, if none is akin.
    """
    parts = split_parts(text)
    found: set[int] = set()
    for told in map(read_cues, split_parts(correction)):
        kinship = [_measure_part(told, one) for one in parts]
        most = max(kinship, default=0)
        if most:
            found |= {at for at, one in enumerate(kinship) if one == most}
    return frozenset(found or range(len(parts)))


def asks_for_parts(
    question: Cues, text: str, parts: frozenset[int], correction: str
) -> bool:
    """Return whether a question asks for the corrected parts of a text rather than for the others.

    `correction` is what was said in their place.
    """
    every = split_parts(text)
    corrected = [one for at, one in enumerate(every) if at in parts]
    others = [one for at, one in enumerate(every) if at not in parts]
    asked = measure_kinship(question, [*corrected, correction])
    return asked > _measure_beside(question, others)


def _measure_beside(question: Cues, others: list[str]) -> int:
    """Return the kinship of a question with the parts beside those corrected."""
    return max((_measure_part(question, one) for one in others), default=0)


def _measure_part(told: Cues, part: str) -> int:
    """Return the kinship of a text, such as a question, with a part of a message.

    A text about eating is about an allergy only if it names what that is about.
    """
    said = read_cues(part)
    if said.has("harming") and not told.has("harming"):
        return count_shared(said.particulars, told.particulars)
    return measure_kinship(told, [part])


def measure_kinship(question: Cues, texts: list[str]) -> int:
    """Return the most topics and telling words that a text shares with a question."""
    kinship = 0
    for text in texts:
        told = read_cues(text)
        shared = count_shared(told.particulars, question.particulars)
        matters = list_matters(told) & list_matters(question)
        kinship = max(kinship, shared + len(matters))
    return kinship


def leave_out_parts(text: str, parts: frozenset[int]) -> str:
    """Return a text without some of its parts."""
    left = [one for at, one in enumerate(split_parts(text)) if at not in parts]
    if not left:
        return ""
    joint = _JOINT.match(left[0])
    first = left[0][joint.end() :] if joint else left[0]
    rest = " ".join([first, *left[1:]])
    return (rest[:1].upper() + rest[1:]).rstrip(",")


def find_with_rest(
    parts: Sequence[str], tells: Callable[[int], bool]
) -> list[int]:
    """Return the numbers of the parts that tell something, or go on from one that does."""
    found: list[int] = []
    for number, part in enumerate(parts):
        is_same = found[-1:] == [number - 1] and goes_on(part)
        if is_same or tells(number):
            found.append(number)
    return found


def goes_on(text: str) -> bool:
    """Return whether a part of a message tells of the same as the part before."""
    return _compile_dangling().match(fold_apostrophes(text)) is not None


@cache
def _compile_dangling() -> re.Pattern[str]:
    words = join_phrases(lambda language: language.forgetting.dangling)
    return re.compile(rf"(?:{words})\b")
