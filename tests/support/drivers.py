"""The one place where tests and benchmarks build the library and call its use cases.

`open_driver` opens one process of the library for an environment; a test may replace or
wrap any port. `tests/support/usecase_drivers.py` calls single use cases over given ports.
No other file under tests/ or benchmarks/ needs to know how the library is composed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from varve.api.administration import Administration
from varve.api.memory import Memory
from varve.application import Application
from varve.domain.calendar import Grain
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.conversation import Conversation
from varve.domain.erasure import Selector
from varve.domain.experience.history import History
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest
from varve.domain.workspace import WorkspaceConfig
from varve.ports.queues import Delivery
from varve.usecases.cleanup import CleanupReport
from varve.usecases.ledger import Ledger
from varve.usecases.write import WriteOutcome
from varve.verbs.forgetting import Forgotten, forget, read_request
from varve.verbs.knowledge import MAX_KEYS as MAX_KEYS
from varve.verbs.nights import MAX_CLEANED as MAX_CLEANED
from varve.verbs.nights import MAX_NOTES as MAX_NOTES
from varve.verbs.nights import Pass, WorkOutcome
from varve.wiring.clock import fixed_clock, system_clock
from varve.wiring.parts import Parts
from varve.wiring.scoping import ScopedParts
from varve.wiring.settings import read_settings

Now = datetime | Callable[[], datetime] | None

STORAGE = (
    "objects", "records", "stores", "graph", "profiles", "ingest_queue", "write_queue",
    "summary_queue", "dead_letter_boxes",
)  # fmt: skip
"""Ports that a caller may give, or wrap with `wrap_<name>`; in the order they are built."""
OTHERS = (
    "embedder", "extractor_of", "summarizer", "wrap_summarizer", "llm", "configs",
    "dead_letters", "upkeep",
)  # fmt: skip


class _Given(Parts):
    """The parts that the settings choose, with a test's own ports in their place."""

    given: Mapping[str, Any] = {}

    def take(self, given: Mapping[str, Any]) -> _Given:
        """Put the given ports in place and wrap those to be wrapped."""
        self.given = given
        for name in STORAGE:
            if name in given:
                self.__dict__[name] = given[name]
            elif name == "records" and "upkeep" in given:
                self.__dict__[name] = _records_with(given["upkeep"], self)
            if wrap := given.get(f"wrap_{name}"):
                self.__dict__[name] = wrap(getattr(self, name))
        return self

    def config(self, workspace: str) -> WorkspaceConfig:
        own = self.given.get("configs", {}).get(workspace)
        return own or super().config(workspace)

    def dead_letters(self, queue: Any) -> Any:
        own = self.given.get("dead_letters")
        return super().dead_letters(queue) if own is None else own

    def embedder(self, config: WorkspaceConfig) -> Any:
        own = self.given.get("embedder")
        return super().embedder(config) if own is None else own

    def extractor(self, config: WorkspaceConfig, agent: str, privacy: Any) -> Any:
        own = self.given.get("extractor_of")
        if own is not None:
            return own(agent)
        return super().extractor(config, agent, privacy)

    def summarizer(self, config: WorkspaceConfig, agent: str, privacy: Any) -> Any:
        own = self.given.get("summarizer")
        if own is not None:
            return own
        made = super().summarizer(config, agent, privacy)
        wrap = self.given.get("wrap_summarizer")
        return wrap(made) if wrap else made

    def _llm(self, *args: Any, **options: Any) -> Any:
        own = self.given.get("llm")
        return super()._llm(*args, **options) if own is None else own


class _GivenScoped(_Given, ScopedParts):
    """The same, with the store's clients of one agent's session."""


