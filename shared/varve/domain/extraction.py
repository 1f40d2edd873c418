"""What an extractor is given and what it gives back, whether a model or rules do the reading."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from varve.domain.identity import Scope
from varve.domain.names import normalized
from varve.domain.triple import Op, TripleOperation

RECENT = timedelta(days=31)
"""What is said to have changed longer ago may have changed again since."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message as an extractor sees it: words only, with its speaker and its time in UTC."""

    message_id: str
    role: str
    speaker: str
    text: str
    said_at: datetime
    user_id: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive messages of one conversation: `utterances` to extract from, `context` before them.

    `zone` is the workspace's, in which "last Friday" is meant; `created_at` is when the messages came.
    """

    scope: Scope
    conversation_id: str
    utterances: tuple[Utterance, ...]
    context: tuple[Utterance, ...]
    zone: ZoneInfo
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic statement that stands by itself: no pronouns without a name, no relative dates."""

    content: str
    about: str
    event_time: datetime
    message_ids: tuple[str, ...]
    importance: float = 0.5
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a batch says: facts, and operations on the triples."""

    facts: tuple[Fact, ...] = field(default=())
    operations: tuple[TripleOperation, ...] = field(default=())


def restated(
    operations: Sequence[TripleOperation], spoken: Iterable[Utterance]
) -> list[TripleOperation]:
    """The operations, and once more as of when they were said those that tell of a recent change.

    Who says today "I quit yesterday" says that it holds today too, also where "I work at Acme" was said in
    between. Of several changes of one thing that a message tells of only the last one still holds.
    """
    times = {utterance.message_id: utterance.said_at for utterance in spoken}
    changes = [
        o
        for o in operations
        if o.op is not Op.ADD and times.keys() >= set(o.message_ids)
    ]
    last: dict[tuple[object, ...], datetime] = {}
    for o in changes:
        last[_told(o)] = max(o.event_time, last.get(_told(o), o.event_time))
    again = []
    for o in changes:
        said_at = max(times[id_] for id_ in o.message_ids)
        if (
            o.event_time == last[_told(o)]
            and timedelta(0) < said_at - o.event_time <= RECENT
        ):
            again.append(replace(o, event_time=said_at))
    return [*operations, *again]


def _told(operation: TripleOperation) -> tuple[object, ...]:
    return normalized(operation.subject), operation.predicate, operation.message_ids
