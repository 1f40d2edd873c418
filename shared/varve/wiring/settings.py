"""Every environment variable that Varve reads, checked once.

Each field of `Settings` names its variable and describes it; the reference page of the
settings is generated from these descriptions. The standard variables of AWS are read by
its own libraries.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.identity import Identity
from varve.domain.model_names import (
    ModelName,
    parse_embedder_name,
    parse_llm_name,
    parse_reranker_name,
)
from varve.domain.personal import Mode
from varve.domain.retention import Plan
from varve.domain.strict_json import parse_json
from varve.domain.validation import build_converter, rejected

DEFAULT_STORE = "./memory"
DEFAULT_CACHE_MEGABYTES = 360
MAX_WHOLE_NUMBER = 1_000_000
DEFAULT_BASE_URL = "https://api.openai.com/v1"
OPENROUTER_URL = "https://openrouter.ai/api/v1"


def _parse_text(parse: Callable[[str, str], object]) -> BeforeValidator:
    """Return a validator that parses a variable's text and keeps a parsed value."""
    convert = build_converter(parse)
    return BeforeValidator(
        lambda value: convert(value) if isinstance(value, str) else value
    )


def _parse_store(text: str, field: str) -> str:
    if not text:
        raise Rejected(field, "is empty; leave it out for ./memory")
    if text.startswith("s3://"):
        if not text.removeprefix("s3://").partition("/")[0]:
            raise Rejected(field, f"{text!r} names no bucket")
        return text
    if "://" in text:
        raise Rejected(
            field, f"{text!r} is neither a directory nor s3://bucket/prefix"
        )
    return str(_parse_directory(text, field))


def _parse_directory(text: str, field: str) -> Path:
    try:
        return Path(text).expanduser()
    except (
        RuntimeError
    ) as error:  # "~name" of a user that this machine does not have
        raise Rejected(field, f"{text!r} names no home directory") from error


def _parse_whole_number(text: str, field: str) -> int:
    if (
        not text.isascii()
        or not text.isdecimal()
        or int(text) > MAX_WHOLE_NUMBER
    ):
        raise Rejected(
            field,
            f"{text[:40]!r} is not a whole number from 0 to {MAX_WHOLE_NUMBER}",
        )
    return int(text)


def _parse_seconds(text: str, field: str) -> timedelta:
    return timedelta(seconds=_parse_whole_number(text, field))


def _parse_identities(text: str, field: str) -> dict[str, Identity]:
    """Parse `{"target, Bedrock agent or ARN": "workspace/agent" or "workspace/agent/user"}`."""
    identities = {}
    try:
        for caller, memory in parse_json(text).items():
            identities[caller] = Identity.parse(memory, field)
    except (ValueError, AttributeError, TypeError, Rejected) as error:
        raise Rejected(
            field,
            'must be a JSON object such as {"my-target": "workspace/agent"}',
        ) from error
    return identities


def _parse_key_addresses(text: str, field: str) -> dict[str, str]:
    """Parse `{"variable or secret with a key": "address"}`."""
    reason = 'must be a JSON object such as {"ACME_API_KEY": "https://llm.example/v1"}'
    try:
        addresses = parse_json(text)
    except ValueError as error:
        raise Rejected(field, reason) from error
    if not isinstance(addresses, dict):
        raise Rejected(field, reason)
    for address in addresses.values():
        if not isinstance(address, str) or "://" not in address:
            raise Rejected(field, reason)
    return addresses


def _parse_privacy_mode(text: str, field: str) -> Mode:
    # A pseudonym needs a key, which belongs to one workspace.
    if text not in (Mode.OFF, Mode.REDACT, Mode.BLOCK):
        raise Rejected(field, f"{text[:40]!r} is none of off, redact, block")
    return Mode(text)


StoreAddress = Annotated[str, _parse_text(_parse_store)]
PrivacyMode = Annotated[Mode, _parse_text(_parse_privacy_mode)]
Directory = Annotated[Path, _parse_text(_parse_directory)]
WholeNumber = Annotated[int, _parse_text(_parse_whole_number)]
Seconds = Annotated[timedelta, _parse_text(_parse_seconds)]
Identities = Annotated[Mapping[str, Identity], _parse_text(_parse_identities)]
KeyAddresses = Annotated[Mapping[str, str], _parse_text(_parse_key_addresses)]
LlmName = Annotated[ModelName, _parse_text(parse_llm_name)]
EmbedderName = Annotated[ModelName, _parse_text(parse_embedder_name)]
RerankerName = Annotated[ModelName, _parse_text(parse_reranker_name)]


