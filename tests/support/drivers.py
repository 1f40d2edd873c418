"""The one place where tests and benchmarks build the library and call its use cases.

`open_driver` opens one process of the library for an environment; a test may replace or
wrap any port. `tests/support/usecase_drivers.py` calls single use cases over given ports.
No other file under tests/ or benchmarks/ needs to know how the library is composed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from varve.api.administration import Administration
from varve.api.memory import Memory
from varve.domain.calendar import Grain
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.conversation import Conversation
from varve.domain.erasure import Selector
from varve.domain.experience.history import History
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest
from varve.domain.usage import ModelUsage
from varve.domain.workspace import WorkspaceConfig
from varve.messages.outcome import parse_outcome_event, send_outcome
from varve.ports.queues import Delivery
from varve.usecases.cleanup import CleanupReport
from varve.usecases.context.context import context
from varve.usecases.experience.outcomes import accept_report
from varve.usecases.experience.recall import RecallRequest, recall
from varve.usecases.experience.rows import read_past
from varve.usecases.forget.forget import ForgetOutcome, forget
from varve.usecases.forget.requests import ForgetRequest
from varve.usecases.forget.requests import (
    read_forget_event as read_forget_event,
)
from varve.usecases.ingest.extract import ExtractOutcome, extract_batch
from varve.usecases.ingest.ingest import IngestOutcome, ingest
from varve.usecases.ledger import Ledger
from varve.usecases.local import catch_up
from varve.usecases.operate.status import status
from varve.usecases.plan import MAX_AGENTS_PER_PASS as MAX_AGENTS_PER_PASS
from varve.usecases.plan import MAX_NOTES as MAX_NOTES
from varve.usecases.plan import (
    PassOutcome,
    plan_catch_up,
    plan_cleanup,
    plan_curation,
    plan_summaries,
)
from varve.usecases.profile import MAX_KEYS as MAX_KEYS
from varve.usecases.search.search import search
from varve.usecases.session import Session
from varve.usecases.work import WorkOutcome, clean_agent, summarize_agent, work
from varve.usecases.write.commits import WriteOutcome
from varve.usecases.write.write import write
from varve.wiring.clock import fixed_clock, system_clock
from varve.wiring.models import ConfiguredModels
from varve.wiring.sessions import Sessions
from varve.wiring.settings import read_settings
from varve.wiring.store import OpenStore

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


STORE_PARTS = ("objects", "records", "stores", "graph", "profiles")
QUEUES = {
    "ingest_queue": "ingest_queue", "write_queue": "write_queue",
    "summary_queue": "work_queue", "dead_letter_boxes": "dead_letter_boxes",
}  # fmt: skip


class _GivenModels(ConfiguredModels):
    """The models that the settings choose, with a test's own in their place."""

    given: Mapping[str, Any] = {}

    def embedder(self, config: WorkspaceConfig) -> Any:
        own = self.given.get("embedder")
        return super().embedder(config) if own is None else own

    def extractor(
        self, config: WorkspaceConfig, agent: str, privacy: Any, objects: Any
    ) -> Any:
        own = self.given.get("extractor_of")
        if own is not None:
            return own(agent)
        return super().extractor(config, agent, privacy, objects)

    def summarizer(
        self, config: WorkspaceConfig, agent: str, privacy: Any, objects: Any
    ) -> Any:
        own = self.given.get("summarizer")
        if own is not None:
            return own
        made = super().summarizer(config, agent, privacy, objects)
        wrap = self.given.get("wrap_summarizer")
        return wrap(made) if wrap else made

    def _llm(self, *args: Any, **options: Any) -> Any:
        own = self.given.get("llm")
        return super()._llm(*args, **options) if own is None else own


class _GivenStore(OpenStore):
    """The store that the settings choose, with a test's own ports in their place."""

    given: Mapping[str, Any] = {}

    def read_config(self, workspace: str) -> WorkspaceConfig:
        own = self.given.get("configs", {}).get(workspace)
        return own or super().read_config(workspace)


