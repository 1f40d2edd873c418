"""What there is of somebody: the messages, and the records that were made of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.erasure import MessageKey, Selector, turn_ids
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.search.query import Filter
from varve.domain.summary import KeyFact, key_facts_from_json
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.usecases.erasure.sweep import Line, read_timeline

EVERYTHING = 1_000_000


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be forgotten, as it is before: its messages and the records that say what they said.

    `lines` are those still on the timeline, `others` what is left there of everybody else, and `kept` the
    facts that are not taken; `records` are the hashes' parts of facts, turns and what summaries stand on.
    """

    messages: frozenset[MessageKey]
    lines: tuple[Line, ...]
    others: tuple[Line, ...]
    kept: tuple[str, ...]
    facts_and_turns: tuple[Record, ...]
    records: frozenset[tuple[str, ...]]

    @property
    def whole(self) -> frozenset[str]:
        """The conversations on the timeline in which nobody else has said anything."""
        others = {line.conversation_id for line in self.others}
        return frozenset(line.conversation_id for line in self.lines) - others

    def __bool__(self) -> bool:
        return bool(self.messages or self.records)


def find(
    scope: Scope, selector: Selector, *, reader: MemoryReader, objects: Objects
) -> Subject:
    """Everything the selector takes. Raises Rejected: it names a summary.

    A fact or a turn takes the messages it was said in, and so whatever else they say: the words that
    bring it back are theirs.
    """
    every = list(working(scope, reader))
    summaries = [record for _, record in summaries_of(scope, reader)]
    if any(record.id in selector.ids for record in summaries):
        raise Rejected(
            "id",
            "is a summary's; name the facts and turns it is made from (varve show)",
        )
    facts = [
        fact for record in summaries for fact in key_facts_from_json(record.key_facts)
    ]
    timeline = [
        line for said in read_timeline(scope, objects=objects).values() for line in said
    ]
    keys = _messages(selector, every, facts, timeline)
    lines = tuple(line for line in timeline if (line.conversation_id, line.id) in keys)
    taken: list[Record] = []
    kept: list[Record] = []
    for r in every:
        goes = _takes(selector, r.id, r.user_id, r.conversation_id) or _of(r) & keys
        (taken if goes else kept).append(r)
    records = {(r.id,) for r in taken} | set(_gone(selector, facts, summaries))
    records |= {
        (id_,) for line in lines for id_ in turn_ids(line.conversation_id, line.message)
    }
    others = tuple(
        line for line in timeline if (line.conversation_id, line.id) not in keys
    )
    stays = [r.content for r in kept if r.memory_type is MemoryType.FACT]
    stays += [
        fact.content
        for fact in facts
        if (fact.id,) not in records and not _said_in(fact) & keys
    ]
    return Subject(
        frozenset(keys), lines, others, tuple(stays), tuple(taken), frozenset(records)
    )


def working(scope: Scope, reader: MemoryReader) -> Iterator[Record]:
    """Every fact and turn, a period at a time."""
    for label in sorted(reader.periods(scope, Grain.WORKING)):
        yield from reader.in_period(scope, Grain.WORKING, label)


def summaries_of(scope: Scope, reader: MemoryReader) -> Iterator[tuple[Grain, Record]]:
    """Every summary, from the finest grain up."""
    for grain in SUMMARY_GRAINS:
        for record in reader.browse(scope, grain, where=Filter(), limit=EVERYTHING):
            yield grain, record


def _messages(
    selector: Selector, every: list[Record], facts: list[KeyFact], timeline: list[Line]
) -> set[MessageKey]:
    keys = {
        (line.conversation_id, line.id)
        for line in timeline
        if selector.user in line.users
    }
    keys |= {
        (x.conversation_id, x.id)
        for x in timeline
        if x.conversation_id == selector.conversation
    }
    known = {(line.conversation_id, line.id) for line in timeline}
    for record in every:
        named = record.id in selector.ids
        if named or _takes(selector, "", None, record.conversation_id):
            keys |= _of(record)
        elif (
            record.memory_type is MemoryType.TURN
            and record.user_id == selector.user
            and selector.user
        ):
            # What the timeline knows of a message is more than the turn does; else the turn must do.
            keys |= _of(record) - known
    for fact in facts:
        if fact.id in selector.ids:
            keys |= _said_in(fact)
    return keys


def _gone(
    selector: Selector, facts: list[KeyFact], summaries: list[Record]
) -> Iterator[tuple[str, ...]]:
    """What summaries alone still say: facts that retention has taken, and sources that were all his."""
    for fact in facts:
        if _takes(selector, fact.id, fact.user_id, fact.conversation_id):
            yield (fact.id,)
    for summary in summaries:
        if selector.user and summary.user_id == selector.user:
            yield from zip(summary.source_ids, summary.source_fingerprints, strict=True)


def _takes(
    selector: Selector, id_: str, user: str | None, conversation: str | None
) -> bool:
    return (
        id_ in selector.ids
        or (selector.user is not None and user == selector.user)
        or (selector.conversation is not None and conversation == selector.conversation)
    )


def _said_in(fact: KeyFact) -> set[MessageKey]:
    return {(fact.conversation_id or "", id_) for id_ in fact.message_ids}


def _of(record: Record) -> set[MessageKey]:
    return {(record.conversation_id or "", id_) for id_ in record.source_ids}