class Driver:
    """One process of the library: its ports, and every verb that a caller can run."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._parts = application.parts

    # Ports.

    def __getattr__(self, name: str) -> Any:
        """A port by its name: one of `STORAGE`."""
        if name not in STORAGE:
            raise AttributeError(name)
        return getattr(self._parts, name)

    @property
    def ledger(self) -> Ledger:
        """The ledger of due, ready and failed periods."""
        return self._application.ledger

    @property
    def usage(self) -> Any:
        """The counter of model tokens."""
        return self._parts.usage

    def clock(self) -> datetime:
        """The time of this process."""
        return self._parts.clock()

    def config(self, workspace: str) -> WorkspaceConfig:
        """The workspace's configuration."""
        return self._parts.config(workspace)

    def embedder(self, config: WorkspaceConfig | None = None) -> Any:
        """The embedder of a workspace that is configured so."""
        return self._parts.embedder(config or WorkspaceConfig())

    def extractor(
        self, config: WorkspaceConfig | None = None, agent: str = "support"
    ) -> Any:
        """The extractor of an agent whose workspace is configured so."""
        config = config or WorkspaceConfig()
        privacy = self._parts.privacy(config, "acme")
        return self._parts.extractor(config, agent, privacy)

    def summarizer(
        self, config: WorkspaceConfig | None = None, agent: str = "support"
    ) -> Any:
        """The summarizer of an agent whose workspace is configured so."""
        config = config or WorkspaceConfig()
        privacy = self._parts.privacy(config, "acme")
        return self._parts.summarizer(config, agent, privacy)

    def reranker(self, config: WorkspaceConfig | None = None) -> Any:
        """The reranker of a workspace that is configured so, or None."""
        return self._parts.reranker(config or WorkspaceConfig())

    def entity_finder(self, config: WorkspaceConfig | None = None) -> Any:
        """The entity finder of a workspace that is configured so, or None."""
        return self._parts.entity_finder(config or WorkspaceConfig())

    # The process.

    def memory(self, scope: Scope) -> Memory:
        """Return one agent's memory in this process."""
        return Memory(self._application, scope)

    def administration(self) -> Administration:
        """Return the operator's verbs in this process."""
        return Administration(self._parts)

    def allow_staleness(self, staleness: timedelta) -> None:
        """Let searches from now on be as stale as this."""
        settings = self._parts.settings
        self._parts.settings = replace(settings, max_staleness=staleness)

    def require_safe_store(self) -> None:
        """Probe the store's endpoint for conditional puts, as the first write does."""
        self._parts.require_safe_store()

    def with_session(self, session: Any) -> Driver:
        """Return a process whose store clients have this session's credentials."""
        given = getattr(self._parts, "given", {})
        models = {name: port for name, port in given.items() if name in OTHERS}
        return Driver(Application(_GivenScoped(self._parts, session).take(models)))

    def again(self, **given: Any) -> Driver:
        """Return a process like this one, over the same store, with these ports as well."""
        parts, before = self._parts, getattr(self._parts, "given", {})
        made = _Given(parts.settings, parts.clock, parts._environment)
        return Driver(Application(made.take({**before, **given})))

    def use_sessions(self, sessions: Any) -> None:
        """Get each agent's session from `sessions.of(scope)` instead of from STS."""
        vars(self._application._scoped)["_credentials"] = sessions

    # Verbs of one agent.

    def search(
        self, scope: Scope, request: SearchRequest, now: datetime | None = None
    ) -> SearchResponse:
        """Answer `search_memory`."""
        return self._application.search(scope, request, now)

    def context(
        self, scope: Scope, request: ContextRequest, now: datetime | None = None
    ) -> ContextBlock:
        """Build the block for a prompt."""
        return self._application.knowledge.context(scope, request, now)

    def recall(self, scope: Scope, situation: str, limit: int = 8) -> Any:
        """Recall what of the past bears on a situation."""
        return self._application.experience.recall(
            scope, situation, state=None, user_id=None, limit=limit
        )

    def history(self, scope: Scope) -> History:
        """Read an agent's experience."""
        return self._application.experience.history(scope)

    def status(self, scope: Scope) -> dict[str, Any]:
        """Return what an agent's memory holds."""
        return self._application.status(scope)

    def forget(
        self, scope: Scope, selector: Selector, now: datetime, **options: Any
    ) -> Forgotten:
        """Erase what the selector names."""
        return forget(self._application, scope, selector, now, **options)

    def summarize(
        self, scope: Scope, grains: Sequence[Grain], now: datetime
    ) -> WorkOutcome:
        """Summarize one agent's due periods."""
        return self._application.nights.summarize(scope, grains, now)

    def cleanup(self, scope: Scope, now: datetime, **options: Any) -> CleanupReport:
        """Delete what one agent has kept longer than its plan; `dry_run`, `force`."""
        return self._application.nights.cleanup(scope, now, **options)

    # Verbs of the functions.

    def ingest(
        self, conversations: Sequence[Conversation], now: datetime | None = None
    ) -> Any:
        """Take conversations in."""
        return self._application.ingest(conversations, now)

    def ingest_outcome(self, event: Mapping[str, Any]) -> None:
        """Take in an outcome as IngestFunction is told it."""
        self._application.ingest_outcome(event)

    def send_outcome(self, scope: Scope, report: Report) -> None:
        """Take in the outcome of an episode."""
        self._application.send_outcome(scope, report)

    def extract(self, batch: Sequence[Delivery]) -> list[Delivery]:
        """Handle a batch of the ingest queue; return the messages to deliver again."""
        return self._application.extract(batch)

    def write(self, batch: Sequence[Delivery]) -> WriteOutcome:
        """Handle a batch of the write queue."""
        return self._application.write(batch)

    def work(self, batch: Sequence[Delivery]) -> WorkOutcome:
        """Handle a batch of the work queue."""
        return self._application.nights.work(batch)

    def plan(self, grain: Grain, now: datetime) -> Pass:
        """Put the grain's due periods on the work queue."""
        return self._application.nights.plan(grain, now)

    def clean(self, now: datetime) -> Pass:
        """Put the agents of which something has expired on the work queue."""
        return self._application.nights.clean(now)

    def curate(self, now: datetime) -> Pass:
        """Put the agents with due lessons on the work queue."""
        return self._application.nights.curate(now)


