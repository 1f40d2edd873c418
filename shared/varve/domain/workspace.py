"""A workspace's configuration: plan, time zone, prompts, models, privacy, key locations."""

import json
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationError, model_validator

from varve.domain.calendar import Grain
from varve.domain.conversation import PathId
from varve.domain.errors import Rejected
from varve.domain.experience.config import ExperienceConfig
from varve.domain.model_names import OPENAI, PROVIDERS
from varve.domain.personal import Kind, Mode
from varve.domain.retention import PLANS, Limit, Plan
from varve.domain.search.strategies import HALF_LIFE_DAYS, parse_weights
from varve.domain.setting_texts import (
    AgentsText,
    DollarsText,
    EmbeddersText,
    EmbedderText,
    LimitText,
    LlmText,
    PricesText,
    RerankerText,
    WeightsText,
    ZoneText,
)
from varve.domain.strict_json import NotJson, parse_json
from varve.domain.validation import StrictCamelModel, rejected


class _SecretLocation(StrictCamelModel):
    """An environment variable or a Secrets Manager secret that holds a key."""

    environment: str | None = None
    secret: str | None = None

    @model_validator(mode="after")
    def _require_one_place(self) -> Self:
        if (self.environment is None) == (self.secret is None):
            raise ValueError("must name either 'environment' or 'secret'")
        return self


class KeyReference(_SecretLocation):
    """The location of the model provider's key.

    It is never the key itself, because the configuration is an object in the store like
    any other. The variable's name must end in `_API_KEY`, so that no other secret of the
    process can be sent to a base URL. The operator lists the variables that may be named.
    """

    environment: Annotated[
        str | None, Field(pattern=r"^[A-Z][A-Z0-9_]*_API_KEY$")
    ] = None


class ModelsConfig(StrictCamelModel):
    """The models to use in place of those that the environment names.

    They override VARVE_LLM, VARVE_EMBEDDER, VARVE_RERANKER, VARVE_ENTITIES and
    OPENAI_BASE_URL. `moving_from` lists, separated by commas, the embedders whose vectors
    some stores may still hold. A change of `embedder` sets it, and `reembed` clears it
    when every store has moved. `window_tokens` is the context window of the agent's own
    model, of which a context's `window_fraction` is a share.
    """

    llm: LlmText | None = None
    embedder: EmbedderText | None = None
    reranker: RerankerText | None = None
    entities: LlmText | None = None
    moving_from: EmbeddersText | None = None
    window_tokens: Annotated[int | None, Field(ge=1, le=100_000_000)] = None
    base_url: str | None = None
    key: KeyReference | None = None

    @property
    def embedders_before(self) -> tuple[str, ...]:
        """The names in `moving_from`."""
        return tuple(self.moving_from.split(",")) if self.moving_from else ()

    @model_validator(mode="after")
    def _require_key_for_base_url(self) -> Self:
        """Keep the operator's key from an address that a workspace chose."""
        if self.base_url is not None and self.key is None:
            raise ValueError(
                "a baseUrl needs a key reference of its own beside it"
            )
        return self

    @model_validator(mode="after")
    def _require_one_provider(self) -> Self:
        """Keep a key from a provider that it was not given for."""
        if self.key is None:
            return self
        providers = set()
        for name in (self.llm, self.embedder, self.reranker, self.entities):
            provider = (name or "").partition(":")[0]
            if provider in PROVIDERS:
                providers.add(provider)
        if self.base_url is not None:
            providers.add(OPENAI)
        if len(providers) > 1:
            raise ValueError(
                "one key reference serves one provider: openai: or openrouter: models"
            )
        return self


class PromptsConfig(StrictCamelModel):
    """Prompt texts that replace the built-in ones, by task; `summarize` by grain."""

    extract: str | None = None
    summarize: dict[Grain, str] = Field(default_factory=dict)


class RetentionConfig(StrictCamelModel):
    """Limits such as `30 days` that replace the plan's, by grain.

    The timeline's limit counts only if it keeps less than the plan's yearly one.
    """

    working: LimitText | None = None
    daily: LimitText | None = None
    weekly: LimitText | None = None
    monthly: LimitText | None = None
    quarterly: LimitText | None = None
    yearly: LimitText | None = None
    timeline: LimitText | None = None

    @property
    def timeline_limit(self) -> Limit | None:
        """The timeline's own limit, or None if the workspace sets none."""
        return Limit.parse(self.timeline) if self.timeline else None


class PseudonymKey(_SecretLocation):
    """The location of the pseudonyms' key.

    The variable's name must end in `_PSEUDONYM_KEY`, so that no other secret of the
    process serves as one.
    """

    environment: Annotated[
        str | None, Field(pattern=r"^[A-Z][A-Z0-9_]*_PSEUDONYM_KEY$")
    ] = None
    secret: Annotated[str | None, Field(pattern=r"^(varve/|arn:).+$")] = None


class PrivacyConfig(StrictCamelModel):
    """What happens to personal data before anything is stored.

    Each kind of data has its own mode or, where that is None, the common `mode`.
    `regions` are the countries whose phone numbers are found without a leading "+", as
    ISO 3166 codes separated by commas.
    """

    mode: Mode = Mode.OFF
    email: Mode | None = None
    iban: Mode | None = None
    card: Mode | None = None
    national_id: Mode | None = None
    ip: Mode | None = None
    phone: Mode | None = None
    regions: Annotated[str, Field(pattern=r"^[A-Z]{2}(,[A-Z]{2})*$")] = (
        "US,GB,ES"
    )
    key: PseudonymKey | None = None

    @model_validator(mode="after")
    def _require_key_for_pseudonyms(self) -> Self:
        if Mode.PSEUDONYM in self.modes.values() and self.key is None:
            raise ValueError(
                "pseudonym needs a key: set privacy.key.environment or "
                "privacy.key.secret first"
            )
        return self

    @property
    def modes(self) -> dict[Kind, Mode]:
        """The mode of each kind that is not off, without secrets.

        Secrets have no mode: they are always redacted.
        """
        modes: dict[Kind, Mode] = {}
        for kind in Kind:
            if kind is Kind.SECRET:
                continue
            mode = getattr(self, kind.replace("-", "_")) or self.mode
            if mode is not Mode.OFF:
                modes[kind] = mode
        return modes


