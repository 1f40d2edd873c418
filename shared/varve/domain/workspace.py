"""A workspace's configuration: plan, time zone, prompts, models, privacy, and where keys lie."""

import re
from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from varve.domain.calendar import Grain
from varve.domain.conversation import PathId
from varve.domain.errors import Rejected
from varve.domain.experience.segments import Thresholds
from varve.domain.personal import Kind, Mode
from varve.domain.retention import PLANS, Limit, Plan
from varve.domain.search.strategies import HALF_LIFE_DAYS
from varve.domain.validation import rejected

DEFAULT_EMBEDDER = "default"
"""What `moving_from` says for the embedder that VARVE_EMBEDDER names."""


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(
            f"{name[:40]!r} is not an IANA time zone, such as Europe/Lisbon"
        ) from error
    return name


def _llm(name: str) -> str:
    if not re.fullmatch(r"offline|openai:.+", name):
        raise ValueError(f"{name[:60]!r} is neither 'offline' nor 'openai:<model>'")
    return name


def _embedder(name: str) -> str:
    if not re.fullmatch(r"embedded|openai:.+:[1-9][0-9]{0,3}", name):
        raise ValueError(
            f"{name[:60]!r} is neither 'embedded' nor 'openai:<model>:<dimensions>'"
        )
    return name


def _embedders(names: str) -> str:
    for name in names.split(","):
        if name != DEFAULT_EMBEDDER:
            _embedder(name)
    return names


def _reranker(name: str) -> str:
    if not re.fullmatch(r"off|openai:.+", name):
        raise ValueError(f"{name[:60]!r} is neither 'off' nor 'openai:<model>'")
    return name