class _GivenSessions(Sessions):
    """A process with a test's own ports; `own` are one agent's credentials for all."""

    def __init__(
        self,
        settings: Any,
        clock: Any,
        environment: Any,
        given: Any,
        own: Any = None,
    ) -> None:
        self.given = given
        self.own = own
        super().__init__(settings, clock, environment)
        for name, attribute in QUEUES.items():
            if name in given:
                self.__dict__[attribute] = given[name]
            if wrap := given.get(f"wrap_{name}"):
                self.__dict__[attribute] = wrap(getattr(self, attribute))

    def open_store(
        self, credentials: Any = None, cache_bytes: Any = None
    ) -> OpenStore:
        store = _GivenStore(
            self.settings,
            self.clock,
            credentials or self.own,
            cache_bytes,
            self.meter,
            self._open_shared,
        )
        store.given = self.given
        if credentials is not None:
            return store  # its clients are the agent's own
        for name in STORE_PARTS:
            if name in self.given:
                store.__dict__[name] = self.given[name]
            elif name == "records" and "upkeep" in self.given:
                store.__dict__[name] = _records_with(
                    self.given["upkeep"], self.settings, store.objects
                )
            if wrap := self.given.get(f"wrap_{name}"):
                store.__dict__[name] = wrap(getattr(store, name))
        return store

    def open_models(self) -> ConfiguredModels:
        models = _GivenModels(self.settings, self.environment, self.meter)
        models.given = self.given
        return models

    def dead_letters(self, queue: Any) -> Any:
        own = self.given.get("dead_letters")
        return super().dead_letters(queue) if own is None else own


