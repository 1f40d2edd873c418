"""What to do with a FIFO batch: order within groups, dead letters at once, the rest returned."""

from collections.abc import Callable, Sequence
from itertools import groupby

from varve.domain.errors import Misconfigured, Rejected, Retryable, VarveError
from varve.ports.queues import DeadLetters, Delivery

Handle = Callable[[Delivery], None]


def by_group(deliveries: Sequence[Delivery]) -> list[list[Delivery]]:
    """The deliveries of each group, in the order they came."""
    ordered = sorted(deliveries, key=lambda delivery: delivery.group)
    return [
        list(group)
        for _, group in groupby(ordered, key=lambda delivery: delivery.group)
    ]


def deliver_each(
    deliveries: Sequence[Delivery], handle: Handle, *, dead_letters: DeadLetters
) -> list[Delivery]:
    """Handle one delivery after the other; the ones to return to the queue.

    In each group the first failure ends the group: it and all later ones are returned. What can
    never succeed goes to the dead letters with its reason and does not hold its group.
    """
    return [
        delivery
        for group in by_group(deliveries)
        for delivery in until_failure(group, handle, dead_letters=dead_letters)
    ]


def until_failure(
    group: Sequence[Delivery], handle: Handle, *, dead_letters: DeadLetters
) -> list[Delivery]:
    """Handle one group's deliveries in order; the first that fails and all after it, to be returned."""
    for index, delivery in enumerate(group):
        if not settle(delivery, handle, dead_letters=dead_letters):
            return list(group[index:])
    return []


def settle(delivery: Delivery, handle: Handle, *, dead_letters: DeadLetters) -> bool:
    """Handle one delivery or make it a dead letter. False: it must be delivered again."""
    try:
        handle(delivery)
    except (Rejected, Misconfigured) as error:
        return _buried(delivery, error, dead_letters)
    except Retryable as error:
        return delivery.last_chance and _buried(delivery, error, dead_letters)
    return True


def _buried(delivery: Delivery, error: VarveError, dead_letters: DeadLetters) -> bool:
    try:
        dead_letters.send(delivery, error)
    except Retryable:
        return False
    return True
