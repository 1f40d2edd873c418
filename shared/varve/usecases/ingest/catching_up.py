"""Read with the model what waited for its budget, in place of what rules made of it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from varve.domain.calendar import Grain, iso
from varve.domain.conversation import Conversation
from varve.domain.erasure import Tombstones
from varve.domain.identity import digest
from varve.domain.record import turn_id
from varve.domain.retention import oldest_kept
from varve.messages.erasure import (
    EraseMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
)
from varve.messages.erasure_queue import send_erasure
from varve.messages.ingest import IngestMessage
from varve.ports.meter import doing
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.reread import resolve
from varve.usecases.erasure.sweep import TimelineLine, read_timeline
from varve.usecases.ingest.ingest import CONTEXT_MESSAGES
from varve.usecases.ingest.learning import (
    Learnt,
    Spoken,
    send_learnt,
    spoken_in,
    understand,
)
from varve.usecases.ingest.relating import relate
from varve.usecases.ingest.taken_in import Said, hash_message_id
from varve.usecases.ingest.waiting import (
    WaitingPeriod,
    WaitingWords,
    put_mark,
    read_marks,
    remove_marks,
)
from varve.usecases.operate.budget import is_spent
from varve.usecases.session import Session
from varve.usecases.timeline import working_day

BATCH = 20
"""Marks that are read before the budget is looked at again; their erasure is one."""
MOST_IN_ONE_RUN = 100
"""Marks of one work item, so that it ends within a function's time."""
_NOTHING = Learnt((), (), (), 0)


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """What a catch-up has read, and how many marks are left without a budget.

    `periods` have a summary by rules and are due again.
    """

    messages: int = 0
    facts: int = 0
    operations: int = 0
    periods: int = 0
    left: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "messages": self.messages,
            "facts": self.facts,
            "tripleOperations": self.operations,
            "periods": self.periods,
            "left": self.left,
        }


@dataclass(frozen=True, slots=True)
class _Reading:
    """One mark's messages as the model has read them; without messages they are gone."""

    mark: WaitingWords
    message: IngestMessage | None
    learnt: Learnt


def learn_by_rules(
    session: Session,
    message: IngestMessage,
    new: Sequence[Said],
    spoken: Sequence[Spoken],
) -> Learnt:
    """Learn from messages without the model, and note that they wait for it.

    Raises Retryable, Rejected, Misconfigured.
    """
    learnt = understand(session.without_model(), message, spoken)
    mark = WaitingWords(
        conversation_id=message.conversation.conversation_id,
        received_at=message.received_at,
        messages=tuple(hash_message_id(one.id) for one in new),
        facts={fact.id: fact.period for fact in learnt.facts},
        operations=tuple(one.id for one in learnt.operations),
        entries=tuple(entry.id for entry in learnt.entries),
    )
    # Before the rules' facts: without the mark they would stay beside the model's.
    put_mark(session.scope, mark, objects=session.objects)
    send_learnt(session, learnt, message)
    return learnt


@doing("extract")
def catch_up_waiting(session: Session, most: int | None = None) -> CaughtUp:
    """Have the model read what waits for it, as long as there is budget.

    Reads up to `most` conversations' parts; without a limit, all. An interrupted run is
    repeated without another call for what the model has read. Raises Retryable,
    Rejected, Misconfigured.
    """
    marks = list(read_marks(session.scope, objects=session.objects))
    if not marks or is_spent(session):
        return CaughtUp(left=len(marks))
    periods = [mark for mark in marks if isinstance(mark, WaitingPeriod)]
    words = [mark for mark in marks if isinstance(mark, WaitingWords)]
    words.sort(key=lambda mark: (mark.received_at, mark.name))
    _make_due(session, periods)
    outcome = CaughtUp(periods=len(periods), left=len(words))
    return _read_words(session, words[:most], outcome)


def _read_words(
    session: Session, words: Sequence[WaitingWords], outcome: CaughtUp
) -> CaughtUp:
    """Read the marks' messages in batches, as long as there is budget."""
    for start in range(0, len(words), BATCH):
        if start and is_spent(session):
            break
        outcome = _read_batch(session, words[start : start + BATCH], outcome)
    return outcome


def _make_due(session: Session, marks: Sequence[WaitingPeriod]) -> None:
    """Make the periods due, so that the next summaries are the model's."""
    periods = [mark.period for mark in marks]
    session.ledger.mark(session.scope, periods, "budget")
    remove_marks(session.scope, marks, objects=session.objects)


def _read_batch(
    session: Session, marks: Sequence[WaitingWords], outcome: CaughtUp
) -> CaughtUp:
    """Replace what rules made of the marks' messages; return the outcome with them."""
    barred = tombstones.load(session.scope, objects=session.objects)
    readings = [_read(session, mark, barred) for mark in marks]
    _send_erasures(session, readings)
    for one in readings:
        if one.message is not None:
            send_learnt(session, one.learnt, one.message)
            _relate(session, one.message)
    session.queues.flush()
    remove_marks(session.scope, marks, objects=session.objects)
    messages = sum(len(mark.messages) for mark in marks)
    facts = sum(len(one.learnt.facts) for one in readings)
    operations = sum(one.learnt.read for one in readings)
    return replace(
        outcome,
        messages=outcome.messages + messages,
        facts=outcome.facts + facts,
        operations=outcome.operations + operations,
        left=outcome.left - len(marks),
    )


