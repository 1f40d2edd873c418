"""From a segment of the timeline to an episode: what was decided, assumed and corrected, by rule."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from varve.domain.experience.outcomes import Outcome, Verdict, is_correction, judged
from varve.domain.experience.rows import Episode, episode_id
from varve.domain.experience.segments import Heard, Segment
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
_SUBJECT = re.compile(r"\b[\w]+(?:[-_/.][\w]+)+\b")


Judge = Callable[[Sequence[tuple[str, str]]], Verdict]
"""Says of (role, text) pairs how they ended."""


def read_segment(
    segment: Segment, created_at: datetime, judge: Judge | None = None
) -> Episode:
    """The episode of a segment; its situation is the first that the user says in it.

    `judge` is asked where nothing states or gives away how it ended.
    """
    heard = segment.heard
    said = [(one.role, one.text) for one in heard if one.text]
    users = [one.text for one in heard if one.role == "user" and one.text]
    situation = (users or [text for _, text in said] or ["(no words)"])[0][
        :MAX_SITUATION
    ]
    verdict = judged([one.outcome for one in heard if one.outcome], said)
    if (
        judge is not None
        and verdict.outcome is Outcome.UNKNOWN
        and verdict.source == "none"
    ):
        verdict = judge(said)
    corrections = [
        text[:MAX_QUOTE] for role, text in said[1:] if is_correction(role, text)
    ]
    return Episode(
        id=episode_id(heard[0].conversation_id, heard[0].message_id),
        conversation_id=heard[0].conversation_id,
        message_ids=tuple(one.message_id for one in heard),
        began=heard[0].at,
        ended=max(one.at for one in heard),
        situation=situation,
        why=segment.why,
        verdict=verdict,
        created_at=created_at,
        state=segment.state,
        user_id=next((one.user_id for one in heard if one.user_id), None),
        subject=_subject(situation),
        task_type=segment.state,
        decisions=_sentences(heard, _DECISION),
        assumptions=_sentences(heard, _ASSUMPTION),
        corrections=tuple(corrections),
        tags=_tags(said),
        importance=_importance(verdict, corrections, heard),
        signals=(heard[0].signal, heard[-1].signal),
    )


def worth_keeping(segment: Segment) -> bool:
    """Whether there is anything to learn from: a state, a signal, an outcome or a cue for one."""
    told = any(one.state or one.signal or one.outcome for one in segment.heard)
    said = [(one.role, one.text) for one in segment.heard if one.text]
    return told or judged([], said).outcome is not Outcome.UNKNOWN


def _sentences(heard: Sequence[Heard], pattern: re.Pattern[str]) -> tuple[str, ...]:
    """The assistant's sentences that have the pattern, each once."""
    spoken = (
        s.strip()
        for one in heard
        if one.role == "assistant"
        for s in _SENTENCE.split(one.text)
    )
    return tuple(
        dict.fromkeys(s[:MAX_QUOTE] for s in spoken if s and pattern.search(s))
    )


def _subject(situation: str) -> str | None:
    """The first name in it that looks like one of a thing: `checkout-service`, `src/app.py`."""
    found = _SUBJECT.search(situation)
    return found[0] if found else None


def _tags(said: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The stems said most often; of equals the first in the alphabet."""
    counts = Counter(stem for _, text in said for stem in content_words(text))
    return tuple(sorted(sorted(counts, key=lambda stem: (-counts[stem], stem))[:TAGS]))


def _importance(
    verdict: Verdict, corrections: Sequence[str], heard: Sequence[Heard]
) -> float:
    """Failures and corrections matter more than what went well, and that more than what is open."""
    base = {
        Outcome.FAILURE: 0.8,
        Outcome.PARTIAL: 0.7,
        Outcome.SUCCESS: 0.6,
        Outcome.UNKNOWN: 0.4,
    }
    return min(
        1.0,
        base[verdict.outcome] + 0.1 * bool(corrections) + 0.01 * min(10, len(heard)),
    )
