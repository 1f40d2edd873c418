"""A chat model's part in experience: how an episode ended where nothing says so, and a lesson's words.

Both are proposals that are checked: an outcome counts only with a quote that stands in the messages, a
wording only where it is of use, keeps the lesson's action and speaks of its evidence.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from varve.domain.errors import Rejected
from varve.domain.experience.history import PastEpisode
from varve.domain.experience.lessons import Lesson, explain_vagueness
from varve.domain.experience.outcomes import UNDECIDED, Outcome, Verdict
from varve.domain.experience.rows import WORDED, LessonVersion
from varve.domain.experience.words import content_words
from varve.ports.models import LLM
from varve.prompts.experience import (
    JUDGE,
    WORD,
    LessonReply,
    OutcomeReply,
    judge_text,
    word_text,
)

MAX_CHARACTERS = 300
GROUNDED = 2
"""Words of a condition that must be the evidence's own."""
EVIDENCE = 20


class ModelJudge:
    """Says how an episode ended, by a model."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def __call__(self, said: Sequence[tuple[str, str]]) -> Verdict:
        """The verdict on (role, text) pairs; undecided where the model's quote stands in none of them.

        Raises Retryable, Misconfigured.
        """
        if len(said) < 2:
            return UNDECIDED
        try:
            reply = self._llm.complete(JUDGE, judge_text(said), OutcomeReply)
        except Rejected:
            return UNDECIDED
        quote = _plain(reply.quote)
        outcome = Outcome(reply.outcome)
        if (
            outcome is Outcome.UNKNOWN
            or not quote
            or not any(quote in _plain(text) for _, text in said)
        ):
            return UNDECIDED
        return Verdict(outcome, "model", quote[:MAX_CHARACTERS])


def worded(
    lesson: Lesson, evidence: Sequence[PastEpisode], now: datetime, llm: LLM
) -> LessonVersion:
    """A derived lesson in a model's words.

    Raises Rejected: the words are of no use; Retryable, Misconfigured.
    """
    episodes = [
        (one.episode.situation, one.correction or "") for one in evidence[-EVIDENCE:]
    ]
    reply = llm.complete(WORD, word_text(lesson.action, episodes), LessonReply)
    condition, claim = (
        " ".join(text.split()) for text in (reply.condition, reply.claim)
    )
    if max(len(condition), len(claim)) > MAX_CHARACTERS:
        raise Rejected("lesson", f"is longer than {MAX_CHARACTERS} characters")
    if reason := explain_vagueness(condition, lesson.action):
        raise Rejected("lesson", reason)
    if content_words(lesson.action) - content_words(claim):
        raise Rejected("lesson", "does not name the action as it is")
    own = content_words(" ".join(text for episode in episodes for text in episode))
    if len(content_words(condition) & own) < GROUNDED:
        raise Rejected("lesson", "speaks of what its episodes do not")
    return replace(
        lesson.versions[-1],
        claim=claim,
        condition=condition,
        at=now,
        created_at=now,
        origin=WORDED,
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
