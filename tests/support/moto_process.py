"""AWS on loopback: moto in a process of its own, with the faults corrected that would mislead tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Self

from tests.support.loopback import LOOPBACK

if TYPE_CHECKING:
    from moto.sqs.models import Message, Queue

PROJECT = Path(__file__).parents[2]
DEDUPLICATION_SECONDS = 300.0  # SQS remembers a FIFO deduplication id for five minutes, also once its message is gone  # noqa: E501


class MotoServer:
    """A moto server as a child process: no shared interpreter lock, and it dies with its parent.

    `deduplication_seconds=0` makes every send come through, as sends more than five minutes apart do.
    """

    def __init__(
        self, deduplication_seconds: float = DEDUPLICATION_SECONDS
    ) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.support.moto_process",
            str(deduplication_seconds),
        ]
        # A file, for a pipe that nobody reads fills up and blocks the server.
        self._errors = TemporaryFile("w+")  # noqa: SIM115 - closed by stop()
        self._process = subprocess.Popen(
            command,
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.endpoint = self._announced()

    def _announced(self) -> str:
        line = _pipe(self._process.stdout).readline().strip()
        if not line:
            self._process.wait()
            raise RuntimeError(f"moto did not start: {self.errors}")
        return line

    @property
    def errors(self) -> str:
        """What the server wrote to stderr: the tracebacks behind its HTTP 500s."""
        self._errors.seek(0)
        return self._errors.read()

    def stop(self) -> None:
        _pipe(self._process.stdin).close()
        self._process.wait(timeout=30)
        _pipe(self._process.stdout).close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def correct_fifo(deduplication_seconds: float) -> None:
    """Replace the parts of moto's SQS that differ from SQS where the pipeline's invariants depend on it."""
    from moto.sqs.models import Queue, SQSBackend

    Queue.add_message = _AddMessage(deduplication_seconds).bound()  # type: ignore[method-assign]
    original = SQSBackend.receive_message

    def receive_message(
        self: SQSBackend, queue_name: str, *args: Any, **options: Any
    ) -> Any:
        _release_expired(self.get_queue(queue_name))
        return original(self, queue_name, *args, **options)

    SQSBackend.receive_message = receive_message  # type: ignore[method-assign]


def correct_conditional_puts() -> None:
    """Let no put come between another's look at the object and its own: S3's conditional puts are atomic."""
    from moto.s3.responses import S3Response

    one_at_a_time = Lock()
    for name in ("put_object", "_key_response_post"):
        setattr(
            S3Response, name, _held(one_at_a_time, getattr(S3Response, name))
        )


def _held(lock: Lock, call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def held(*args: Any, **options: Any) -> Any:
        with lock:
            return call(*args, **options)

    return held


def _release_expired(queue: Queue) -> None:
    # moto skips a message that came back while its siblings still count as pending: last comes first.
    for message in [
        message for message in queue.pending_messages if message.visible
    ]:
        queue.pending_messages.discard(message)


class _AddMessage:
    """Queue.add_message as SQS has it: deduplication with memory and scope, rising sequence numbers.

    It also leaves out moto's own polling, which would take messages away from the functions.
    """

    def __init__(self, deduplication_seconds: float) -> None:
        self._window = deduplication_seconds
        self._sequence = count(1)

    def bound(self) -> Any:
        return lambda queue, message: self(queue, message)

    def __call__(self, queue: Queue, message: Message) -> None:
        if queue.fifo_queue and not _redriven(message):
            if self._is_duplicate(queue, message):
                return
            message.sequence_number = f"{next(self._sequence):020d}"
        with queue._messages_lock:
            queue._messages.append(message)
            queue._messages_lock.notify_all()

    def _is_duplicate(self, queue: Queue, message: Message) -> bool:
        # moto knows one scope, the queue, and would drop an equal id of another group: a loss SQS has not.
        group = (
            message.group_id
            if vars(queue).get("deduplication_scope") == "messageGroup"
            else None
        )
        seen: dict[tuple[str | None, str], float] = vars(queue).setdefault(
            "seen", {}
        )  # gone with its queue
        key = (group, message.deduplication_id or "")
        sent = float(message.sent_timestamp or 0) / 1000
        if sent - seen.get(key, float("-inf")) < self._window:
            return True
        seen[key] = sent
        return False


def _redriven(message: Message) -> bool:
    return message.approximate_receive_count > 0


def serve(deduplication_seconds: float) -> None:
    """Announce the address on stdout, then run until stdin closes, as it does when the parent dies."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    correct_fifo(deduplication_seconds)
    correct_conditional_puts()
    server = ThreadedMotoServer(LOOPBACK, 0, verbose=False)
    server.start()
    print("http://{}:{}".format(*server.get_host_and_port()), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(float(sys.argv[1]))