def _read(
    session: Session, mark: WaitingWords, barred: Tombstones
) -> _Reading:
    """Have the model read a mark's messages, as far as the timeline still has them."""
    name = mark.conversation_id
    timeline = read_timeline(
        session.scope, objects=session.objects, conversation=name
    )
    lines = [
        one for one in timeline.get(name, []) if not one.is_barred_by(barred)
    ]
    places = _places_of(mark, lines)
    if not places:
        return _Reading(mark, None, _NOTHING)
    said = resolve([lines[place] for place in places])
    first = places[0]
    before = resolve(lines[max(0, first - CONTEXT_MESSAGES) : first])
    conversation = Conversation(
        workspace_id=session.scope.workspace,
        agent_id=session.scope.agent,
        conversation_id=name,
        messages=[one.message for one in said],
    )
    context = tuple(one.message for one in before)
    message = IngestMessage(conversation, context, mark.received_at, mark.name)
    kept = _kept_in(session, said)
    spoken = spoken_in(said, message)
    learnt = understand(session, message, spoken, about=kept)
    return _Reading(mark, message, learnt)


def _relate(session: Session, message: IngestMessage) -> None:
    """Have the model compare the turns of messages, as far as they have not expired."""
    conversation = message.conversation
    ids: list[str] = []
    for one in conversation.messages:
        # A second passage shows that the first one is not the whole message.
        for passage in (0, 1):
            ids.append(
                turn_id(conversation.conversation_id, str(one.id), passage)
            )
    reader = session.records.at(session.scope, (Grain.WORKING,))
    relate(session, reader.get(session.scope, Grain.WORKING, ids), message)


def _places_of(mark: WaitingWords, lines: Sequence[TimelineLine]) -> list[int]:
    """Return the places of a mark's messages in their conversation."""
    places: list[int] = []
    for place, line in enumerate(lines):
        if hash_message_id(line.id) in mark.messages:
            places.append(place)
    return places


def _kept_in(session: Session, said: Sequence[Said]) -> set[str]:
    """Return the ids of the messages whose day has not expired from working memory."""
    oldest = _oldest_day(session)
    return {
        one.id for one in said if working_day(one.at, session.zone) >= oldest
    }


def _oldest_day(session: Session) -> str:
    """Return the label of the first day whose facts are still kept."""
    limit = session.config.limit(Grain.WORKING)
    return oldest_kept(Grain.WORKING, limit, session.now, session.zone).label


def _send_erasures(session: Session, readings: Sequence[_Reading]) -> None:
    """Ask the writer to erase what the rules alone have made of the messages.

    A day's summary of such facts goes too: it would count them as expired, and keep them.
    Expired words stay as the rules have left them.
    """
    oldest = _oldest_day(session)
    facts: dict[str, str] = {}
    operations: set[str] = set()
    entries: set[str] = set()
    for one in readings:
        read = {fact.id for fact in one.learnt.facts}
        for id_, day in one.mark.facts.items():
            if id_ not in read and day >= oldest:
                facts[id_] = day
        stated = {operation.id for operation in one.learnt.operations}
        operations.update({*one.mark.operations} - stated)
        told = {entry.id for entry in one.learnt.entries}
        entries.update({*one.mark.entries} - told)
    names = [one.mark.name for one in readings]
    token = digest(*names, iso(session.now))
    for message in _erasures(session, facts, operations, entries):
        send_erasure(
            message, token, queue=session.queues.write, objects=session.objects
        )


def _erasures(
    session: Session,
    facts: Mapping[str, str],
    operations: Collection[str],
    entries: Collection[str],
) -> Iterator[EraseMessage]:
    scope = session.scope
    if facts:
        days = tuple(sorted({*facts.values()}))
        yield EraseRecords(scope, Grain.WORKING, tuple(sorted(facts)), days)
        cited = _summaries_of(session, days, facts)
        if cited:
            yield EraseRecords(scope, Grain.DAILY, cited, days)
    if operations:
        yield EraseTriples(scope, tuple(sorted(operations)))
    if entries:
        yield EraseProfiles(scope, tuple(sorted(entries)))


def _summaries_of(
    session: Session, days: Sequence[str], facts: Collection[str]
) -> tuple[str, ...]:
    """Return the ids of the days' summaries that are made of one of the facts."""
    reader = session.records.at(session.scope)
    found: list[str] = []
    for day in days:
        for record in reader.in_period(session.scope, Grain.DAILY, day):
            if any(id_ in facts for id_ in record.source_ids):
                found.append(record.id)
    return tuple(found)