class Driver:
    """One process of the library: its ports, and every verb that a caller can run."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # Ports.

    def __getattr__(self, name: str) -> Any:
        """A port by its name: one of `STORAGE`."""
        if name in STORE_PARTS:
            return getattr(self._sessions.store, name)
        if name in QUEUES:
            return getattr(self._sessions, QUEUES[name])
        raise AttributeError(name)

    @property
    def ledger(self) -> Ledger:
        """The ledger of due, ready and failed periods."""
        return Ledger(self._sessions.store.objects)

    @property
    def usage(self) -> Any:
        """The use of models so far."""
        return ModelUsage.of(self._sessions.meter.total)

    def clock(self) -> datetime:
        """The time of this process."""
        return self._sessions.clock()

    def config(self, workspace: str) -> WorkspaceConfig:
        """The workspace's configuration."""
        return self._sessions.store.read_config(workspace)

    def embedder(self, config: WorkspaceConfig | None = None) -> Any:
        """The embedder of a workspace that is configured so."""
        return self._sessions.models.embedder(config or WorkspaceConfig())

    def extractor(
        self, config: WorkspaceConfig | None = None, agent: str = "support"
    ) -> Any:
        """The extractor of an agent whose workspace is configured so."""
        config = config or WorkspaceConfig()
        models = self._sessions.models
        privacy = models.privacy(config, "acme")
        return models.extractor(
            config, agent, privacy, self._sessions.store.objects
        )

    def summarizer(
        self, config: WorkspaceConfig | None = None, agent: str = "support"
    ) -> Any:
        """The summarizer of an agent whose workspace is configured so."""
        config = config or WorkspaceConfig()
        models = self._sessions.models
        privacy = models.privacy(config, "acme")
        return models.summarizer(
            config, agent, privacy, self._sessions.store.objects
        )

    def reranker(self, config: WorkspaceConfig | None = None) -> Any:
        """The reranker of a workspace that is configured so, or None."""
        return self._sessions.models.reranker(config or WorkspaceConfig())

    def entity_finder(self, config: WorkspaceConfig | None = None) -> Any:
        """The entity finder of a workspace that is configured so, or None."""
        return self._sessions.models.entity_finder(config or WorkspaceConfig())

    # The process.

    def memory(self, scope: Scope) -> Memory:
        """Return one agent's memory in this process."""
        return Memory(self._sessions, scope)

    def administration(self) -> Administration:
        """Return the operator's verbs in this process."""
        return Administration(self._sessions)

    def allow_staleness(self, staleness: timedelta) -> None:
        """Let searches from now on be as stale as this."""
        self._sessions.store.views.max_staleness = staleness

    def require_safe_store(self) -> None:
        """Probe the store's endpoint for conditional puts, as the first write does."""
        self._sessions.store.require_safe()

    def with_session(self, session: Any) -> Driver:
        """Return a process whose store clients have this session's credentials."""
        given = getattr(self._sessions, "given", {})
        models = {name: port for name, port in given.items() if name in OTHERS}
        made = self._like_this(models, session)
        # The probe's key is no agent's: the process has checked the endpoint itself.
        made._sessions._is_safe = True
        return made

    def again(self, **given: Any) -> Driver:
        """Return a process like this one, over the same store, with these ports as well."""
        before = getattr(self._sessions, "given", {})
        return self._like_this({**before, **given})

    def _like_this(self, given: Mapping[str, Any], own: Any = None) -> Driver:
        now = self._sessions
        return Driver(
            _GivenSessions(
                now.settings, now.clock, now.environment, given, own
            )
        )

    def use_sessions(self, sessions: Any) -> None:
        """Get each agent's session from `sessions.of(scope)` instead of from STS."""
        vars(self._sessions)["_credentials"] = sessions

    # Verbs of one agent.

    def open(self, scope: Scope, now: datetime | None = None) -> Session:
        """Open a session on one agent's memory."""
        return self._sessions.open(scope, now)

    def search(
        self, scope: Scope, request: SearchRequest, now: datetime | None = None
    ) -> SearchResponse:
        """Answer `search_memory`."""
        with self.open(scope, now) as session:
            return search(session, request)

    def context(
        self,
        scope: Scope,
        request: ContextRequest,
        now: datetime | None = None,
    ) -> ContextBlock:
        """Build the block for a prompt."""
        with self.open(scope, now) as session:
            return context(session, request)

    def recall(self, scope: Scope, situation: str, limit: int = 8) -> Any:
        """Recall what of the past bears on a situation."""
        with self.open(scope) as session:
            outcome = recall(session, RecallRequest(situation, limit=limit))
        return outcome.found, outcome.chains

    def history(self, scope: Scope) -> History:
        """Read an agent's experience."""
        with self.open(scope) as session:
            return read_past(session)

    def status(self, scope: Scope) -> dict[str, Any]:
        """Return what an agent's memory holds."""
        with self._sessions.open_owner(scope) as session:
            return status(session)

    def forget(
        self, scope: Scope, selector: Selector, now: datetime, **options: Any
    ) -> ForgetOutcome:
        """Erase what the selector names; `dry_run`, `check`, `patience`."""
        verify = options.pop("check", False)
        request = ForgetRequest(selector=selector, verify=verify, **options)
        with self._sessions.open_owner(scope, now) as session:
            return forget(session, request, self._sessions)

    def summarize(
        self, scope: Scope, grains: Sequence[Grain], now: datetime
    ) -> WorkOutcome:
        """Summarize one agent's due periods."""
        with self.open(scope, now) as session:
            return summarize_agent(session, grains)

    def cleanup(
        self, scope: Scope, now: datetime, **options: Any
    ) -> CleanupReport:
        """Delete what one agent has kept longer than its plan; `dry_run`, `force`."""
        with self.open(scope, now) as session:
            return clean_agent(session, **options)

    # Verbs of the functions.

    def ingest(
        self,
        conversations: Sequence[Conversation],
        now: datetime | None = None,
    ) -> tuple[IngestOutcome, ExtractOutcome | None]:
        """Take conversations in, agent by agent."""
        by_scope: dict[Scope, list[Conversation]] = {}
        for conversation in conversations:
            by_scope.setdefault(conversation.scope, []).append(conversation)
        accepted = IngestOutcome(0, 0)
        stored: ExtractOutcome | None = None
        for scope, own in by_scope.items():
            with self.open(scope, now) as session:
                one = ingest(session, own)
                done = catch_up(session)
            accepted = IngestOutcome(
                accepted.conversations + one.conversations,
                accepted.messages + one.messages,
                accepted.correlation_ids + one.correlation_ids,
            )
            if done is not None:
                stored = done if stored is None else stored + done
        return accepted, stored

    def ingest_outcome(self, event: Mapping[str, Any]) -> None:
        """Take in an outcome as IngestFunction is told it."""
        scope, report = parse_outcome_event(event, self.clock())
        with self.open(scope) as session:
            accept_report(session, report)

    def send_outcome(self, scope: Scope, report: Report) -> None:
        """Take in the outcome of an episode."""
        with self.open(scope) as session:
            queue = session.queues.ingest
            send_outcome(scope, report, queue=queue, objects=session.objects)
            catch_up(session)

    def extract(self, batch: Sequence[Delivery]) -> list[Delivery]:
        """Handle a batch of the ingest queue; return the messages to deliver again."""
        sessions = self._sessions
        outcome = extract_batch(
            sessions.open,
            batch,
            objects=sessions.store.objects,
            dead_letters=sessions.dead_letters(sessions.ingest_queue),
        )
        return list(outcome.returned)

    def write(self, batch: Sequence[Delivery]) -> WriteOutcome:
        """Handle a batch of the write queue."""
        sessions = self._sessions
        dead_letters = sessions.dead_letters(sessions.write_queue)
        return write(sessions.open_writer(), batch, dead_letters)

    def work(self, batch: Sequence[Delivery]) -> WorkOutcome:
        """Handle a batch of the work queue."""
        sessions = self._sessions
        return work(
            sessions.open,
            batch,
            now=sessions.clock(),
            dead_letters=sessions.dead_letters(sessions.work_queue),
            queue=sessions.work_queue,
        )

    def plan(self, grain: Grain, now: datetime) -> PassOutcome:
        """Put the grain's due periods on the work queue."""
        return plan_summaries(self._sessions.open_planner(), grain, now)

    def clean(self, now: datetime) -> PassOutcome:
        """Put the agents of which something has expired on the work queue."""
        return plan_cleanup(self._sessions.open_planner(), now)

    def catch_up(self, now: datetime) -> PassOutcome:
        """Put the agents whose words wait for the model on the work queue."""
        return plan_catch_up(self._sessions.open_planner(), now)

    def curate(self, now: datetime) -> PassOutcome:
        """Put the agents with due lessons on the work queue."""
        return plan_curation(self._sessions.open_planner(), now)


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
    settings = read_settings(
        environment, str(store) if store is not None else None
    )
    return Driver(_GivenSessions(settings, _clock(now), environment, given))


