"""The input and output of an extractor, which is a model or a set of rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from varve.domain.identity import Scope
from varve.domain.names import normalized
from varve.domain.triple import Op, TripleOperation

RECENT = timedelta(days=31)
"""The age up to which a change is recent; an older one may have changed again since."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message as an extractor sees it: its text, speaker, and time in UTC."""

    message_id: str
    role: str
    speaker: str
    text: str
    said_at: datetime
    user_id: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive messages of one conversation.

    The extractor reads `utterances`; `context` are the messages before them. Phrases such
    as "last Friday" refer to `zone`, the workspace's time zone. `created_at` is when the
    messages arrived.
    """

    scope: Scope
    conversation_id: str
    utterances: tuple[Utterance, ...]
    context: tuple[Utterance, ...]
    zone: ZoneInfo
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement that is clear by itself: no bare pronouns, no relative dates."""

    content: str
    about: str
    event_time: datetime
    message_ids: tuple[str, ...]
    importance: float = 0.5
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts and triple operations in a batch.

    `if_known` are operations that count only if the graph has the value that they end or
    return to: "Miso passed away" ends a pet if Miso is one.
    """

    facts: tuple[Fact, ...] = field(default=())
    operations: tuple[TripleOperation, ...] = field(default=())
    if_known: tuple[TripleOperation, ...] = field(default=())


Change = tuple[str, str, tuple[str, ...]]
"""What is changed: a normalized subject, a predicate, and the messages that say so."""


def restate_changes(
    operations: Sequence[TripleOperation], spoken: Iterable[Utterance]
) -> list[TripleOperation]:
    """Return the operations, and each recent change a second time as of its message.

    A user who says today "I quit yesterday" also says that it holds today, even if "I
    work at Acme" was said in between. If a message tells of several changes of one thing,
    only the last one is repeated.
    """
    said_at = {utterance.message_id: utterance.said_at for utterance in spoken}
    changes: list[TripleOperation] = []
    for operation in operations:
        is_of_these = said_at.keys() >= set(operation.message_ids)
        if is_of_these and operation.op is not Op.ADD:
            changes.append(operation)
    last_times = _last_times(changes)
    again = []
    for operation in changes:
        told_at = max(said_at[id_] for id_ in operation.message_ids)
        age = told_at - operation.event_time
        is_last = operation.event_time == last_times[_change(operation)]
        if is_last and timedelta(0) < age <= RECENT:
            again.append(replace(operation, event_time=told_at))
    return [*operations, *again]


def _last_times(
    operations: Iterable[TripleOperation],
) -> dict[Change, datetime]:
    """Return the last event time of each change."""
    last: dict[Change, datetime] = {}
    for operation in operations:
        change = _change(operation)
        time = operation.event_time
        last[change] = max(time, last.get(change, time))
    return last


def _change(operation: TripleOperation) -> Change:
    return (
        normalized(operation.subject),
        operation.predicate,
        operation.message_ids,
    )