class _Part(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class KeyReference(_Part):
    """Where the model provider's key lies: an environment variable or a Secrets Manager secret.

    Never the key itself: the configuration is an object in the store like any other. The variable's
    name must end in `_API_KEY`, so that no other secret of the process can be sent to a base URL.
    """

    environment: Annotated[str | None, Field(pattern=r"^[A-Z][A-Z0-9_]*_API_KEY$")] = (
        None
    )
    secret: str | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "KeyReference":
        if (self.environment is None) == (self.secret is None):
            raise ValueError("names either 'environment' or 'secret'")
        return self


class Models(_Part):
    """Which models to use in place of VARVE_LLM, VARVE_EMBEDDER, VARVE_RERANKER, VARVE_ENTITIES and
    OPENAI_BASE_URL.

    `moving_from` are the embedders that stores may still be of, with commas between, until `reembed` has
    moved all of them: it is written where `embedder` changes.
    """

    llm: Annotated[str, AfterValidator(_llm)] | None = None
    embedder: Annotated[str, AfterValidator(_embedder)] | None = None
    reranker: Annotated[str, AfterValidator(_reranker)] | None = None
    entities: Annotated[str, AfterValidator(_llm)] | None = None
    moving_from: Annotated[str, AfterValidator(_embedders)] | None = None
    base_url: str | None = None
    key: KeyReference | None = None

    @property
    def embedders_before(self) -> tuple[str, ...]:
        """The names in `moving_from`."""
        return tuple(self.moving_from.split(",")) if self.moving_from else ()

    @model_validator(mode="after")
    def _own_key_for_own_url(self) -> "Models":
        """The operator's key never goes to an address that a workspace chose."""
        if self.base_url is not None and self.key is None:
            raise ValueError("a baseUrl needs a key reference of its own beside it")
        return self


class Prompts(_Part):
    """Words to use in place of the project's own, by task; `summarize` by grain."""

    extract: str | None = None
    summarize: dict[Grain, str] = {}


def _limit(text: str) -> str:
    try:
        return str(Limit.parse(text))
    except Rejected as error:
        raise ValueError(error.reason) from error


LimitText = Annotated[str, AfterValidator(_limit)]


class Retention(_Part):
    """Limits to use in place of the plan's, by grain, such as `30 days`; the timeline's only if shorter."""

    working: LimitText | None = None
    daily: LimitText | None = None
    weekly: LimitText | None = None
    monthly: LimitText | None = None
    quarterly: LimitText | None = None
    yearly: LimitText | None = None
    timeline: LimitText | None = None

    @property
    def timeline_limit(self) -> Limit | None:
        """The timeline's own limit, where the workspace sets one."""
        return Limit.parse(self.timeline) if self.timeline else None


class PseudonymKey(_Part):
    """Where the key of the pseudonyms lies: an environment variable or a Secrets Manager secret.

    The variable's name must end in `_PSEUDONYM_KEY`, so that no other secret of the process serves as one.
    """

    environment: Annotated[
        str | None, Field(pattern=r"^[A-Z][A-Z0-9_]*_PSEUDONYM_KEY$")
    ] = None
    secret: Annotated[str | None, Field(pattern=r"^(varve/|arn:).+$")] = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "PseudonymKey":
        if (self.environment is None) == (self.secret is None):
            raise ValueError("names either 'environment' or 'secret'")
        return self


class Privacy(_Part):
    """What becomes of personal data before anything is stored, for each kind its own mode or the common one.

    `regions` are the countries, as ISO 3166 codes with commas between, whose phones are known without "+".
    """

    mode: Mode = Mode.OFF
    email: Mode | None = None
    iban: Mode | None = None
    card: Mode | None = None
    national_id: Mode | None = None
    ip: Mode | None = None
    phone: Mode | None = None
    regions: Annotated[str, Field(pattern=r"^[A-Z]{2}(,[A-Z]{2})*$")] = "US,GB,ES"
    key: PseudonymKey | None = None

    @model_validator(mode="after")
    def _key_for_pseudonyms(self) -> "Privacy":
        if Mode.PSEUDONYM in self.modes.values() and self.key is None:
            raise ValueError(
                "pseudonym needs a key: set privacy.key.environment or privacy.key.secret first"
            )
        return self

    @property
    def modes(self) -> dict[Kind, Mode]:
        """The mode of every kind that is not off; secrets are not among them, for no mode lets them be."""
        named = {
            kind: getattr(self, kind.replace("-", "_"))
            for kind in Kind
            if kind is not Kind.SECRET
        }
        chosen = {kind: own or self.mode for kind, own in named.items()}
        return {kind: mode for kind, mode in chosen.items() if mode is not Mode.OFF}


class Search(_Part):
    """How memories are ranked: in `half_life_days` days a memory's recency halves."""

    half_life_days: Annotated[float, Field(gt=0, le=36_500)] = HALF_LIFE_DAYS


class Experience(_Part):
    """How experience is cut and kept: thresholds of segmentation, and forgetting, which is off by default.

    `likeness` is the cosine below which a message begins a new episode, `material_signals` the names
    (with commas between) whose presence calls for a new answer, `time_to_live_days` the age at which
    rows go, `decay` whether what nobody reads loses importance until it goes.
    """

    gap_minutes: Annotated[int, Field(ge=1)] = 120
    likeness: Annotated[float, Field(ge=-1, le=1)] = 0.1
    window: Annotated[int, Field(ge=1, le=50)] = 4
    block_lessons: Annotated[int, Field(ge=0, le=100)] = 20
    material_signals: str | None = None
    time_to_live_days: Annotated[int | None, Field(ge=1)] = None
    decay: bool = False

    @property
    def thresholds(self) -> Thresholds:
        """Where the workspace's conversations are cut."""
        return Thresholds(
            timedelta(minutes=self.gap_minutes), self.likeness, self.window
        )


class WorkspaceConfig(_Part):
    """The object at `workspaces/{workspace}/config.json`; everything in it is optional."""

    plan: Plan = Plan.FREE
    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    retention: Retention = Retention()
    prompts: Prompts = Prompts()
    agents: dict[PathId, Prompts] = {}
    models: Models = Models()
    privacy: Privacy = Privacy()
    search: Search = Search()
    experience: Experience = Experience()

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which the workspace's days begin."""
        return ZoneInfo(self.timezone)

    def prompts_for(self, agent: str) -> Prompts:
        """The agent's own words where it has any, else the workspace's."""
        own = self.agents.get(agent, Prompts())
        summarize = {**self.prompts.summarize, **own.summarize}
        return Prompts(extract=own.extract or self.prompts.extract, summarize=summarize)

    def limit(self, grain: Grain) -> Limit:
        """How long records of the grain are kept: the workspace's own limit, else its plan's."""
        own = getattr(self.retention, grain)
        return Limit.parse(own) if own else PLANS[self.plan][grain]


def parse_workspace_config(data: bytes) -> WorkspaceConfig:
    """The configuration from its stored JSON. Raises Rejected: names the faulty field."""
    try:
        return WorkspaceConfig.model_validate_json(data)
    except ValidationError as error:
        raise rejected(error, prefix="config.json: ") from error
