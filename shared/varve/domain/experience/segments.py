"""Where one episode ends and the next begins; every cut says why.

The cut before a message depends only on that message and those before it, so the episodes of a
conversation that grows are those it had, the last one longer, and new ones after them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from varve.domain.experience.outcomes import Outcome, cued
from varve.domain.record import Vector

RUN_BEGINS = "the run begins"
"""Why the first episode of a run was cut."""
SHORTEST = 8
"""Words below which a message is too short to be a shift of meaning: thanks, yes, go on."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One message as segmentation sees it; `vector` is None where it has no words."""

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


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which silence, and below which cosine between neighbouring windows, a new episode begins.

    `window` is the number of messages before the cut that the next one is compared with.
    """

    gap: timedelta = timedelta(hours=2)
    likeness: float = 0.1
    window: int = 4


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Segment:
    """The messages of one episode, and why it was cut from what came before."""

    heard: tuple[Heard, ...]
    why: str

    @property
    def state(self) -> str | None:
        """The state its messages were in."""
        return next((one.state for one in self.heard if one.state), None)


def segments(
    messages: Iterable[Heard], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> list[Segment]:
    """The episodes of a run of messages in the order of time, within one conversation or across several."""
    cut: list[Segment] = []
    running: list[Heard] = []
    why, state = RUN_BEGINS, None
    for message in messages:
        reason = _reason(running, state, message, thresholds) if running else None
        if reason is not None:
            cut.append(Segment(tuple(running), why))
            running, why, state = [], reason, None
        running.append(message)
        state = message.state or state
    return [*cut, Segment(tuple(running), why)] if running else cut


def _reason(
    before: Sequence[Heard], state: str | None, message: Heard, limits: Thresholds
) -> str | None:
    """Why a new episode begins with this message; None: it does not."""
    last = before[-1]
    if last.signal == "episode_end":
        return "signal: episode_end"
    if message.signal == "episode_start":
        return "signal: episode_start"
    if message.state and state and message.state != state:
        return f"state: {state} to {message.state}"
    silence = message.at - last.at
    if silence >= limits.gap:
        return f"gap: {_spoken(silence)} of silence"
    likeness = _likeness(before[-limits.window :], message)
    if likeness is not None and likeness < limits.likeness:
        return f"meaning: cosine {likeness:.2f} to the {limits.window} messages before"
    return None


def _likeness(window: Sequence[Heard], message: Heard) -> float | None:
    """The cosine of a message to the window's mean; None where it is no user's, or too short to tell."""
    vectors = [one.vector for one in window if one.vector is not None]
    if message.role != "user" or message.vector is None or not vectors:
        return None
    if len(message.text.split()) < SHORTEST or _closes(message):
        return None
    import numpy as np  # only where episodes are cut, and everybody loads the thresholds

    mean = np.mean(np.stack(vectors), axis=0)
    length = float(np.linalg.norm(mean))
    return float(np.dot(mean, message.vector)) / length if length else None


def _closes(message: Heard) -> bool:
    """Whether it says how what came before has ended, in whatever other words."""
    return (
        bool(message.outcome)
        or cued([(message.role, message.text)]).outcome is not Outcome.UNKNOWN
    )


def _spoken(span: timedelta) -> str:
    hours, minutes = divmod(int(span.total_seconds()) // 60, 60)
    return f"{hours} h {minutes:02} min"
