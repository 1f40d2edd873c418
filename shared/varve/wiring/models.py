"""The models that a workspace's configuration names, each client built once."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from varve.domain.errors import Misconfigured
from varve.domain.model_names import (
    OPENROUTER,
    ModelName,
    parse_embedder_name,
    parse_llm_name,
    parse_reranker_name,
)
from varve.domain.setting_texts import DEFAULT_EMBEDDER
from varve.domain.workspace import WorkspaceConfig
from varve.ports.knowledge import EntityFinder, Reranker
from varve.ports.meter import Meter
from varve.ports.models import LLM, Embedder, Extractor, Summarizer
from varve.ports.objects import Objects
from varve.usecases.embedders import MovingEmbedder
from varve.usecases.privacy import (
    Privacy,
    PrivateExtractor,
    PrivateLLM,
    PrivateSummarizer,
)
from varve.wiring.keys import read_operator_key, read_workspace_key
from varve.wiring.privacy import build_privacy
from varve.wiring.settings import OPENROUTER_URL, Settings

EMBEDDED = "embedded"
FINDER_SECONDS = 3.0
"""How long a prompt waits for the model that names its entities."""
LLM_SECONDS = 60.0

T = TypeVar("T")
Key = tuple[object, ...]


class ConfiguredModels:
    """Builds models from the settings and a workspace's configuration.

    `meter` counts requests and tokens over all clients of the process. A client is
    built once for each provider and key reference.
    """

    def __init__(
        self, settings: Settings, environment: Mapping[str, str], meter: Meter
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._built: dict[Key, Any] = {}
        self._meter = meter

    def embedder(self, config: WorkspaceConfig) -> Embedder:
        """Return the embedder, the same for writing and asking, with its cache.

        It knows the models that stores are moving from as well. Raises Misconfigured.
        """
        current = self._embedder(config.models.embedder, config)
        before = config.models.embedders_before
        if not before:
            return current
        builders = [partial(self._embedder, name, config) for name in before]
        return MovingEmbedder(current, builders)

    def extractor(
        self,
        config: WorkspaceConfig,
        agent: str,
        privacy: Privacy,
        objects: Objects,
    ) -> Extractor:
        """Return the agent's extractor: a model behind checkpoints, or the rules."""
        name = self._llm_name(config)
        if name.provider == "offline":
            from varve.domain.rules import RuleExtractor

            # Rules repeat words that were filtered, and write none of their own.
            return self._once(("rules",), RuleExtractor)
        from varve.usecases.ingest.reading import (
            CheckpointedExtractor,
            ModelExtractor,
        )

        words = config.prompts_for(agent).extract
        model = ModelExtractor(self._llm(name, config), instructions=words)
        # Within the checkpoint, which is an object in the store like any other.
        return CheckpointedExtractor(PrivateExtractor(model, privacy), objects)

    def llm(self, config: WorkspaceConfig, privacy: Privacy) -> LLM | None:
        """Return the chat model with filtered answers; None: there is none."""
        name = self._llm_name(config)
        if name.provider == "offline":
            return None
        return PrivateLLM(self._llm(name, config), privacy)

    def summarizer(
        self,
        config: WorkspaceConfig,
        agent: str,
        privacy: Privacy,
        objects: Objects,
    ) -> Summarizer:
        """Return the agent's summarizer: a model, or sentences chosen by the embedder."""
        from varve.usecases.summaries.condensing import (
            ExtractiveSummarizer,
            ModelSummarizer,
        )

        llm = self.llm(config, privacy)
        if llm is None:
            return PrivateSummarizer(
                ExtractiveSummarizer(self.embedder(config)), privacy
            )
        words = config.prompts_for(agent).summarize
        return PrivateSummarizer(
            ModelSummarizer(llm, objects, instructions=words), privacy
        )

    def privacy(self, config: WorkspaceConfig, workspace: str) -> Privacy:
        """Return the workspace's filter. Raises Misconfigured: its key is missing."""
        build = partial(build_privacy, config, workspace, self._environment)
        return self._once(("privacy", workspace, config.privacy), build)

    def reranker(self, config: WorkspaceConfig) -> Reranker | None:
        """Return the reranker; None: none is configured.

        It reads its key on first use, so a search without that key still answers.
        """
        given = config.models.reranker
        name = self._settings.reranker
        if given:
            name = parse_reranker_name(given, "config.json: models.reranker")
        if name.provider == "off":
            return None
        key = ("reranker", name, *_provider(config))
        build = partial(self._build_reranker, name, config)
        return LateReranker(partial(self._once, key, build))

    def entity_finder(self, config: WorkspaceConfig) -> EntityFinder | None:
        """Return the model that names a prompt's entities; None: none is configured.

        It reads its key on first use, as the reranker does.
        """
        given = config.models.entities
        name = self._settings.entities
        if given:
            name = parse_llm_name(given, "config.json: models.entities")
        if name.provider == "offline":
            return None
        build = partial(
            self._llm, name, config, max_retries=0, timeout=FINDER_SECONDS
        )
        return LateFinder(build)

    def _embedder(
        self, given: str | None, config: WorkspaceConfig
    ) -> Embedder:
        name = self._settings.embedder
        if given not in (None, DEFAULT_EMBEDDER):
            name = parse_embedder_name(str(given), "config.json: models")
        build = partial(self._build_embedder, name, config)
        return self._once(("embedder", name, *_provider(config)), build)

    def _build_embedder(
        self, name: ModelName, config: WorkspaceConfig
    ) -> Embedder:
        from varve.adapters.models.cached_embedder import (
            CachedEmbedder,
            CachedWordEmbedder,
        )

        if name.provider == EMBEDDED:
            from varve.adapters.models.wordllama_embedder import (
                WordLlamaEmbedder,
            )

            embedded = WordLlamaEmbedder()
            return CachedWordEmbedder(embedded, embedded)
        from varve.adapters.models.openai_embedder import OpenAIEmbedder

        read_key = partial(self._read_key, name.provider, config)
        return CachedEmbedder(
            OpenAIEmbedder(
                name.name,
                dimensions=name.dimensions,
                api_key=read_key(),
                base_url=self._address(name.provider, config),
                meter=self._meter,
                reread=read_key,
            )
        )

    def _build_reranker(
        self, name: ModelName, config: WorkspaceConfig
    ) -> Reranker:
        from varve.adapters.models.http_reranker import HttpReranker

        url = self._settings.reranker_url
        if (
            name.provider == OPENROUTER
            or config.models.base_url
            or url is None
        ):
            read_key = partial(self._read_key, name.provider, config)
            return HttpReranker(
                name.name,
                api_key=read_key(),
                base_url=self._address(name.provider, config),
                meter=self._meter,
                reread=read_key,
            )
        key = self._settings.reranker_key
        if key is None:
            raise Misconfigured(
                "VARVE_RERANKER_API_KEY: is not set, and VARVE_RERANKER_URL asks for it"
            )
        return HttpReranker(
            name.name, api_key=key, base_url=url, meter=self._meter
        )

    def _llm_name(self, config: WorkspaceConfig) -> ModelName:
        given = config.models.llm
        if given:
            return parse_llm_name(given, "config.json: models.llm")
        return self._settings.llm

    def _llm(
        self,
        name: ModelName,
        config: WorkspaceConfig,
        max_retries: int = 1,
        timeout: float = LLM_SECONDS,
    ) -> LLM:
        from varve.adapters.models.openai_llm import OpenAILLM

        read_key = partial(self._read_key, name.provider, config)
        # One retry: a request that fails twice returns to the queue, which waits for free.
        return self._once(
            ("llm", name, *_provider(config), max_retries, timeout),
            lambda: OpenAILLM(
                name.name,
                api_key=read_key(),
                base_url=self._address(name.provider, config),
                max_retries=max_retries,
                timeout=timeout,
                meter=self._meter,
                reread=read_key,
            ),
        )

    def _address(self, provider: str, config: WorkspaceConfig) -> str:
        """Return where a provider's models are called."""
        if provider == OPENROUTER:
            return OPENROUTER_URL
        return config.models.base_url or self._settings.base_url

    def _read_key(self, provider: str, config: WorkspaceConfig) -> str:
        """Read the key from the environment or Secrets Manager, never from the store.

        Raises Misconfigured: names the variable or secret that is missing, or that may
        not go to the workspace's address.
        """
        reference = config.models.key
        if reference is None:
            return read_operator_key(provider, self._settings)
        address = self._address(provider, config)
        return read_workspace_key(
            reference, address, self._settings, self._environment
        )

    def _once(self, key: Key, build: Callable[[], T]) -> T:
        """Return the cached object for `key`, building it on first use."""
        if key not in self._built:
            self._built[key] = build()
        built: T = self._built[key]
        return built


class LateReranker:
    """A reranker whose client is built at the first request."""

    def __init__(self, build: Callable[[], Reranker]) -> None:
        self._build = build

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text. Raises Retryable, Rejected, Misconfigured."""
        return self._build().rerank(query, texts)


class LateFinder:
    """An entity finder whose client is built at the first request."""

    def __init__(self, build: Callable[[], LLM]) -> None:
        self._build = build

    def names(self, text: str) -> list[str]:
        """Return the names in the text. Raises Retryable, Rejected, Misconfigured."""
        from varve.usecases.naming import ModelEntityFinder

        return ModelEntityFinder(self._build()).names(text)


def spell_embedder(model: str) -> str:
    """Return how the settings spell the embedder of a recorded model (`name:256`)."""
    from varve.adapters.models.wordllama_embedder import MODEL

    return EMBEDDED if model == MODEL else f"openai:{model}"


def _provider(config: WorkspaceConfig) -> Key:
    """Return the address that a workspace's models are at, and where their key is."""
    return config.models.base_url, config.models.key