class Settings(BaseSettings):
    """The values of all environment variables; read them with `read_settings`."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        validate_default=True,
        hide_input_in_errors=True,
    )

    store: StoreAddress = Field(
        DEFAULT_STORE,
        validation_alias="VARVE_STORE",
        description="The store's root: `s3://bucket/prefix` or a directory.",
    )
    ingest_queue_url: str | None = Field(
        None,
        validation_alias="VARVE_INGEST_QUEUE_URL",
        description="The SQS queue of conversations to extract from. Without it they "
        "are extracted in the calling process.",
    )
    write_queue_url: str | None = Field(
        None,
        validation_alias="VARVE_WRITE_QUEUE_URL",
        description="The SQS queue of writes to the stores. Without it the calling "
        "process writes.",
    )
    summary_queue_url: str | None = Field(
        None,
        validation_alias="VARVE_SUMMARY_QUEUE_URL",
        description="The SQS queue of periods to summarize. Without it the calling "
        "process summarizes.",
    )
    llm: LlmName = Field(
        ModelName("offline"),
        validation_alias="VARVE_LLM",
        description="The model that extracts facts and writes summaries: `offline`, "
        "`openai:<model>` or `openrouter:<model>`.",
    )
    embedder: EmbedderName = Field(
        ModelName("embedded"),
        validation_alias="VARVE_EMBEDDER",
        description="The embedding model: `embedded`, `openai:<model>:<dimensions>` or "
        "`openrouter:<model>:<dimensions>`.",
    )
    reranker: RerankerName = Field(
        ModelName("off"),
        validation_alias="VARVE_RERANKER",
        description="The model that reranks search results: `off`, `openai:<model>` or "
        "`openrouter:<model>`.",
    )
    reranker_url: str | None = Field(
        None,
        validation_alias="VARVE_RERANKER_URL",
        description="The reranker's address, where it is not `OPENAI_BASE_URL`; it "
        "needs `VARVE_RERANKER_API_KEY`.",
    )
    reranker_key: str | None = Field(
        None,
        repr=False,
        validation_alias="VARVE_RERANKER_API_KEY",
        description="The key for `VARVE_RERANKER_URL`.",
    )
    entities: LlmName = Field(
        ModelName("offline"),
        validation_alias="VARVE_ENTITIES",
        description="The model that names the entities in a context's prompt: "
        "`offline`, `openai:<model>` or `openrouter:<model>`.",
    )
    base_url: str = Field(
        DEFAULT_BASE_URL,
        validation_alias="OPENAI_BASE_URL",
        description="The address of the OpenAI-compatible API of `openai:` models.",
    )
    api_key: str | None = Field(
        None,
        repr=False,
        validation_alias="OPENAI_API_KEY",
        description="The key for `OPENAI_BASE_URL`.",
    )
    api_key_secret: str | None = Field(
        None,
        validation_alias="VARVE_API_KEY_SECRET",
        description="The Secrets Manager secret that holds the key, in place of "
        "`OPENAI_API_KEY`.",
    )
    openrouter_key: str | None = Field(
        None,
        repr=False,
        validation_alias="OPENROUTER_API_KEY",
        description="The key for `openrouter:` models, at https://openrouter.ai.",
    )
    key_addresses: KeyAddresses = Field(
        {},
        validation_alias="VARVE_KEY_ADDRESSES",
        description="The variables with keys that a workspace may name, each with the "
        "only address that its key may go to, as a JSON object such as "
        '`{"ACME_API_KEY": "https://llm.example/v1"}`. A secret that is listed is '
        "bound to its address too.",
    )
    given_default_plan: Plan | None = Field(
        None,
        validation_alias="VARVE_DEFAULT_PLAN",
        description="The retention plan of a workspace that sets none: `none`, `free`, "
        "`starter` or `pro`. Without it `none` for a store in a directory, else `free`.",
    )
    privacy_mode: PrivacyMode = Field(
        Mode.OFF,
        validation_alias="VARVE_PRIVACY_MODE",
        description="What happens to personal data in a workspace that sets no "
        "`privacy.mode`: `off`, `redact` or `block`.",
    )
    identities: Identities = Field(
        {},
        validation_alias="VARVE_IDENTITIES",
        description="The memory of each gateway target, Bedrock agent or, for MCP, role or "
        "user of IAM by its ARN, as a JSON object such as "
        '`{"my-target": "workspace/agent"}`. With `workspace/agent/user` the caller '
        "reaches that user's part of it alone.",
    )
    scoped_role: str | None = Field(
        None,
        validation_alias="VARVE_SCOPED_ROLE",
        description="The ARN of a role to assume for each agent. Its sessions are "
        "tagged with workspace and agent and reach only that agent's objects.",
    )
    cache_directory: Directory = Field(
        default_factory=lambda: Path(gettempdir()),
        validation_alias="VARVE_CACHE_DIR",
        description="The directory for copies of stores on S3 (default: the temporary "
        "directory, `/tmp` on Lambda).",
    )
    cache_megabytes: WholeNumber = Field(
        DEFAULT_CACHE_MEGABYTES,
        validation_alias="VARVE_CACHE_MEGABYTES",
        description="How many megabytes these copies may take, 0 to 1000000.",
    )
    max_staleness: Seconds = Field(
        timedelta(0),
        validation_alias="VARVE_MAX_STALENESS_SECONDS",
        description="How many seconds old a search's view of a memory on S3 may be, 0 "
        "to 1000000; with 0 a search sees the newest commit.",
    )

    @property
    def cache_bytes(self) -> int:
        """How many bytes copies of stores on S3 may take."""
        return self.cache_megabytes * 10**6

    @property
    def default_plan(self) -> Plan:
        """The plan of a workspace that sets none.

        A store in a directory is a person's own memory and keeps everything.
        """
        if self.given_default_plan is not None:
            return self.given_default_plan
        return Plan.NONE if self.s3_location is None else Plan.FREE

    @property
    def s3_location(self) -> tuple[str, str] | None:
        """Bucket and prefix, or None for a directory."""
        if not self.store.startswith("s3://"):
            return None
        bucket, _, prefix = self.store.removeprefix("s3://").partition("/")
        return bucket, prefix.strip("/")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature is pydantic's
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from the constructor alone, never from `os.environ`."""
        return (init_settings,)


def read_settings(
    environment: Mapping[str, str], store: str | None = None
) -> Settings:
    """Return the settings of an environment; an empty variable counts as not set.

    `store` overrides VARVE_STORE. Raises Misconfigured: names the variable and the form
    that it must have.
    """
    given: dict[str, Any] = {}
    for field in Settings.model_fields.values():
        variable = str(field.validation_alias)
        if environment.get(variable):
            given[variable] = environment[variable]
    if store is not None:
        given["VARVE_STORE"] = store
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        fault = rejected(error)
        if store is not None and fault.field == "VARVE_STORE":
            fault = Rejected("store", fault.reason)
        raise Misconfigured(str(fault)) from None
