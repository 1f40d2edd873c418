"""Answers that say the same in other words, so that their episodes support one lesson."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from varve.domain.experience.history import PastEpisode
from varve.domain.experience.rows import lesson_id
from varve.domain.experience.words import content_words
from varve.domain.statements.texts.particulars import read_particulars

if TYPE_CHECKING:
    from varve.domain.experience.alike import Embed  # loads numpy

PARAPHRASE_COSINE = 0.6
"""The least cosine of two answers in other words."""
MIN_SHARED_WORDS = 2
"""Words that an answer within another one has, and that the reasons of two share."""


@dataclass(slots=True)
class _AnswerOfLesson:
    """A lesson's answer, its state, and the stems of the corrections that gave it."""

    lesson_id: str
    text: str
    state: str | None
    reasons: set[str] = field(default_factory=set)


def group_by_answer(
    resolved: Sequence[PastEpisode],
    known: Iterable[str],
    embed: "Embed | None" = None,
) -> dict[str, str]:
    """Return the lesson of each resolved episode, by the episode's id.

    Answers that say the same have one lesson: that of `known` lessons, else of the oldest
    episode. Without `embed`, an answer says the same only if it is part of the other.
    """
    answers = _collect_answers(resolved)
    stored = set(known)
    ordered = sorted(answers.values(), key=lambda a: a.lesson_id not in stored)
    chosen: list[_AnswerOfLesson] = []
    lesson_of: dict[str, str] = {}
    for answer in ordered:
        alike = (one for one in chosen if _say_the_same(one, answer, embed))
        same = next(alike, answer)
        if same is answer:
            chosen.append(answer)
        lesson_of[answer.lesson_id] = same.lesson_id
    return {past.id: lesson_of[_own_lesson(past)] for past in resolved}


def _own_lesson(past: PastEpisode) -> str:
    return lesson_id(past.state, str(past.resolution))


def _collect_answers(
    resolved: Sequence[PastEpisode],
) -> Mapping[str, _AnswerOfLesson]:
    """Return the distinct answers with their reasons, the oldest first."""
    answers: dict[str, _AnswerOfLesson] = {}
    for past in resolved:
        id_ = _own_lesson(past)
        answer = _AnswerOfLesson(id_, str(past.resolution), past.state)
        reasons = answers.setdefault(id_, answer).reasons
        reasons |= content_words(past.correction or "")
    return answers


def _say_the_same(
    one: _AnswerOfLesson, other: _AnswerOfLesson, embed: "Embed | None"
) -> bool:
    """Return whether two answers ask for one action.

    Vectors hardly tell "raise the pool" from "lower the pool". So answers in other words
    must share half of their words, and words of the corrections that gave them.
    """
    if one.state != other.state or _differ_in_figures(one.text, other.text):
        return False
    words = content_words(one.text)
    other_words = content_words(other.text)
    shared = len(words & other_words)
    fewest = min(len(words), len(other_words))
    if shared == fewest and shared >= MIN_SHARED_WORDS:
        return True
    has_same_reason = len(one.reasons & other.reasons) >= MIN_SHARED_WORDS
    shares_half = 2 * shared >= fewest > 0
    if embed is None or not has_same_reason or not shares_half:
        return False
    vector, other_vector = embed([one.text, other.text])
    return float(vector @ other_vector) >= PARAPHRASE_COSINE


def _differ_in_figures(one: str, other: str) -> bool:
    mine, theirs = read_particulars(one), read_particulars(other)
    figures = (mine.numbers, mine.dates, mine.denials)
    return figures != (theirs.numbers, theirs.dates, theirs.denials)
