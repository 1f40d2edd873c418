"""The composition root: settings in, parts out, each adapter imported and built on first use."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from varve.domain.calendar import aware
from varve.domain.errors import Misconfigured
from varve.domain.identity import path_id
from varve.domain.retention import Plan
from varve.domain.usage import Usage
from varve.domain.workspace import (
    DEFAULT_EMBEDDER,
    WorkspaceConfig,
    parse_workspace_config,
)
from varve.ports.clock import Clock
from varve.ports.knowledge import EntityFinder, Reranker
from varve.ports.models import LLM, Embedder, Extractor, Summarizer
from varve.ports.objects import Objects
from varve.ports.queues import DeadLetterBox
from varve.usecases.embedders import MovingEmbedder
from varve.wiring.clock import system_clock
from varve.wiring.embedder import build_embedder
from varve.wiring.privacy import build_privacy
from varve.wiring.rerankers import build_finder, build_reranker
from varve.wiring.settings import ModelName, Settings, embedder_name, llm_name

if TYPE_CHECKING:
    from varve.adapters.graph.parquet import ParquetGraph
    from varve.adapters.json_profiles import JsonProfiles
    from varve.adapters.queues.dead_letters import SqsDeadLetters
    from varve.adapters.queues.sqs import SqsQueue
    from varve.adapters.records.records import LanceRecords
    from varve.adapters.records.stores import LanceStores
    from varve.usecases.privacy import Privacy

T = TypeVar("T")


class Parts:
    """What the pipeline is given. Nothing else in the library chooses an implementation."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock = system_clock,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self._environment = environment
        self._extractors: dict[tuple[object, ...], Extractor] = {}
        self._built: dict[tuple[object, ...], Any] = {}
        """What holds neither a client of the store nor anything of an agent's."""
        self.usage = Usage()

    def at(self, named: datetime | None, field: str = "now") -> datetime:
        """The moment that a caller names, or the present. Raises Rejected: it has no time zone."""
        return self.clock() if named is None else aware(named, field)

    @cached_property
    def objects(self) -> Objects:
        """The objects under the store root."""
        from varve.adapters.objects.store import local_objects, s3_objects

        location = self.settings.s3_location
        return (
            s3_objects(*location)
            if location
            else local_objects(Path(self.settings.store))
        )

    @cached_property
    def records(self) -> "LanceRecords":
        """The record stores, to read and (in the writer) to write."""
        from varve.adapters.objects.store import lance_options
        from varve.adapters.records.records import LanceRecords
        from varve.adapters.records.replicas import Caching

        location = self.settings.s3_location
        root = self.settings.store.rstrip("/")
        caching = Caching(self.settings.cache_directory, self.settings.cache_bytes)
        return LanceRecords(
            root, self.objects, lance_options() if location else None, caching=caching
        )

    @cached_property
    def stores(self) -> "LanceStores":
        """The record stores as a whole, to read and (in the writer) to move to another model."""
        from varve.adapters.records.stores import LanceStores

        return LanceStores(
            self.records.newest, self.objects, self.settings.cache_directory
        )

    @cached_property
    def graph(self) -> "ParquetGraph":
        """The graphs, to read and (in the writer) to write."""
        from varve.adapters.graph.parquet import ParquetGraph

        return ParquetGraph(self.objects)

    @cached_property
    def profiles(self) -> "JsonProfiles":
        """The users' profiles, to read and (in the writer) to write."""
        from varve.adapters.json_profiles import JsonProfiles

        return JsonProfiles(self.objects)

    @cached_property
    def ingest_queue(self) -> "SqsQueue":
        """The ingest queue. Raises Misconfigured: VARVE_INGEST_QUEUE_URL is not set."""
        return _sqs(self.settings.ingest_queue_url, "VARVE_INGEST_QUEUE_URL")

    @cached_property
    def write_queue(self) -> "SqsQueue":
        """The write queue. Raises Misconfigured: VARVE_WRITE_QUEUE_URL is not set."""
        return _sqs(self.settings.write_queue_url, "VARVE_WRITE_QUEUE_URL")

    @cached_property
    def summary_queue(self) -> "SqsQueue":
        """The queue of periods to summarize. Raises Misconfigured: VARVE_SUMMARY_QUEUE_URL is not set."""
        return _sqs(self.settings.summary_queue_url, "VARVE_SUMMARY_QUEUE_URL")

    def dead_letters(self, queue: "SqsQueue") -> "SqsDeadLetters":
        """Where the messages of this queue go that cannot succeed."""
        from varve.adapters.queues.dead_letters import SqsDeadLetters

        return SqsDeadLetters(queue)

    @cached_property
    def dead_letter_boxes(self) -> dict[str, DeadLetterBox]:
        """The dead letters of each queue that the settings name: ingest, write, summary."""
        from varve.adapters.queues.dead_letters import SqsDeadLetterBox
        from varve.adapters.queues.sqs import SqsQueue

        urls = {
            "ingest": self.settings.ingest_queue_url,
            "write": self.settings.write_queue_url,
            "summary": self.settings.summary_queue_url,
        }
        return {
            name: SqsDeadLetterBox(SqsQueue(url)) for name, url in urls.items() if url
        }

    def require_safe_store(self) -> None:
        """Refuse, before the first write, an endpoint that would lose acknowledged rows.

        Amazon S3 itself is known to honour conditional puts and is not asked.
        Raises Misconfigured.
        """
        from varve.adapters.objects.store import (
            custom_endpoint,
            require_conditional_put,
        )

        if self.settings.s3_location and (endpoint := custom_endpoint()):
            require_conditional_put(self.objects, endpoint)

    def config(self, workspace: str) -> WorkspaceConfig:
        """The workspace's configuration as it is stored now. Raises Rejected: it is not valid."""
        stored = self.objects.get(
            f"workspaces/{path_id(workspace, 'workspaceId')}/config.json"
        )
        return _configured(stored.data if stored else b"{}", self.settings.default_plan)

    def embedder(self, config: WorkspaceConfig) -> Embedder:
        """The workspace's embedder, with its cache; the same one for writing and asking.

        Where stores are on their way from another model, it knows that one's as well.
        """
        before = config.models.embedders_before
        current = self._embedder(config.models.embedder, config)
        if not before:
            return current
        return MovingEmbedder(
            current, [partial(self._embedder, name, config) for name in before]
        )

    def _embedder(self, given: str | None, config: WorkspaceConfig) -> Embedder:
        named = given not in (None, DEFAULT_EMBEDDER)
        name = (
            embedder_name(str(given), "config.json: models")
            if named
            else self.settings.embedder
        )
        base_url = config.models.base_url or self.settings.base_url
        api_key = partial(self._api_key, config)
        build = partial(build_embedder, name, base_url, api_key, self.usage)
        return _once(self._built, ("embedder", name, *_provider(config)), build)

    def extractor(
        self, config: WorkspaceConfig, agent: str, privacy: "Privacy"
    ) -> Extractor:
        """The agent's extractor: a model behind checkpoints, or the offline rules."""
        given = config.models.llm
        name = (
            llm_name(given, "config.json: models.llm") if given else self.settings.llm
        )
        words = config.prompts_for(agent).extract
        build = partial(self._build_extractor, name, config, words, privacy)
        return _once(
            self._extractors, (name, *_provider(config), words, privacy), build
        )

    def _build_extractor(
        self,
        name: ModelName,
        config: WorkspaceConfig,
        words: str | None,
        privacy: "Privacy",
    ) -> Extractor:
        if name.provider == "offline":
            from varve.domain.rules import RuleExtractor

            # Rules repeat words of messages that have been filtered, and write none of their own.
            return RuleExtractor()
        from varve.usecases.privacy import PrivateExtractor
        from varve.usecases.reading import CheckpointedExtractor, ModelExtractor

        model = ModelExtractor(self._llm(name, config), instructions=words)
        # Within the checkpoint, which is an object in the store like any other.
        return CheckpointedExtractor(PrivateExtractor(model, privacy), self.objects)

    def llm(self, config: WorkspaceConfig, privacy: "Privacy") -> LLM | None:
        """The workspace's chat model, what it answers filtered; None where it goes without."""
        from varve.usecases.privacy import PrivateLLM

        given = config.models.llm
        name = (
            llm_name(given, "config.json: models.llm") if given else self.settings.llm
        )
        return (
            None
            if name.provider == "offline"
            else PrivateLLM(self._llm(name, config), privacy)
        )

    def summarizer(
        self, config: WorkspaceConfig, agent: str, privacy: "Privacy"
    ) -> Summarizer:
        """The agent's summarizer: a model, or sentences chosen by the embedder."""
        from varve.usecases.privacy import PrivateSummarizer

        llm = self.llm(config, privacy)
        if llm is None:
            from varve.usecases.condensing import ExtractiveSummarizer

            return PrivateSummarizer(
                ExtractiveSummarizer(self.embedder(config)), privacy
            )
        from varve.usecases.condensing import ModelSummarizer

        words = config.prompts_for(agent).summarize
        return PrivateSummarizer(
            ModelSummarizer(llm, self.objects, instructions=words), privacy
        )

    def privacy(self, config: WorkspaceConfig, workspace: str) -> "Privacy":
        """The workspace's filter: for secrets always, for personal data as its configuration says.

        Raises Misconfigured: pseudonyms are asked for, and their key is not where it should be.
        """
        build = partial(build_privacy, config, workspace, self._environment)
        return _once(self._built, ("privacy", workspace, config.privacy), build)

    def reranker(self, config: WorkspaceConfig) -> Reranker | None:
        """The workspace's reranker, where one is configured. Raises Misconfigured."""
        build = partial(
            build_reranker, config, self.settings, partial(self._api_key, config)
        )
        return _once(
            self._built, ("reranker", config.models.reranker, *_provider(config)), build
        )

    def entity_finder(self, config: WorkspaceConfig) -> EntityFinder | None:
        """A model that names what a prompt speaks of, where one is configured. Raises Misconfigured."""
        return build_finder(
            config, self.settings, partial(self._llm, config=config, max_retries=0)
        )

    def _llm(
        self,
        name: ModelName,
        config: WorkspaceConfig,
        max_retries: int = 1,
        timeout: float = 60.0,
    ) -> LLM:
        from varve.adapters.models.openai_llm import OpenAILLM

        read, base_url = (
            partial(self._api_key, config),
            config.models.base_url or self.settings.base_url,
        )
        # One retry of its own: what fails twice goes back to the queue, which waits for free.
        return _once(
            self._built,
            ("llm", name, *_provider(config), max_retries, timeout),
            lambda: OpenAILLM(
                name.name,
                api_key=read(),
                base_url=base_url,
                max_retries=max_retries,
                timeout=timeout,
                usage=self.usage,
                reread=read,
            ),
        )

    def _api_key(self, config: WorkspaceConfig) -> str:
        """The key from where the workspace or the environment says it lies, never from the store."""
        reference = config.models.key
        if reference and reference.environment:
            key = self._environment.get(reference.environment)
            if not key:
                raise Misconfigured(
                    f"{reference.environment}: is not set (the workspace's key reference)"
                )
            return key
        secret = reference.secret if reference else self.settings.api_key_secret
        if self.settings.api_key and not reference:
            return self.settings.api_key
        if secret is None:
            raise Misconfigured(
                "OPENAI_API_KEY: is not set, and VARVE_API_KEY_SECRET names no secret"
            )
        from varve.adapters.secrets_manager import read_secret

        return read_secret(secret)


def _once(
    known: dict[tuple[object, ...], Any],
    key: tuple[object, ...],
    build: Callable[[], T],
) -> T:
    """What was built for the key before, or is built now."""
    if key not in known:
        known[key] = build()
    built: T = known[key]
    return built


def _provider(config: WorkspaceConfig) -> tuple[object, ...]:
    """Whom a workspace's models are asked of, and where the key lies."""
    return config.models.base_url, config.models.key


@lru_cache(maxsize=1_000)
def _configured(stored: bytes, plan: Plan) -> WorkspaceConfig:
    config = parse_workspace_config(stored)
    return (
        config
        if "plan" in config.model_fields_set
        else config.model_copy(update={"plan": plan})
    )


def _sqs(url: str | None, variable: str) -> "SqsQueue":
    from varve.adapters.queues.sqs import SqsQueue

    if url is None:
        raise Misconfigured(f"{variable}: is not set")
    return SqsQueue(url)
