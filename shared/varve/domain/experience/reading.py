"""Episodes from segments of the timeline: decisions, assumptions, corrections, by rule."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from varve.domain.experience.outcomes import (
    Outcome,
    Verdict,
    is_correction,
    judge_outcome,
)
from varve.domain.experience.rows import Episode, episode_id
from varve.domain.experience.running import RunningSummary
from varve.domain.experience.segments import Segment, SegmentMessage
from varve.domain.experience.words import content_words

MAX_SITUATION = 600
MAX_QUOTE = 300
TAGS = 6

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECISION = re.compile(
    r"\b(?:i(?:['’]ll| will| am going to| have)|let['’]s|we(?:['’]ll| will| should)|decided|decision:|going"
    r" with|the (?:cause|culprit|fix|solution) is|it is the|voy a|vamos a|haremos|decid\w+|la causa es)\b",
    re.IGNORECASE,
)
_ASSUMPTION = re.compile(
    r"\b(?:i (?:assume|think|suspect|believe|guess)|assuming|probably|presumably|most likely|supongo|creo que"
    r"|probablemente|sospecho)\b",
    re.IGNORECASE,
)
_IMPORTANCE = {
    Outcome.FAILURE: 0.8,
    Outcome.PARTIAL: 0.7,
    Outcome.SUCCESS: 0.6,
    Outcome.UNKNOWN: 0.4,
}
_SUBJECT = re.compile(r"\b[\w]+(?:[-_/.][\w]+)+\b")

Said = Sequence[tuple[str, str]]
"""(role, text) pairs of messages."""
Judge = Callable[[Said], Verdict]
"""Returns the outcome of a piece of conversation."""


def read_segment(
    segment: Segment, created_at: datetime, judge: Judge | None = None
) -> Episode:
    """Return the episode of a segment; its situation is the user's first message.

    `judge` is asked only if no outcome is stated and no words imply one.
    """
    messages = segment.messages
    first = messages[0]
    said = _said(messages)
    situation = _situation(messages)
    verdict = _judge(messages, said, judge)
    corrections = _corrections(said[1:])
    return Episode(
        id=episode_id(first.conversation_id, first.message_id),
        conversation_id=first.conversation_id,
        message_ids=tuple(message.message_id for message in messages),
        began=first.at,
        ended=max(message.at for message in messages),
        situation=situation,
        why=segment.why,
        verdict=verdict,
        created_at=created_at,
        state=segment.state,
        user_id=_first_user(messages),
        subject=_subject(situation),
        task_type=segment.state,
        decisions=_sentences(messages, _DECISION),
        assumptions=_sentences(messages, _ASSUMPTION),
        corrections=corrections,
        tags=_tags(said),
        importance=_importance(verdict, corrections, len(messages)),
        signals=(first.signal, messages[-1].signal),
        summary=_summary(messages),
        regime=_regime(messages),
    )


def _regime(messages: Sequence[SegmentMessage]) -> dict[str, str]:
    """Return the circumstances that the messages state, the last statement of each."""
    regime: dict[str, str] = {}
    for message in messages:
        regime.update(message.regime)
    return regime


def _summary(messages: Sequence[SegmentMessage]) -> str:
    """Return what the episode's user and the agent said, in at most 200 tokens."""
    owners = (None, _first_user(messages))
    summary = RunningSummary()
    for message in messages:
        if message.user_id in owners:
            summary = summary.told(message.role, message.text)
    return summary.text


def _first_user(messages: Sequence[SegmentMessage]) -> str | None:
    users = [message.user_id for message in messages if message.user_id]
    return users[0] if users else None


def _corrections(said: Said) -> tuple[str, ...]:
    texts = [text for role, text in said if is_correction(role, text)]
    return tuple(text[:MAX_QUOTE] for text in texts)


def worth_keeping(segment: Segment) -> bool:
    """Return whether a segment has a state, a signal, an outcome or words that imply one."""
    for message in segment.messages:
        if message.state or message.signal or message.outcome:
            return True
    verdict = judge_outcome([], _said(segment.messages))
    return verdict.outcome is not Outcome.UNKNOWN


def _said(messages: Sequence[SegmentMessage]) -> list[tuple[str, str]]:
    return [
        (message.role, message.text) for message in messages if message.text
    ]


def _situation(messages: Sequence[SegmentMessage]) -> str:
    """Return the first text of the user, or of anyone if the user says nothing."""
    spoken = [message for message in messages if message.text]
    by_user = [message for message in spoken if message.role == "user"]
    texts = [message.text for message in by_user or spoken]
    return texts[0][:MAX_SITUATION] if texts else "(no words)"


def _judge(
    messages: Sequence[SegmentMessage], said: Said, judge: Judge | None
) -> Verdict:
    stated = [message.outcome for message in messages if message.outcome]
    verdict = judge_outcome(stated, said)
    undecided = verdict.outcome is Outcome.UNKNOWN and verdict.source == "none"
    if judge is None or not undecided:
        return verdict
    return judge(said)


def _sentences(
    messages: Sequence[SegmentMessage], pattern: re.Pattern[str]
) -> tuple[str, ...]:
    """Return the assistant's sentences that match the pattern, each once."""
    found: dict[str, None] = {}
    for message in messages:
        if message.role != "assistant":
            continue
        for sentence in _SENTENCE.split(message.text):
            stripped = sentence.strip()
            if stripped and pattern.search(stripped):
                found[stripped[:MAX_QUOTE]] = None
    return tuple(found)


def _subject(situation: str) -> str | None:
    """Return the first technical name in a text: `checkout-service`, `src/app.py`."""
    found = _SUBJECT.search(situation)
    return found[0] if found else None


def _tags(said: Said) -> tuple[str, ...]:
    """Return the most frequent stems, sorted; on a tie the alphabetically first."""
    counts: Counter[str] = Counter()
    for _, text in said:
        counts.update(content_words(text))
    frequent = sorted(counts, key=lambda stem: (-counts[stem], stem))
    return tuple(sorted(frequent[:TAGS]))


def _importance(
    verdict: Verdict, corrections: Sequence[str], length: int
) -> float:
    """Return the importance of an episode: failures and corrections matter most."""
    corrected = 0.1 if corrections else 0.0
    long = 0.01 * min(10, length)
    importance = _IMPORTANCE[verdict.outcome] + corrected + long
    return min(1.0, importance)
