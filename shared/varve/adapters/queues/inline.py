"""A queue without a queue: what is sent is handled at once, before `send` returns."""

from collections.abc import Callable

from varve.ports.queues import Delivery


class InlineQueue:
    """The Queue port for a laptop: durable because the handler has finished when `send` returns.

    The handler's errors reach the sender, who has been promised nothing yet.
    """

    def __init__(self, handle: Callable[[Delivery], None]) -> None:
        self._handle = handle

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self._handle(Delivery(id=deduplication_id, body=body, group=group))
