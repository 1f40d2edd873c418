"""A session: what a use case needs to work on one agent's memory."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self
from zoneinfo import ZoneInfo

from varve.domain.identity import Scope
from varve.domain.workspace import WorkspaceConfig
from varve.ports.clock import Clock
from varve.ports.meter import Meter
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, Queue
from varve.usecases.ledger import Ledger

if TYPE_CHECKING:  # a function loads what its own use case needs, and no more
    from varve.ports.graph import GraphStore
    from varve.ports.knowledge import EntityFinder, ProfileReader, Reranker
    from varve.ports.models import LLM, Embedder, Extractor, Summarizer
    from varve.ports.records import MemoryReader
    from varve.ports.transfer import StoreReader
    from varve.usecases.forget.forgotten_statements import RequestScans
    from varve.usecases.kept_reads import KeptReads
    from varve.usecases.privacy import Privacy
    from varve.usecases.search.log import SearchLog
    from varve.usecases.views import Views


OTHER = "other"
"""The verb of what no use case names."""


class StoreRoot(Protocol):
    """Readers under the store root; each is opened on first use."""

    @property
    def objects(self) -> Objects:
        """The objects under the store root."""

    @property
    def records(self) -> "MemoryReader":
        """The records of every agent and grain."""

    def shared_records(self, scope: Scope) -> "MemoryReader":
        """The records of another agent, read with rights to that agent's records alone."""

    @property
    def stores(self) -> "StoreReader":
        """The record stores as a whole, with their embedding models."""

    @property
    def graph(self) -> "GraphStore":
        """The agents' triples."""

    @property
    def profiles(self) -> "ProfileReader":
        """The users' profiles."""

    @property
    def views(self) -> "Views":
        """Reads and keeps views of the agents' memories."""


class Models(Protocol):
    """Builds what a workspace's configuration names. Every method raises Misconfigured."""

    def embedder(self, config: WorkspaceConfig) -> "Embedder":
        """The embedder, which knows the models that stores are moving from as well."""

    def extractor(
        self,
        config: WorkspaceConfig,
        agent: str,
        privacy: "Privacy",
        objects: Objects,
    ) -> "Extractor":
        """The agent's extractor: a model behind checkpoints, or the offline rules."""

    def llm(self, config: WorkspaceConfig, privacy: "Privacy") -> "LLM | None":
        """The chat model, its answers filtered; None: the workspace works without one."""

    def summarizer(
        self,
        config: WorkspaceConfig,
        agent: str,
        privacy: "Privacy",
        objects: Objects,
    ) -> "Summarizer":
        """The agent's summarizer: a model, or sentences chosen by the embedder."""

    def reranker(self, config: WorkspaceConfig) -> "Reranker | None":
        """The reranker; None: none is configured."""

    def entity_finder(self, config: WorkspaceConfig) -> "EntityFinder | None":
        """The model that names a prompt's entities; None: none is configured."""

    def privacy(self, config: WorkspaceConfig, workspace: str) -> "Privacy":
        """The filter: secrets always, personal data as the configuration says."""


class Queues(Protocol):
    """The queues that a use case sends to."""

    @property
    def ingest(self) -> Queue:
        """The queue of conversations, outcomes and conversations to read again."""

    @property
    def write(self) -> Queue:
        """The queue of the writer."""

    @property
    def delivers_writes(self) -> bool:
        """Whether a queue service delivers writes, later and elsewhere."""

    def flush(self) -> None:
        """Make everything sent durable; without a queue service, write it.

        Raises Retryable, Rejected, Misconfigured.
        """

    def take(self) -> list[Delivery] | None:
        """Remove and return what waits on a local ingest queue.

        None: a queue service delivers it.
        """

    def hold(self, groups: Iterable[str]) -> AbstractContextManager[None]:
        """Keep other sessions from these groups of the ingest queue until the block ends.

        It waits while another session has one of them. A queue service delivers a group
        to one consumer at a time; then nothing is held.
        """

    def require_taken(self) -> None:
        """Raise Misconfigured if a message waits that no code of this process takes."""


