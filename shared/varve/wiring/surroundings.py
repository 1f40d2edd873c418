"""The Surroundings port over a process's sessions."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from varve.domain.errors import Misconfigured
from varve.domain.identity import Scope
from varve.ports.surroundings import QueueState
from varve.wiring.sessions import Sessions

LIBRARIES = ("lancedb", "pyarrow", "duckdb")


class ProcessSurroundings:
    """The Surroundings port, as this process's settings and credentials show them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @property
    def store(self) -> str:
        return self._sessions.settings.store

    def require_writable(self) -> None:
        if self._sessions.settings.s3_location is not None:
            self._sessions.store.require_safe()
        elif not os.access(_find_existing(Path(self.store)), os.W_OK):
            raise Misconfigured(
                f"{self.store}: this process may not write there"
            )

    def versioning(self) -> str:
        return self._sessions.versioning()

    def server_time(self) -> datetime | None:
        location = self._sessions.settings.s3_location
        if location is None:
            return None
        from varve.adapters.objects.versioning import read_bucket_time

        return read_bucket_time(location[0])

    @property
    def queues(self) -> Sequence[str]:
        return tuple(self._sessions.queues)

    def queue_state(self, name: str) -> QueueState:
        from varve.adapters.queues.queue_state import read_queue_state

        return read_queue_state(self._sessions.queues[name])

    def assume_role(self, scope: Scope) -> bool:
        if self._sessions.settings.scoped_role is None:
            return False
        with self._sessions.open(scope) as session:
            session.ledger.pending(scope)
        return True

    def libraries(self) -> Mapping[str, str]:
        return {name: version(name) for name in LIBRARIES}


def _find_existing(directory: Path) -> Path:
    """Return the directory, or the nearest parent that exists."""
    while not directory.exists():
        directory = directory.parent
    return directory
