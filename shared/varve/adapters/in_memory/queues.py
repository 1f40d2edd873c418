"""The DeadLetters and DeadLetterBox ports over a list."""

from collections.abc import Collection

from varve.domain.dead_letter import reasons_of, redrive_id
from varve.ports.queues import Delivery, Letter, Queue


class InMemoryDeadLetters:
    """Dead letters in a list, each with the error that sent it there."""

    def __init__(self) -> None:
        self.letters: list[tuple[Delivery, Exception]] = []

    def send(self, delivery: Delivery, error: Exception) -> None:
        self.letters.append((delivery, error))


class InMemoryDeadLetterBox:
    """The dead letters in `dead`; redriving sends them to `queue`."""

    def __init__(self, dead: InMemoryDeadLetters, queue: Queue) -> None:
        self._dead = dead
        self._queue = queue

    def letters(self) -> list[Letter]:
        letters = []
        for delivery, error in self._dead.letters:
            reasons = reasons_of(delivery.id, error)
            id_ = _letter_id(delivery)
            letter = Letter(id_, delivery.body, delivery.group, reasons, 0)
            letters.append(letter)
        return letters

    def redrive(self, ids: Collection[str]) -> list[str]:
        for letter in self.letters():
            if letter.id in ids:
                self._queue.send(
                    letter.body,
                    group=letter.group,
                    deduplication_id=redrive_id(letter.id),
                )
        return self.drop(ids)

    def drop(self, ids: Collection[str]) -> list[str]:
        dropped = []
        kept = []
        for delivery, error in self._dead.letters:
            id_ = _letter_id(delivery)
            if id_ in ids:
                dropped.append(id_)
            else:
                kept.append((delivery, error))
        self._dead.letters = kept
        return dropped


def _letter_id(delivery: Delivery) -> str:
    return f"dead-{delivery.id}"
