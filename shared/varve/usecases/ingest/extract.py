"""Read a conversation: keep its messages, extract what to remember, send it to the writer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from varve.domain.calendar import Grain, Period
from varve.domain.conversation import Message
from varve.domain.erasure import Tombstones
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges
from varve.domain.record import turn_id
from varve.domain.statements.forgetting.forgetting import asks_to_forget
from varve.messages.erasure import ErasedMessage, Reread, drop_forgotten
from varve.messages.ingest import IngestMessage, read_ingest
from varve.messages.outcome import is_outcome_delivery, read_outcome
from varve.ports.meter import doing
from varve.ports.objects import Objects
from varve.ports.queues import DeadLetters, Delivery
from varve.usecases.corrections.correcting import recognize_return
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.reread import reread
from varve.usecases.erasure.sweep import sweep_again, sweep_payloads
from varve.usecases.experience.episodes import keep_episodes
from varve.usecases.experience.outcomes import take_in_outcome
from varve.usecases.ingest.catching_up import learn_by_rules
from varve.usecases.ingest.learning import (
    Spoken,
    learn,
    owners_of,
    send_facts_and_turns,
    spoken_in,
)
from varve.usecases.ingest.relating import relate
from varve.usecases.ingest.taken_in import Said, TakenIn
from varve.usecases.ingest.turns import build_turns
from varve.usecases.operate.budget import is_spent
from varve.usecases.progress import StepCounter
from varve.usecases.session import OpenSession, Session
from varve.usecases.timeline import keep, timeline_expiry_key
from varve.usecases.write.contention import until_uncontended
from varve.usecases.write.deliver import deliver_each

Told = tuple[Scope, Report]
"""Whose outcome a message reports, and the report."""
IngestQueueMessage = IngestMessage | Reread | ErasedMessage | Told

MAX_PENDING = 250
"""Conversations whose writes share a commit at most: they are held in memory."""


@dataclass(frozen=True, slots=True)
class ExtractOutcome:
    """What deliveries added.

    `ignored` messages came before with other words, which stay. `forgotten` ones are
    refused, because memory was told to forget them. `returned` must be delivered again.
    `partly_filtered` counts limits that the filter reached in a message, `waiting` the
    messages that wait for the model until there is budget. `asking` are the ids of new
    turns with the words of a request to forget.
    """

    messages: int = 0
    turns: int = 0
    facts: int = 0
    operations: int = 0
    ignored: int = 0
    forgotten: int = 0
    returned: tuple[Delivery, ...] = ()
    partly_filtered: int = 0
    waiting: int = 0
    asking: tuple[str, ...] = ()

    def metrics(self, *, of: int) -> dict[str, int]:
        """Return the counts of a batch `of` so many messages, by their metrics' names."""
        return {
            "ExtractedFacts": self.facts,
            "ExtractedMessages": of - len(self.returned),
            "WaitingMessages": self.waiting,
            "ReturnedMessages": len(self.returned),
        }

    def __add__(self, other: "ExtractOutcome") -> "ExtractOutcome":
        return ExtractOutcome(
            messages=self.messages + other.messages,
            turns=self.turns + other.turns,
            facts=self.facts + other.facts,
            operations=self.operations + other.operations,
            ignored=self.ignored + other.ignored,
            forgotten=self.forgotten + other.forgotten,
            returned=self.returned + other.returned,
            partly_filtered=self.partly_filtered + other.partly_filtered,
            waiting=self.waiting + other.waiting,
            asking=self.asking + other.asking,
        )


@dataclass(frozen=True, slots=True)
class _Extracted:
    """One delivery's outcome, and what to note once its writes are durable."""

    outcome: ExtractOutcome
    new: Sequence[Said] = ()
    taken_in: TakenIn | None = None
    barred: Tombstones = field(default_factory=Tombstones)
    conversation_id: str = ""


