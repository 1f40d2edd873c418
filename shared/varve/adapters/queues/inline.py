"""A queue that handles each message before `send` returns."""

from collections.abc import Callable

from varve.ports.queues import Delivery


class InlineQueue:
    """The Queue port for a local store.

    A message is durable when `send` returns, because its handler has finished. The
    handler's errors reach the sender.
    """

    def __init__(self, handle: Callable[[Delivery], None]) -> None:
        self._handle = handle

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self._handle(Delivery(id=deduplication_id, body=body, group=group))