class SearchConfig(StrictCamelModel):
    """How memories are ranked: a memory's recency halves every `half_life_days` days.

    `weights` replace weights of signals: `date=0.8,kin=1.5`.
    """

    half_life_days: Annotated[float, Field(gt=0, le=36_500)] = HALF_LIFE_DAYS
    weights: WeightsText | None = None

    def read_weights(self) -> dict[str, float]:
        """Return the workspace's own weights by signal."""
        return parse_weights(self.weights) if self.weights else {}


class AgentSearchConfig(StrictCamelModel):
    """How one agent searches: `agents` are others whose memory it reads where they grant it.

    They are separated by commas. A request that names agents replaces them.
    """

    agents: AgentsText | None = None


class AgentConfig(PromptsConfig):
    """One agent's own prompts, and the other agents that it searches."""

    search: AgentSearchConfig = AgentSearchConfig()


class SummaryScope(StrEnum):
    """Whose messages one summary may be made of: one user's, or all of an agent's."""

    AGENT = "agent"
    USER = "user"


class SummariesConfig(StrictCamelModel):
    """Whose messages a summary is made of.

    With `agent`, a search for one user finds no summaries of several users.
    """

    scope: SummaryScope = SummaryScope.USER


class ChangesFinder(StrEnum):
    """How a new statement's changes are found: rules alone, or a model beside them."""

    RULES = "rules"
    MODEL = "model"


class StatementsConfig(StrictCamelModel):
    """How the earlier statements are found that a new one supersedes or confirms.

    `model` is the workspace's chat model; a workspace without one has the rules.
    """

    changes: ChangesFinder = ChangesFinder.MODEL


class CostsConfig(StrictCamelModel):
    """How costs are estimated, and how many days they are kept.

    `prices` replace list prices, in dollars for a million: `gpt-4.1=2/8, puts=5.4`.
    """

    prices: PricesText | None = None
    keep_days: Annotated[int, Field(ge=31)] = 400


class LoggedQuestion(StrEnum):
    """What the log of searches keeps of a question."""

    OFF = "off"
    HASH = "hash"
    WORDS = "words"


class AnalyticsConfig(StrictCamelModel):
    """Whether searches are logged, with a hash of each question or with its words."""

    searches: LoggedQuestion = LoggedQuestion.OFF


class BudgetConfig(StrictCamelModel):
    """What the workspace may spend on models in a calendar month of its zone: `20 USD`."""

    models: DollarsText | None = None

    @property
    def dollars(self) -> float | None:
        """The models' budget in dollars; None: there is no limit."""
        return None if self.models is None else float(self.models.split()[0])


class WorkspaceConfig(StrictCamelModel):
    """The object at `workspaces/{workspace}/config.json`; every value is optional."""

    plan: Plan = Plan.FREE
    timezone: ZoneText = "UTC"
    retention: RetentionConfig = RetentionConfig()
    prompts: PromptsConfig = PromptsConfig()
    agents: dict[PathId, AgentConfig] = Field(default_factory=dict)
    models: ModelsConfig = ModelsConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    search: SearchConfig = SearchConfig()
    summaries: SummariesConfig = SummariesConfig()
    statements: StatementsConfig = StatementsConfig()
    experience: ExperienceConfig = ExperienceConfig()
    analytics: AnalyticsConfig = AnalyticsConfig()
    costs: CostsConfig = CostsConfig()
    budget: BudgetConfig = BudgetConfig()

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which the workspace's days begin."""
        return ZoneInfo(self.timezone)

    def prompts_for(self, agent: str) -> PromptsConfig:
        """Return the agent's own prompts, completed by the workspace's."""
        own = self.agents.get(agent, AgentConfig())
        return PromptsConfig(
            extract=own.extract or self.prompts.extract,
            summarize={**self.prompts.summarize, **own.summarize},
        )

    def agents_searched_by(self, agent: str) -> tuple[str, ...]:
        """Return the other agents whose memory a search of this agent reads as well."""
        own = self.agents.get(agent, AgentConfig())
        return tuple(own.search.agents.split(",")) if own.search.agents else ()

    def limit(self, grain: Grain) -> Limit:
        """Return how long records of the grain are kept.

        That is the workspace's own limit, else its plan's.
        """
        own = getattr(self.retention, grain)
        return Limit.parse(own) if own else PLANS[self.plan][grain]


def parse_workspace_config(data: bytes) -> WorkspaceConfig:
    """Return the configuration from its stored JSON.

    Raises Rejected: names the faulty field, or a key that appears twice.
    """
    with suppress(json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        _refuse_equal_keys(data)
    try:
        return WorkspaceConfig.model_validate_json(data)
    except ValidationError as error:
        raise rejected(error, prefix="config.json: ") from error


def _refuse_equal_keys(data: bytes) -> None:
    try:
        parse_json(data)
    except NotJson as error:
        raise Rejected("config.json: value", str(error)) from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # Python's limit on the digits of an integer
        raise Rejected(
            "config.json: value", "has a number of too many digits"
        ) from error