def extract_batch(
    open_session: OpenSession,
    deliveries: Sequence[Delivery],
    *,
    objects: Objects,
    dead_letters: DeadLetters,
) -> ExtractOutcome:
    """Handle a batch of the ingest queue, each message with a session of its agent.

    `objects` hold the bodies too large for a message.
    """
    total = ExtractOutcome()

    def handle(delivery: Delivery) -> None:
        nonlocal total
        message = _read(delivery, objects)
        if isinstance(message, ErasedMessage):
            return
        with open_session(_scope_of(message)) as session:
            total += extract_message(session, message)

    returned = deliver_each(deliveries, handle, dead_letters=dead_letters)
    return replace(total, returned=tuple(returned))


def extract_all(
    session: Session, deliveries: Sequence[Delivery], step: StepCounter
) -> ExtractOutcome:
    """Handle messages of one agent whose sender waits for them; their writes share commits.

    `step` counts the messages of conversations. Raises Retryable, Rejected,
    Misconfigured: earlier messages' writes are kept.
    """
    total = ExtractOutcome()
    for run in _runs(deliveries):
        with session.queues.hold(one.group for one in run):
            total += _extract_run(session, run, step)
    return total


def _runs(deliveries: Sequence[Delivery]) -> Iterator[list[Delivery]]:
    """Cut the deliveries where a group comes again or `MAX_PENDING` are together."""
    run: list[Delivery] = []
    groups: set[str] = set()
    for delivery in deliveries:
        if delivery.group in groups or len(run) >= MAX_PENDING:
            yield run
            run = []
            groups = set()
        run.append(delivery)
        groups.add(delivery.group)
    if run:
        yield run


@doing("extract")
def _extract_run(
    session: Session, deliveries: Sequence[Delivery], step: StepCounter
) -> ExtractOutcome:
    """Handle messages of different conversations, and write their records together."""
    total = ExtractOutcome()
    pending: list[_Extracted] = []
    try:
        for delivery in deliveries:
            message = _read(delivery, session.objects)
            if isinstance(message, ErasedMessage):
                continue
            pending.append(
                until_uncontended(partial(_extract, session, message))
            )
            total += pending[-1].outcome
            if isinstance(message, IngestMessage):
                step.add(len(message.conversation.messages))
    finally:
        _settle(session, pending)
    return total


@doing("extract")
def extract_message(
    session: Session, message: IngestMessage | Reread | Told
) -> ExtractOutcome:
    """Handle one message of the ingest queue. Raises Retryable, Rejected, Misconfigured."""
    extracted = _extract(session, message)
    _settle(session, [extracted])
    return extracted.outcome


def _settle(session: Session, pending: list[_Extracted]) -> None:
    """Make the writes durable, then note the messages as taken in."""
    session.queues.flush()
    for extracted in pending:
        until_uncontended(partial(_note, session, extracted))


def _read(delivery: Delivery, objects: Objects) -> IngestQueueMessage:
    """Return the message of a delivery. Raises Rejected: it is none; Retryable."""
    if not is_outcome_delivery(delivery):
        return read_ingest(delivery, objects=objects)
    told = read_outcome(delivery, objects=objects)
    return ErasedMessage() if told is None else told


def _scope_of(message: IngestMessage | Reread | Told) -> Scope:
    if isinstance(message, IngestMessage):
        return message.conversation.scope
    return message.scope if isinstance(message, Reread) else message[0]


def _extract(
    session: Session, message: IngestMessage | Reread | Told
) -> _Extracted:
    if isinstance(message, IngestMessage):
        # Filtered again: a sender may have put it on the queue without ingest.
        private, partly = session.privacy.filter_message(message)
        extracted = extract(session, private)
        outcome = replace(extracted.outcome, partly_filtered=len(partly))
        return replace(extracted, outcome=outcome)
    if isinstance(message, Reread):
        facts, operations = reread(session, message)
        return _Extracted(ExtractOutcome(facts=facts, operations=operations))
    take_in_outcome(session, message[1])
    return _Extracted(ExtractOutcome())


