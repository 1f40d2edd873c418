"""Experience with a chat model: judge how an episode ended, and word a lesson.

The model's replies are checked. An outcome counts only with a quote from the messages.
A wording counts only if it is specific, keeps the lesson's action and uses words of its
evidence.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from varve.domain.errors import Rejected
from varve.domain.experience.generalizing import explain_vagueness
from varve.domain.experience.history import PastEpisode
from varve.domain.experience.lessons import Lesson
from varve.domain.experience.outcomes import UNDECIDED, Outcome, Verdict
from varve.domain.experience.rows import WORDED, LessonVersion
from varve.domain.experience.words import content_words
from varve.domain.text import casefold_words
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
MIN_GROUNDED_WORDS = 2
"""Words of a condition that must also be in the evidence."""
MAX_EVIDENCE = 20
"""Episodes shown to the model, the last ones."""


class ModelJudge:
    """Judges how an episode ended, with a model."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def __call__(self, said: Sequence[tuple[str, str]]) -> Verdict:
        """Return the verdict on (role, text) pairs; undecided if no text has the model's quote.

        Raises Retryable, Misconfigured.
        """
        if len(said) < 2:
            return UNDECIDED
        try:
            reply = self._llm.complete(JUDGE, judge_text(said), OutcomeReply)
        except Rejected:
            return UNDECIDED
        quote = casefold_words(reply.quote)
        outcome = Outcome(reply.outcome)
        is_said = any(quote in casefold_words(text) for _, text in said)
        if outcome is Outcome.UNKNOWN or not quote or not is_said:
            return UNDECIDED
        return Verdict(outcome, "model", quote[:MAX_CHARACTERS])


def word_lesson(
    lesson: Lesson, evidence: Sequence[PastEpisode], now: datetime, llm: LLM
) -> LessonVersion:
    """Return a derived lesson in a model's words.

    Raises Rejected: the words are of no use; Retryable, Misconfigured.
    """
    recent = evidence[-MAX_EVIDENCE:]
    episodes = [
        (one.episode.situation, one.correction or "") for one in recent
    ]
    reply = llm.complete(WORD, word_text(lesson.action, episodes), LessonReply)
    condition = " ".join(reply.condition.split())
    claim = " ".join(reply.claim.split())
    if max(len(condition), len(claim)) > MAX_CHARACTERS:
        raise Rejected("lesson", f"is longer than {MAX_CHARACTERS} characters")
    if vague := explain_vagueness(condition, lesson.action):
        raise Rejected(*vague)
    if content_words(lesson.action) - content_words(claim):
        raise Rejected("lesson", "does not name the action in the same words")
    evidence_text = " ".join(" ".join(texts) for texts in episodes)
    shared = content_words(condition) & content_words(evidence_text)
    if len(shared) < MIN_GROUNDED_WORDS:
        raise Rejected(
            "lesson", "has a condition that its episodes do not mention"
        )
    return replace(
        lesson.versions[-1],
        claim=claim,
        condition=condition,
        at=now,
        created_at=now,
        origin=WORDED,
    )
