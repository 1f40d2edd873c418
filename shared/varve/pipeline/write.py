"""Write: the only code that changes a store. One commit per store and batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.messages import WriteRecords, WriteTriples, read_write
from varve.pipeline.deliver import by_group, until_failure
from varve.ports import DeadLetters, Delivery, GraphWriter, MemoryWriter, Objects

Message = WriteRecords | WriteTriples
Pending = list[tuple[Delivery, Message]]


@dataclass(slots=True)
class WriteOutcome:
    """Deliveries to return to the queue, and how many records and triple operations were new."""

    returned: list[Delivery] = field(default_factory=list)
    records: int = 0
    operations: int = 0


@dataclass(frozen=True, slots=True)
class Stores:
    """The two writers, which nothing but this module is given."""

    records: MemoryWriter
    graph: GraphWriter


def write(
    deliveries: Sequence[Delivery], stores: Stores, *, objects: Objects, dead_letters: DeadLetters
) -> WriteOutcome:
    """Write a FIFO batch, group by group.

    In each group everything up to its first unreadable payload is committed at once; the first
    failure and all later ones of the group are returned. A message that can never succeed goes to
    the dead letters with its reason and its group goes on.
    """
    outcome = WriteOutcome()
    for group in by_group(deliveries):
        pending, returned = _read_group(group, objects, dead_letters)
        outcome.returned += _commit(pending, stores, dead_letters, outcome) + returned
    return outcome


def write_now(delivery: Delivery, stores: Stores, *, objects: Objects) -> None:
    """Write one message whose sender waits for it. Raises Rejected, Misconfigured, Retryable."""
    _apply([read_write(delivery, objects=objects)], stores, WriteOutcome())


def _read_group(
    group: Sequence[Delivery], objects: Objects, dead_letters: DeadLetters
) -> tuple[Pending, list[Delivery]]:
    """The group's readable messages, and what is to be returned from its first failure on."""
    pending: Pending = []

    def read(delivery: Delivery) -> None:
        pending.append((delivery, read_write(delivery, objects=objects)))

    returned = until_failure(group, read, dead_letters=dead_letters)
    return pending, returned


def _commit(
    pending: Pending, stores: Stores, dead_letters: DeadLetters, outcome: WriteOutcome
) -> list[Delivery]:
    """Commit all at once; where one of them is at fault, one by one. Those to be returned."""
    messages = {delivery.id: message for delivery, message in pending}

    def one_by_one(delivery: Delivery) -> None:
        _apply([messages[delivery.id]], stores, outcome)

    def fail(_: Delivery) -> None:
        raise failure

    try:
        _apply(list(messages.values()), stores, outcome)
    except (Rejected, Misconfigured):
        return until_failure([d for d, _ in pending], one_by_one, dead_letters=dead_letters)
    except Retryable as error:
        failure = error
        return until_failure([d for d, _ in pending], fail, dead_letters=dead_letters)
    return []


def _apply(messages: Sequence[Message], stores: Stores, outcome: WriteOutcome) -> None:
    """One commit for each store the messages are for (a group is one store; a forged body may differ)."""
    by_store: dict[object, list[Message]] = {}
    for message in messages:
        key = (
            (message.scope, message.grain, message.model)
            if isinstance(message, WriteRecords)
            else message.scope
        )
        by_store.setdefault(key, []).append(message)
    for batch in by_store.values():
        first = batch[0]
        if isinstance(first, WriteRecords):
            records = [r for message in batch if isinstance(message, WriteRecords) for r in message.records]
            outcome.records += stores.records.upsert(first.scope, first.grain, records, first.model)
        else:
            operations = [
                o for message in batch if isinstance(message, WriteTriples) for o in message.operations
            ]
            outcome.operations += stores.graph.apply(first.scope, operations)
