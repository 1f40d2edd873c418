"""Summaries of several users, as older stores have them, taken apart by user.

The text of such a summary belongs to no single user. Its key facts name their users, and
the timeline still has the words with theirs. Each user's next summary is made of these.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from varve.domain.calendar import Grain, Period, parse_instant
from varve.domain.conversation import SPOKEN, Message, owner_of_each
from varve.domain.echo import without_injected
from varve.domain.identity import Scope, digest
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.summary import KeyFact, Source, key_facts_from_json
from varve.domain.text import passages, salience
from varve.ports.objects import Objects
from varve.usecases.timeline import list_days, messages_of_day

RecalledByUser = Mapping[str | None, tuple[list[Source], list[KeyFact]]]
"""Each user's words and key facts."""
_Span = tuple[str, str]
"""The first and the last local day of a period."""
_DatedSource = tuple[str, Source]
"""A local day, and a source of that day."""


def recall_users(
    scope: Scope,
    summary: Record,
    grain: Grain,
    below: Sequence[Record],
    *,
    objects: Objects,
) -> RecalledByUser:
    """Return the words and key facts of a summary's users.

    It is empty if the summary is known to hold no user's words: it is then the summary
    of the messages without a user. `below` are the records of the finer grain that still
    exist; words that they hold are left out. Raises Retryable.
    """
    facts = key_facts_from_json(summary.key_facts)
    said = list(_read_words(scope, Period(grain, summary.period), objects))
    users = _users(facts, said) | _cited_users(summary, below)
    if users <= {None}:
        return {}
    kept = {one.id for one in below}
    recalled: RecalledByUser = {user_id: ([], []) for user_id in users}
    for fact in facts:
        recalled[fact.user_id][1].append(fact)
    for source in (*map(_fact_source, facts), *_uncovered(said, below)):
        if source.id not in kept:
            recalled[source.user_id][0].append(source)
    return recalled


def _users(
    facts: Iterable[KeyFact], said: Iterable[_DatedSource]
) -> set[str | None]:
    users = {fact.user_id for fact in facts}
    users.update(source.user_id for _, source in said)
    return users


def _cited_users(summary: Record, below: Iterable[Record]) -> set[str | None]:
    return {one.user_id for one in below if one.id in summary.source_ids}


def _uncovered(
    said: Sequence[_DatedSource], below: Sequence[Record]
) -> Iterator[Source]:
    """Yield the words of the days that no summary below covers."""
    spans = _spans_of_summaries(below)
    for day, source in said:
        if not any(first <= day <= last for first, last in spans):
            yield source


def _spans_of_summaries(below: Sequence[Record]) -> frozenset[_Span]:
    """Return the first and last day of each period that has a summary."""
    labels = {
        one.period for one in below if one.memory_type is MemoryType.SUMMARY
    }
    return frozenset(_span(Period.parse(label)) for label in labels)


def _span(period: Period) -> _Span:
    first, last = period.days
    return first.isoformat(), last.isoformat()


def _read_words(
    scope: Scope, period: Period, objects: Objects
) -> Iterator[_DatedSource]:
    """Yield the turns on the timeline of a period, by day and conversation."""
    first, last = _span(period)
    for day in list_days(scope, objects=objects):
        if not first <= day <= last:
            continue
        conversations: dict[str, list[dict[str, Any]]] = {}
        of_day = messages_of_day(day, scope, objects=objects)
        for conversation_id, line in of_day:
            conversations.setdefault(conversation_id, []).append(line)
        for conversation_id, lines in sorted(conversations.items()):
            for source in _turns(conversation_id, lines):
                yield day, source


def _turns(
    conversation_id: str, lines: list[dict[str, Any]]
) -> Iterator[Source]:
    lines.sort(key=lambda line: int(line["position"]))
    messages = [Message.model_validate(line["message"]) for line in lines]
    said = [
        (message.role, message.user_id, line.get("userId"))
        for message, line in zip(messages, lines, strict=True)
    ]
    owners = owner_of_each(said)
    for line, message, owner in zip(lines, messages, owners, strict=True):
        if message.role not in SPOKEN:
            continue
        speaker = message.name
        if not speaker:
            speaker = owner if message.role == "user" else None
        pieces = passages(without_injected(message.text))
        for number, words in enumerate(pieces):
            text = f"{speaker or message.role.capitalize()}: {words}"
            yield Source(
                id=turn_id(conversation_id, str(message.id), number),
                memory_type=MemoryType.TURN,
                fingerprint=digest(text, length=16),
                text=text,
                at=parse_instant(line["at"]),
                importance=salience(words),
                user_id=owner,
            )


def _fact_source(fact: KeyFact) -> Source:
    return Source(
        id=fact.id,
        memory_type=MemoryType.FACT,
        fingerprint=digest(fact.content, length=16),
        text=fact.content,
        at=fact.event_time,
        importance=fact.importance,
        user_id=fact.user_id,
    )
