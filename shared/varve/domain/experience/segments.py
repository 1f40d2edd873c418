"""Segmentation of messages into episodes; every cut has a reason.

A cut depends only on the message after it and the messages before it. So when a conversation
grows, its episodes stay, the last one gets longer, and new ones follow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from varve.domain.experience.outcomes import Outcome, read_cues
from varve.domain.record import Vector

RUN_BEGINS = "the run begins"
"""The reason of the first cut of a run."""
NEW_SUBJECT = "subject: "
"""The beginning of the reason of a cut at a long silence before a new subject."""
SHORTEST_SUBJECT = 3
"""A message of fewer words has no subject of its own."""
SHORTEST = 8
"""A message of fewer words cannot be a shift of meaning: thanks, yes, go on."""


@dataclass(frozen=True, slots=True)
class SegmentMessage:
    """One message of a segment; `vector` is None if the message has no words.

    `regime` has the circumstances that the caller states, such as `{"rates": "high"}`.
    """

    conversation_id: str
    message_id: str
    role: str
    text: str
    at: datetime
    vector: "Vector | None" = None
    state: str | None = None
    signal: str | None = None
    outcome: str | None = None
    user_id: str | None = None
    regime: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits of an episode.

    A new one begins after a silence of `gap`, or if the cosine of a message and the `window`
    messages before it is below `likeness`. After a silence of `subject_gap`, a cosine below
    `subject_likeness` is a new subject, and begins one though no message is labelled.
    """

    gap: timedelta = timedelta(hours=2)
    likeness: float = 0.1
    window: int = 4
    subject_gap: timedelta = timedelta(hours=6)
    subject_likeness: float = 0.2


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Segment:
    """The messages of one episode, and the reason for the cut before it."""

    messages: tuple[SegmentMessage, ...]
    why: str

    @property
    def state(self) -> str | None:
        """The first state that a message of the segment has, if any."""
        states = [message.state for message in self.messages if message.state]
        return states[0] if states else None


def cut_segments(
    messages: Iterable[SegmentMessage],
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> list[Segment]:
    """Cut a run of messages, ordered by time, into the segments of its episodes.

    The messages may come from several conversations.
    """
    segments: list[Segment] = []
    current: list[SegmentMessage] = []
    why = RUN_BEGINS
    state: str | None = None
    for message in messages:
        reason = (
            _cut_reason(current, state, message, thresholds)
            if current
            else None
        )
        if reason is not None:
            segments.append(Segment(tuple(current), why))
            current = []
            why = reason
            state = None
        current.append(message)
        state = message.state or state
    if current:
        segments.append(Segment(tuple(current), why))
    return segments


def _cut_reason(
    before: Sequence[SegmentMessage],
    state: str | None,
    message: SegmentMessage,
    limits: Thresholds,
) -> str | None:
    """Return why a new episode begins with the message, or None if it does not."""
    last = before[-1]
    if last.signal == "episode_end":
        return "signal: episode_end"
    if message.signal == "episode_start":
        return "signal: episode_start"
    if message.state and state and message.state != state:
        return f"state: {state} to {message.state}"
    silence = message.at - last.at
    window = before[-limits.window :]
    if silence >= limits.gap:
        return _gap_reason(window, message, silence, limits)
    likeness = _likeness(window, message, SHORTEST)
    if likeness is not None and likeness < limits.likeness:
        return f"meaning: cosine {likeness:.2f} to the {limits.window} messages before"
    return None


def _gap_reason(
    window: Sequence[SegmentMessage],
    message: SegmentMessage,
    silence: timedelta,
    limits: Thresholds,
) -> str:
    """Return the reason of a cut at a silence: whether a new subject follows it."""
    passed = f"{_hours_and_minutes(silence)} of silence"
    likeness = _likeness(window, message, SHORTEST_SUBJECT)
    is_new = likeness is not None and likeness < limits.subject_likeness
    if silence >= limits.subject_gap and is_new:
        return f"{NEW_SUBJECT}{passed}, cosine {likeness:.2f}"
    return f"gap: {passed}"


def _likeness(
    window: Sequence[SegmentMessage], message: SegmentMessage, shortest: int
) -> float | None:
    """Return the cosine of a user's message and the window's mean.

    None if the message cannot start an episode: it is no user's, is short, or says how the
    current episode ended.
    """
    vectors = [one.vector for one in window if one.vector is not None]
    if message.role != "user" or message.vector is None or not vectors:
        return None
    if len(message.text.split()) < shortest or _states_outcome(message):
        return None
    import numpy as np  # here, because modules that only need the thresholds import this

    mean = np.mean(np.stack(vectors), axis=0)
    length = float(np.linalg.norm(mean))
    if not length:
        return None
    product = np.dot(mean, message.vector)
    return float(product) / length


def _states_outcome(message: SegmentMessage) -> bool:
    """Return whether the message has an outcome or words that imply one."""
    if message.outcome:
        return True
    cues = read_cues([(message.role, message.text)])
    return cues.outcome is not Outcome.UNKNOWN


def _hours_and_minutes(span: timedelta) -> str:
    hours, minutes = divmod(int(span.total_seconds()) // 60, 60)
    return f"{hours} h {minutes:02} min"
