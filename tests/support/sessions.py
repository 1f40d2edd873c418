"""A session over ports that a test gives: the in-memory twin of `wiring.sessions`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from varve.domain.identity import Scope
from varve.domain.workspace import WorkspaceConfig
from varve.ports.queues import Delivery
from varve.usecases.privacy import Privacy
from varve.usecases.session import Session
from varve.usecases.views import Views


@dataclass
class GivenStore:
    """The StoreRoot of ports that are there already."""

    objects: Any = None
    records: Any = None
    stores: Any = None
    graph: Any = None
    profiles: Any = None
    views: Any = None

    def shared_records(self, scope: Scope) -> Any:
        return self.records


@dataclass
class GivenModels:
    """The Models of a workspace that has these, and no filter but for secrets."""

    embedder_: Any = None
    extractor_: Any = None
    summarizer_: Any = None
    llm_: Any = None

    def embedder(self, _config: WorkspaceConfig) -> Any:
        return self.embedder_

    def extractor(self, *_: Any) -> Any:
        return self.extractor_

    def summarizer(self, *_: Any) -> Any:
        return self.summarizer_

    def llm(self, *_: Any) -> Any:
        return self.llm_

    def reranker(self, _config: WorkspaceConfig) -> Any:
        return None

    def entity_finder(self, _config: WorkspaceConfig) -> Any:
        return None

    def privacy(self, _config: WorkspaceConfig, _workspace: str) -> Privacy:
        return Privacy({}, [])


@dataclass
class GivenQueues:
    """The Queues of a process whose messages others deliver."""

    ingest: Any = None
    write: Any = None
    delivers_writes: bool = field(default=True, init=False)

    def flush(self) -> None:
        pass  # what was sent is durable

    def take(self) -> list[Delivery] | None:
        return None

    def hold(self, groups: Iterable[str]) -> AbstractContextManager[None]:
        return nullcontext()

    def require_taken(self) -> None:
        pass  # nothing waits here


def session_over(
    scope: Scope,
    now: datetime,
    config: WorkspaceConfig | None = None,
    *,
    queue: Any = None,
    conversations: Any = None,
    extractor: Any = None,
    embedder: Any = None,
    summarizer: Any = None,
    **store: Any,
) -> Session:
    """Open a session over the given ports; `store` are those of `GivenStore`."""
    own = config or WorkspaceConfig()
    views = Views(remote=False, max_staleness=timedelta(0), clock=lambda: now)
    return Session(
        scope=scope,
        now=now,
        clock=lambda: now,
        store=GivenStore(views=views, **store),
        models=GivenModels(embedder, extractor, summarizer),
        queues=GivenQueues(conversations or queue, queue),
        read_config=lambda _workspace: own,
    )
