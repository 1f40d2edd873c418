"""How to handle a FIFO batch: order within groups, dead letters, deliveries to return."""

from collections.abc import Callable, Sequence

from varve.domain.errors import Misconfigured, Rejected, Retryable, VarveError
from varve.ports.queues import DeadLetters, Delivery

Handle = Callable[[Delivery], None]


def group_deliveries(deliveries: Sequence[Delivery]) -> list[list[Delivery]]:
    """Return the deliveries of each group, in the order they arrived."""
    groups: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        groups.setdefault(delivery.group, []).append(delivery)
    return [groups[name] for name in sorted(groups)]


def deliver_each(
    deliveries: Sequence[Delivery],
    handle: Handle,
    *,
    dead_letters: DeadLetters,
) -> list[Delivery]:
    """Handle one delivery after the other; return those to return to the queue.

    In each group the first failure ends the group: it and all later deliveries are
    returned. A message that can never succeed becomes a dead letter with its reason and
    does not hold up its group.
    """
    returned: list[Delivery] = []
    for group in group_deliveries(deliveries):
        returned += handle_until_failure(
            group, handle, dead_letters=dead_letters
        )
    return returned


def handle_until_failure(
    group: Sequence[Delivery], handle: Handle, *, dead_letters: DeadLetters
) -> list[Delivery]:
    """Handle one group in order; return the first delivery that fails and all after it."""
    for index, delivery in enumerate(group):
        if not settle(delivery, handle, dead_letters=dead_letters):
            return list(group[index:])
    return []


def settle(
    delivery: Delivery, handle: Handle, *, dead_letters: DeadLetters
) -> bool:
    """Handle one delivery or make it a dead letter. False: it must be delivered again."""
    try:
        handle(delivery)
    except (Rejected, Misconfigured) as error:
        return _bury(delivery, error, dead_letters)
    except Retryable as error:
        return delivery.last_chance and _bury(delivery, error, dead_letters)
    return True


def _bury(
    delivery: Delivery, error: VarveError, dead_letters: DeadLetters
) -> bool:
    """Send a delivery to the dead letters. False: that failed too."""
    try:
        dead_letters.send(delivery, error)
    except Retryable:
        return False
    return True