def open_driver(
    environment: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    now: Now = None,
    **given: Any,
) -> Driver:
    """Open a process of the library; nothing of this test process's environment enters it.

    `given` are ports in place of those that the environment chooses (`STORAGE`, `OTHERS`), or
    with the prefix `wrap_` a function from such a port to the one to use. Raises Misconfigured.
    """
    known = {*STORAGE, *OTHERS, *(f"wrap_{name}" for name in STORAGE)}
    if unknown := given.keys() - known:
        raise TypeError(f"not a port: {sorted(unknown)}")
    environment = environment or {}
    settings = read_settings(environment, str(store) if store is not None else None)
    parts = _Given(settings, _clock(now), environment)
    return Driver(Application(parts.take(given)))


def open_memory(
    scope: Scope, store: str | Path | None = None, now: Now = None, **given: Any
) -> Memory:
    """Open one agent's memory as `open_driver` does; `environment` is a port of its own."""
    environment = given.pop("environment", None)
    return open_driver(environment, store, now, **given).memory(scope)


def driver_of(memory: Memory) -> Driver:
    """Return the driver of the process that a memory is open in."""
    return Driver(memory._application)


def give_dead_letter_boxes(monkeypatch: Any, boxes: Mapping[str, Any]) -> None:
    """Let whatever is opened from here on, by the CLI too, find these dead letters."""
    monkeypatch.setattr(Parts, "dead_letter_boxes", boxes)


def give_handler(monkeypatch: Any, function: ModuleType, **verbs: Any) -> None:
    """Have a function's handler call these verbs (`clean`, `curate`, …) of a driver."""
    application = SimpleNamespace(nights=SimpleNamespace(**verbs))
    monkeypatch.setattr(function, "application", lambda: application)


def read_forget_event(event: Any) -> tuple[Scope, dict[str, Any]]:
    """Return whose memory ForgetFunction is asked to erase from, and what."""
    return read_request(event)


def _clock(now: Now) -> Callable[[], datetime]:
    if now is None:
        return system_clock
    return now if callable(now) else fixed_clock(now)


def _records_with(upkeep: Any, parts: Parts) -> Any:
    """Return LanceDB stores that are compacted and pruned by another policy."""
    from varve.adapters.objects.store import lance_options
    from varve.adapters.records.records import LanceRecords

    options = lance_options() if parts.settings.s3_location else None
    return LanceRecords(parts.settings.store, parts.objects, options, upkeep)
