"""The composition root: opens sessions, and is the only place that chooses adapters."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from varve.domain.calendar import aware
from varve.domain.identity import Scope
from varve.domain.usage import Item
from varve.ports.clock import Clock
from varve.ports.meter import Meter
from varve.usecases.ledger import Ledger
from varve.usecases.operate.costs import CostFolder
from varve.usecases.search.log import SearchLog
from varve.usecases.session import Session
from varve.wiring.clock import fixed_clock, system_clock
from varve.wiring.models import ConfiguredModels
from varve.wiring.queues import SessionQueues, open_queue
from varve.wiring.settings import Settings, read_settings
from varve.wiring.store import OpenStore

if TYPE_CHECKING:
    from varve.adapters.credentials.scoped import (
        ScopedCredentials,
        TemporaryCredentials,
    )
    from varve.adapters.queues.dead_letters import SqsDeadLetters
    from varve.adapters.queues.sqs import SqsQueue
    from varve.ports.analytics import TableStage
    from varve.ports.erasure import StoreInspector
    from varve.ports.objects import Objects
    from varve.ports.queues import DeadLetterBox
    from varve.usecases.forget.forgotten_statements import RequestScans
    from varve.usecases.kept_reads import KeptReads
    from varve.usecases.plan import Planner
    from varve.usecases.write.commits import WriterSession

MAX_SCOPED_STORES = 4
"""Agents whose own clients stay open, each with connections, threads and disk cache."""

Now = datetime | Callable[[], datetime] | None


class Sessions:
    """Opens sessions over one process's settings.

    Where a role for agents is configured, a session reaches this agent's objects alone:
    S3 refuses its credentials everything else.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock = system_clock,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.environment = environment
        self.meter = Meter(_function_megabytes(environment))
        self.costs = CostFolder(
            self.meter, self.open, lambda: self.store.objects, clock
        )
        self.searches = SearchLog(self.open, clock)
        self.store = self.open_store()
        self.models = self.open_models()
        self._scoped: OrderedDict[tuple[Scope, str], OpenStore] = OrderedDict()
        self._lock = Lock()
        self._is_safe = False
        self._scans: RequestScans | None = None
        self._reads: KeptReads | None = None

    @classmethod
    def from_environment(
        cls,
        store: str | Path | None = None,
        now: Now = None,
        environment: Mapping[str, str] | None = None,
    ) -> "Sessions":
        """Read the settings of an environment, by default the process's.

        `store` overrides VARVE_STORE. Raises Misconfigured: names the variable.
        """
        given = os.environ if environment is None else environment
        settings = read_settings(given, None if store is None else str(store))
        return cls(settings, read_clock(now), given)

    def open(self, scope: Scope, now: datetime | None = None) -> Session:
        """Open a session on one agent's memory. Raises Misconfigured, Retryable."""
        store = self.store
        if self._credentials is not None:
            store = self._open_scoped(scope, self._credentials)
        return self._session(scope, now, store)

    @contextmanager
    def read_once(self) -> Iterator[None]:
        """Keep what is read, for all sessions opened in the block.

        What is stored meanwhile is not seen there: for a run that only reads.
        """
        from varve.usecases.forget.forgotten_statements import RequestScans
        from varve.usecases.kept_reads import KeptReads

        self._scans = RequestScans()
        self._reads = KeptReads()
        try:
            yield
        finally:
            self._scans = None
            self._reads = None

    def open_owner(self, scope: Scope, now: datetime | None = None) -> Session:
        """Open a session with the process's own credentials.

        The owner's use cases read beside the agent's objects: the workspace's
        configuration, receipts of erasure, other agents' stores.
        """
        return self._session(scope, now, self.store)

    def open_store(
        self,
        credentials: "TemporaryCredentials | None" = None,
        cache_bytes: int | None = None,
    ) -> OpenStore:
        """Open the store, with an agent's credentials or with the process's own."""
        return OpenStore(
            self.settings,
            self.clock,
            credentials,
            cache_bytes,
            self.meter,
            self._open_shared,
        )

    def open_models(self) -> ConfiguredModels:
        """Open the models that workspaces may name."""
        return ConfiguredModels(self.settings, self.environment, self.meter)

    def open_writer(self, store: OpenStore | None = None) -> "WriterSession":
        """Open the writer of a store, by default with the process's own credentials.

        Raises Misconfigured: the endpoint could lose acknowledged rows.
        """
        from varve.usecases.write.commits import WriterSession

        self._require_safe_store()
        store = store or self.store
        read_config = store.read_config
        return WriterSession(
            records=store.records,
            reader=store.records,
            graph=store.graph,
            profiles=store.profiles,
            ledger=Ledger(store.objects),
            vectors=store.stores,
            embedder=lambda workspace: self.models.embedder(
                read_config(workspace)
            ),
            objects=store.objects,
            locks=store.locks,
            meter=self.meter,
        )

    def open_planner(self) -> "Planner":
        """Open what the schedules' passes work with. Raises Misconfigured."""
        from varve.usecases.plan import Planner

        ledger = Ledger(self.store.objects)
        return Planner(ledger, self.store.read_config, self.work_queue)

    @cached_property
    def ingest_queue(self) -> "SqsQueue":
        """The ingest queue. Raises Misconfigured: VARVE_INGEST_QUEUE_URL is not set."""
        return open_queue(
            self.settings.ingest_queue_url,
            "VARVE_INGEST_QUEUE_URL",
            self.meter,
        )

    @cached_property
    def write_queue(self) -> "SqsQueue":
        """The write queue. Raises Misconfigured: VARVE_WRITE_QUEUE_URL is not set."""
        return open_queue(
            self.settings.write_queue_url, "VARVE_WRITE_QUEUE_URL", self.meter
        )

    @cached_property
    def work_queue(self) -> "SqsQueue":
        """The work queue. Raises Misconfigured: VARVE_SUMMARY_QUEUE_URL is not set."""
        return open_queue(
            self.settings.summary_queue_url,
            "VARVE_SUMMARY_QUEUE_URL",
            self.meter,
        )

    def dead_letters(self, queue: "SqsQueue") -> "SqsDeadLetters":
        """Return where a queue's messages go that cannot succeed."""
        from varve.adapters.queues.dead_letters import SqsDeadLetters

        return SqsDeadLetters(queue)

    @cached_property
    def queues(self) -> Mapping[str, "SqsQueue"]:
        """The queues that the settings name: ingest, write, summary."""
        urls = {
            "ingest": self.settings.ingest_queue_url,
            "write": self.settings.write_queue_url,
            "summary": self.settings.summary_queue_url,
        }
        return {
            name: open_queue(url, "", self.meter)
            for name, url in urls.items()
            if url
        }

    @cached_property
    def dead_letter_boxes(self) -> Mapping[str, "DeadLetterBox"]:
        """The dead letters of each queue that the settings name."""
        from varve.adapters.queues.dead_letters import SqsDeadLetterBox

        return {
            name: SqsDeadLetterBox(queue)
            for name, queue in self.queues.items()
        }

    @cached_property
    def inspector(self) -> "StoreInspector":
        """Reads every byte of a store, to prove that something is gone."""
        from varve.adapters.lance_cache.inspection import LanceInspector
        from varve.adapters.objects.store import lance_options

        options = lance_options() if self.settings.s3_location else None
        root = self.settings.store.rstrip("/")
        return LanceInspector(root, self.store.objects, options)

    def open_stage(self) -> "AbstractContextManager[TableStage]":
        """Open an empty stage for the tables of analytics, in a temporary file."""
        from varve.adapters.analytics.stage import open_stage

        return open_stage()

    def name_target(self, target: str | Path) -> str:
        """Return a publish target's full name. Raises Rejected: it cannot be one."""
        from varve.wiring.targets import name_target

        return name_target(target, self.settings)

    def open_target(self, target: str) -> "Objects":
        """Open the objects of a publish target. Raises Misconfigured."""
        from varve.wiring.targets import open_target

        return open_target(target)

    def versioning(self) -> str:
        """Return whether the bucket keeps old versions: Enabled, Suspended or Disabled.

        A directory is Disabled; Unknown: this process may not ask. Raises Retryable.
        """
        location = self.settings.s3_location
        if location is None:
            return "Disabled"
        from varve.adapters.objects.versioning import read_bucket_versioning

        self.meter.add(Item.GETS)
        return read_bucket_versioning(location[0])

    def _session(
        self, scope: Scope, now: datetime | None, store: OpenStore
    ) -> Session:
        self.costs.fold_behind()
        self.searches.flush_behind()
        store.require_own_folders(scope)
        return Session(
            scope=scope,
            now=self.clock() if now is None else aware(now),
            clock=self.clock,
            store=store,
            models=self.models,
            queues=self._queues(store),
            read_config=store.read_config,
            meter=self.meter,
            searches=self.searches,
            scans=self._scans,
            reads=self._reads,
        )

    def _queues(self, store: OpenStore) -> SessionQueues:
        ingest = self.ingest_queue if self.settings.ingest_queue_url else None
        write = self.write_queue if self.settings.write_queue_url else None
        return SessionQueues(
            ingest, write, partial(self.open_writer, store), store.locks
        )

    def _open_scoped(
        self, scope: Scope, credentials: "ScopedCredentials"
    ) -> OpenStore:
        return self._keep_open((scope, "own"), credentials.of(scope))

    def _open_shared(self, scope: Scope) -> OpenStore:
        """Open a store that reads another agent's records and nothing else."""
        if self._credentials is None:
            return self.store
        return self._keep_open(
            (scope, "shared"), self._credentials.of_records(scope)
        )

    def _keep_open(
        self, key: tuple[Scope, str], own: "TemporaryCredentials"
    ) -> OpenStore:
        """Return the store that is open with these credentials, or open it."""
        with self._lock:
            store = self._scoped.get(key)
            if store is None or store.credentials is not own:
                share = self.settings.cache_bytes // MAX_SCOPED_STORES
                store = self.open_store(own, share)
            self._scoped[key] = store
            self._scoped.move_to_end(key)
            if len(self._scoped) > MAX_SCOPED_STORES:
                self._scoped.popitem(last=False)
            return store

    @cached_property
    def _credentials(self) -> "ScopedCredentials | None":
        role = self.settings.scoped_role
        if role is None or self.settings.s3_location is None:
            return None
        from varve.adapters.credentials.scoped import ScopedCredentials

        return ScopedCredentials(role, self.settings.s3_location, self.clock)

    def _require_safe_store(self) -> None:
        """Check the endpoint once, with the process's own credentials."""
        if not self._is_safe:
            self.store.require_safe()
            self._is_safe = True


def _function_megabytes(environment: Mapping[str, str]) -> int | None:
    """Return the memory of the Lambda function that this process is; None: it is none."""
    megabytes = environment.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    return int(megabytes) if megabytes.isdecimal() else None


def read_clock(now: Now) -> Clock:
    """Return the clock that `now` gives: the system's, the caller's, or one that stands."""
    if now is None:
        return system_clock
    if callable(now):
        return lambda: aware(now())
    return fixed_clock(now)
