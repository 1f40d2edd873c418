"""A workspace's configuration: plan, time zone, prompts, models, and where the model's key lies."""

from enum import StrEnum
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from varve.domain.validation import rejected


class Plan(StrEnum):
    """The plans, each with its retention."""

    FREE = "free"
    STARTER = "starter"
    PRO = "pro"


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name[:40]!r} is not an IANA time zone, such as Europe/Lisbon") from error
    return name


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class KeyReference(_Part):
    """Where the model provider's key lies: an environment variable or a Secrets Manager secret.

    Never the key itself: the configuration is an object in the store like any other. The variable's
    name must end in `_API_KEY`, so that no other secret of the process can be sent to a base URL.
    """

    environment: Annotated[str | None, Field(pattern=r"^[A-Z][A-Z0-9_]*_API_KEY$")] = None
    secret: str | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "KeyReference":
        if (self.environment is None) == (self.secret is None):
            raise ValueError("names either 'environment' or 'secret'")
        return self


class Models(_Part):
    """Which models to use in place of VARVE_LLM, VARVE_EMBEDDER and OPENAI_BASE_URL."""

    llm: str | None = None
    embedder: str | None = None
    base_url: str | None = None
    key: KeyReference | None = None

    @model_validator(mode="after")
    def _own_key_for_own_url(self) -> "Models":
        """The operator's key never goes to an address that a workspace chose."""
        if self.base_url is not None and self.key is None:
            raise ValueError("a baseUrl needs a key reference of its own beside it")
        return self


class Prompts(_Part):
    """Words to use in place of the project's own, by task."""

    extract: str | None = None


class WorkspaceConfig(_Part):
    """The object at `workspaces/{workspace}/config.json`; everything in it is optional."""

    plan: Plan = Plan.FREE
    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    prompts: Prompts = Prompts()
    models: Models = Models()

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which the workspace's days begin."""
        return ZoneInfo(self.timezone)


def parse_workspace_config(data: bytes) -> WorkspaceConfig:
    """The configuration from its stored JSON. Raises Rejected: names the faulty field."""
    try:
        return WorkspaceConfig.model_validate_json(data)
    except ValidationError as error:
        raise rejected(error, prefix="config.json: ") from error