@dataclass(frozen=True)
class Session:
    """One agent's memory, opened for one request.

    `now` is the moment of the request; `clock` tells how long it has taken since.
    Leaving the `with` block makes everything sent durable. `wiring.sessions` opens
    sessions; tests open them over in-memory ports. `meter` counts what the block uses,
    and `searches` logs its questions; None: nothing does. `scans` keeps what requests to
    forget name, for a run of many sessions; None: each use case scans memory itself.
    `reads` keeps what such a run has read; None: each session reads the newest.
    """

    scope: Scope
    now: datetime
    clock: Clock
    store: StoreRoot
    models: Models
    queues: Queues
    read_config: Callable[[str], WorkspaceConfig]
    meter: Meter = field(default_factory=Meter)
    searches: "SearchLog | None" = None
    scans: "RequestScans | None" = None
    reads: "KeptReads | None" = None
    _serving: ExitStack = field(
        default_factory=ExitStack, init=False, repr=False, compare=False
    )

    def __enter__(self) -> Self:
        self._serving.enter_context(
            self.meter.serve(self.scope, OTHER, self.now)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._serving:
            # After an error too: messages sent before it must be written.
            self.queues.flush()
            if error is None:
                self.queues.require_taken()

    @cached_property
    def config(self) -> WorkspaceConfig:
        """The workspace's configuration, read once. Raises Rejected: it is invalid."""
        return self.read_config(self.scope.workspace)

    def with_config(self, config: WorkspaceConfig) -> "Session":
        """Return the same session with a configuration that has been read already."""
        return replace(self, read_config=lambda _: config)

    def without_model(self) -> "Session":
        """Return the same session with rules in place of the chat model."""
        models = self.config.models.model_copy(update={"llm": "offline"})
        return self.with_config(
            self.config.model_copy(update={"models": models})
        )

    @property
    def zone(self) -> ZoneInfo:
        """The workspace's time zone."""
        return self.config.zone

    @property
    def objects(self) -> Objects:
        """The objects under the store root."""
        return self.store.objects

    @property
    def records(self) -> "MemoryReader":
        """The agent's records, as committed at the moment of each call."""
        records = self.store.records
        return records if self.reads is None else self.reads.keep(records)

    @property
    def graph(self) -> "GraphStore":
        """The agent's triples."""
        graph = self.store.graph
        return graph if self.reads is None else self.reads.keep(graph)

    @property
    def profiles(self) -> "ProfileReader":
        """The profiles of the agent's users."""
        return self.store.profiles

    @property
    def views(self) -> "Views":
        """Views of the agent's memory, each pinned to one moment."""
        return self.store.views

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of due, failed and expiring periods."""
        return Ledger(self.store.objects)

    @cached_property
    def privacy(self) -> "Privacy":
        """The workspace's filter. Raises Misconfigured: its key is missing."""
        return self.models.privacy(self.config, self.scope.workspace)

    @property
    def embedder(self) -> "Embedder":
        """The workspace's embedder. Raises Misconfigured."""
        return self.models.embedder(self.config)

    @property
    def extractor(self) -> "Extractor":
        """The agent's extractor. Raises Misconfigured."""
        return self.models.extractor(
            self.config, self.scope.agent, self.privacy, self.objects
        )

    @property
    def summarizer(self) -> "Summarizer":
        """The agent's summarizer. Raises Misconfigured."""
        return self.models.summarizer(
            self.config, self.scope.agent, self.privacy, self.objects
        )

    @property
    def llm(self) -> "LLM | None":
        """The workspace's chat model; None: it works without one. Raises Misconfigured."""
        return self.models.llm(self.config, self.privacy)


class OpenSession(Protocol):
    """Opens a session on one agent's memory, at `now` or at the clock's present."""

    def __call__(self, scope: Scope, now: datetime | None = None) -> Session:
        """Open it, with credentials for this agent alone where a role is configured."""
