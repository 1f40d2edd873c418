"""Parts whose store is one agent's: with credentials for its objects alone, where a role gives such."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from varve.domain.identity import Scope
from varve.ports.objects import Objects
from varve.wiring.parts import Parts

if TYPE_CHECKING:
    from varve.adapters.credentials.scoped import (
        ScopedCredentials,
        TemporaryCredentials,
    )
    from varve.adapters.records.records import LanceRecords

MAX_KEPT = 4
"""Agents whose clients stay open, with connections and threads of their own and a share of the disk cache."""
T = TypeVar("T")


class ScopedParts(Parts):
    """The parts, but for the clients of the store, which have a session's credentials."""

    def __init__(self, shared: Parts, session: "TemporaryCredentials") -> None:
        super().__init__(shared.settings, shared.clock, shared._environment)
        self._shared, self._session = shared, session
        self.usage, self._built = shared.usage, shared._built

    def require_safe_store(self) -> None:
        # The probe's key is no agent's.
        self._shared.require_safe_store()

    @cached_property
    def objects(self) -> Objects:
        from varve.adapters.objects.store import s3_objects

        bucket, prefix = self.settings.s3_location or ("", "")
        return s3_objects(bucket, prefix, self._session.for_objects())

    @cached_property
    def records(self) -> "LanceRecords":
        from varve.adapters.objects.store import lance_options
        from varve.adapters.records.records import LanceRecords
        from varve.adapters.records.replicas import Caching

        options = {**lance_options(), **self._session.for_lance()}
        caching = Caching(
            self.settings.cache_directory, self.settings.cache_bytes // MAX_KEPT
        )
        return LanceRecords(
            self.settings.store.rstrip("/"), self.objects, options, caching=caching
        )


class Scoped(Generic[T]):
    """What is built over each agent's own parts, kept as long as its session."""

    def __init__(self, parts: Parts, build: Callable[[Parts], T]) -> None:
        self._parts, self._build = parts, build
        self._kept: OrderedDict[Scope, tuple[TemporaryCredentials, T]] = OrderedDict()
        self._lock = Lock()

    def of(self, scope: Scope) -> T | None:
        """The agent's own, or None where no role is configured. Raises Misconfigured, Retryable."""
        if self._credentials is None:
            return None
        session = self._credentials.of(scope)
        with self._lock:
            kept = self._kept.get(scope)
            if kept is None or kept[0] is not session:
                kept = (session, self._build(ScopedParts(self._parts, session)))
            self._kept[scope] = kept
            self._kept.move_to_end(scope)
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            return kept[1]

    @cached_property
    def _credentials(self) -> "ScopedCredentials | None":
        settings = self._parts.settings
        if (
            settings.scoped_role is None
            or settings.s3_location is None
            or isinstance(self._parts, ScopedParts)
        ):
            return None
        from varve.adapters.credentials.scoped import ScopedCredentials

        return ScopedCredentials(settings.scoped_role, self._parts.clock)
