"""Messages for the writer, handed on together by a sender who can wait for all of them."""

from collections.abc import Callable, Sequence

from varve.ports.queues import Delivery

MOST = 100
"""So many messages are handed on before the next conversation is begun: they are held in memory."""

Work = Callable[[], None]


class Together:
    """A Queue whose messages are handled at `flush`: a commit for each store and not for each message.

    Nothing is durable before. What says that something is in memory has to wait: `afterwards` is given it.
    """

    def __init__(self, handle: Callable[[Sequence[Delivery]], None]) -> None:
        self._handle = handle
        self._begun: set[object] = set()
        self._sent: list[Delivery] = []
        self._waiting: list[Work] = []

    def begin(self, subject: object) -> None:
        """Turn to something that goes by what `afterwards` says of the same: flush first, if that waits."""
        if subject in self._begun or len(self._sent) >= MOST:
            self.flush()
        self._begun.add(subject)

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Hold the message until the next flush."""
        self._sent.append(Delivery(id=deduplication_id, body=body, group=group))

    def afterwards(self, work: Work) -> None:
        """Do this when all that was sent is handled; never, where that fails."""
        self._waiting.append(work)

    def flush(self) -> None:
        """Hand on what was sent and do what waits. Raises what the handler does: all is to be done again."""
        sent, waiting = self._sent, self._waiting
        self._begun, self._sent, self._waiting = set(), [], []
        if sent:
            self._handle(sent)
        for work in waiting:
            work()