def extract(session: Session, message: IngestMessage) -> _Extracted:
    """Send the records and triple operations of a delivery's new messages to the writer.

    The messages count as taken in only when the writes are durable (`_note`). A failure
    anywhere makes the redelivery do all of it again; every id comes from the content.
    Raises Retryable, Rejected, Misconfigured.
    """
    scope = session.scope
    message = recognize_return(session, message)
    conversation_id = message.conversation.conversation_id
    barred = tombstones.load(scope, objects=session.objects)
    given = len(message.conversation.messages)
    message, whole = _admitted(message, barred)
    if not whole:
        sweep_payloads(scope, barred, objects=session.objects)
    conversation = message.conversation
    forgotten = given - len(conversation.messages)
    taken_in = TakenIn(scope, conversation_id, session.objects)
    ignored = sum(1 for m in conversation.messages if taken_in.differs(m))
    new = taken_in.arrive(list(_timed(message)))
    if not new:
        return _Extracted(ExtractOutcome(ignored=ignored, forgotten=forgotten))
    keep(
        new,
        scope,
        conversation_id,
        session.zone,
        owners=owners_of(message),
        objects=session.objects,
    )
    spoken = spoken_in(new, message)
    turns = build_turns(session, spoken, message)
    # The words go first: if extraction fails, they are in memory and can be found.
    send_facts_and_turns(session, turns, message)
    facts, operations, waiting = _learn_or_wait(session, message, new, spoken)
    if not waiting:
        relate(session, turns, message)
    keep_episodes(session, message, new, taken_in.last_at)
    if not turns:
        _note_expiry(session, message)
    outcome = ExtractOutcome(
        *(len(new), len(turns), facts, operations, ignored, forgotten),
        waiting=waiting,
        asking=tuple(_list_asking(conversation_id, spoken)),
    )
    return _Extracted(outcome, new, taken_in, barred, conversation_id)


def _list_asking(
    conversation_id: str, spoken: Sequence[Spoken]
) -> Iterator[str]:
    """Yield the ids of the messages' turns that may ask to forget something."""
    for said, utterance in spoken:
        if asks_to_forget(utterance.text):
            yield turn_id(conversation_id, said.id)


def _learn_or_wait(
    session: Session,
    message: IngestMessage,
    new: Sequence[Said],
    spoken: Sequence[Spoken],
) -> tuple[int, int, int]:
    """Learn from messages; without a budget for the model by rules, and mark them.

    Returns the counts of facts, operations and messages that wait for the model.
    """
    if not is_spent(session):
        return *learn(session, message, spoken), 0
    learnt = learn_by_rules(session, message, new, spoken)
    return len(learnt.facts), learnt.read, len(new)


def _note(session: Session, extracted: _Extracted) -> None:
    """Note the messages as taken in. Raises Contended: other writers were faster."""
    if extracted.taken_in is None:
        return
    extracted.taken_in.add(extracted.new)
    sweep_again(
        session.scope,
        extracted.barred,
        extracted.conversation_id,
        objects=session.objects,
    )


def _note_expiry(session: Session, message: IngestMessage) -> None:
    """Note when a day's messages expire: without words no summary will note it."""
    day = Period.of(message.received_at, Grain.DAILY, session.zone)
    expiry = timeline_expiry_key(day, session.scope, session.config)
    session.ledger.change(LedgerChanges(expiries=(expiry,)))


def _admitted(
    message: IngestMessage, barred: Tombstones
) -> tuple[IngestMessage, bool]:
    """Return the message without forgotten words, and whether it had none."""
    given = message.conversation
    if not barred:
        return message, True
    context, kept = drop_forgotten(
        given, list(message.context), message.received_at, barred
    )
    all_context = len(context) == len(message.context)
    all_messages = len(kept) == len(given.messages)
    conversation = given.model_copy(update={"messages": kept})
    admitted = replace(
        message, conversation=conversation, context=tuple(context)
    )
    return admitted, all_context and all_messages


def _timed(message: IngestMessage) -> Iterator[tuple[Message, datetime]]:
    """Yield each message with its own time, the conversation's, or that of arrival."""
    start = message.conversation.started_at or message.received_at
    for one in message.conversation.messages:
        yield one, one.timestamp or start