def open_memory(
    scope: Scope,
    store: str | Path | None = None,
    now: Now = None,
    **given: Any,
) -> Memory:
    """Open one agent's memory as `open_driver` does; `environment` is a port of its own."""
    environment = given.pop("environment", None)
    return open_driver(environment, store, now, **given).memory(scope)


def driver_of(memory: Memory) -> Driver:
    """Return the driver of the process that a memory is open in."""
    return Driver(memory.sessions)


def give_dead_letter_boxes(monkeypatch: Any, boxes: Mapping[str, Any]) -> None:
    """Let whatever is opened from here on, by the CLI too, find these dead letters."""
    monkeypatch.setattr(Sessions, "dead_letter_boxes", boxes)


def give_handler(monkeypatch: Any, function: ModuleType, **verbs: Any) -> None:
    """Have CleanupFunction's handler call these verbs (`clean`, `curate`, `catch_up`) of a driver."""
    names = {
        "clean": "plan_cleanup",
        "curate": "plan_curation",
        "catch_up": "plan_catch_up",
    }
    for name, verb in verbs.items():
        run = lambda _planner, at, verb=verb: verb(at)  # noqa: E731 - bound in a loop
        monkeypatch.setattr(function, names[name], run)
    opened = Sessions.from_environment("/dev/null/none", environment={})
    monkeypatch.setattr(opened, "open_planner", lambda: None)
    monkeypatch.setattr(function, "sessions", lambda: opened)


def _clock(now: Now) -> Callable[[], datetime]:
    if now is None:
        return system_clock
    return now if callable(now) else fixed_clock(now)


def _records_with(upkeep: Any, settings: Any, objects: Any) -> Any:
    """Return LanceDB stores that are compacted and pruned by another policy."""
    from varve.adapters.lance_cache.records import LanceRecords
    from varve.adapters.objects.store import lance_options

    options = lance_options() if settings.s3_location else None
    meter = getattr(objects, "meter", None)
    return LanceRecords(settings.store, objects, options, upkeep, meter=meter)
