"""Every environment variable, read and checked once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import gettempdir

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.identity import Scope
from varve.domain.retention import Plan

DEFAULT_STORE = "./memory"
DEFAULT_CACHE_MEGABYTES = 360
MOST = 1_000_000
DEFAULT_BASE_URL = "https://openrouter.ai/api/v1"


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model as the settings spell it: the provider, the name, and dimensions for embedders."""

    provider: str
    name: str = ""
    dimensions: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Plain values; what they mean is the composition root's business."""

    store: str = DEFAULT_STORE
    ingest_queue_url: str | None = None
    write_queue_url: str | None = None
    summary_queue_url: str | None = None
    llm: ModelName = ModelName("offline")
    embedder: ModelName = ModelName("embedded")
    reranker: ModelName = ModelName("off")
    reranker_url: str | None = None
    reranker_key: str | None = None
    entities: ModelName = ModelName("offline")
    base_url: str = DEFAULT_BASE_URL
    api_key: str | None = None
    api_key_secret: str | None = None
    default_plan: Plan = Plan.FREE
    identities: Mapping[str, Scope] | None = None
    scoped_role: str | None = None
    cache_directory: Path = field(default_factory=lambda: Path(gettempdir()))
    cache_bytes: int = DEFAULT_CACHE_MEGABYTES * 10**6
    max_staleness: timedelta = timedelta(0)

    @property
    def s3_location(self) -> tuple[str, str] | None:
        """Bucket and prefix, or None for a directory."""
        if not self.store.startswith("s3://"):
            return None
        bucket, _, prefix = self.store.removeprefix("s3://").partition("/")
        return bucket, prefix.strip("/")


def read_settings(environment: Mapping[str, str], store: str | None = None) -> Settings:
    """The settings of an environment; `store` overrides VARVE_STORE.

    Raises Misconfigured: names the variable and what it should look like.
    """
    return Settings(
        store=_store(store or environment.get("VARVE_STORE") or DEFAULT_STORE),
        ingest_queue_url=environment.get("VARVE_INGEST_QUEUE_URL") or None,
        write_queue_url=environment.get("VARVE_WRITE_QUEUE_URL") or None,
        summary_queue_url=environment.get("VARVE_SUMMARY_QUEUE_URL") or None,
        llm=llm_name(environment.get("VARVE_LLM") or "offline", "VARVE_LLM"),
        embedder=embedder_name(
            environment.get("VARVE_EMBEDDER") or "embedded", "VARVE_EMBEDDER"
        ),
        reranker=reranker_name(
            environment.get("VARVE_RERANKER") or "off", "VARVE_RERANKER"
        ),
        reranker_url=environment.get("VARVE_RERANKER_URL") or None,
        reranker_key=environment.get("VARVE_RERANKER_API_KEY") or None,
        entities=llm_name(
            environment.get("VARVE_ENTITIES") or "offline", "VARVE_ENTITIES"
        ),
        base_url=environment.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL,
        api_key=environment.get("OPENAI_API_KEY") or None,
        api_key_secret=environment.get("VARVE_API_KEY_SECRET") or None,
        default_plan=_plan(environment.get("VARVE_DEFAULT_PLAN") or "free"),
        identities=_identities(environment.get("VARVE_IDENTITIES") or "{}"),
        scoped_role=environment.get("VARVE_SCOPED_ROLE") or None,
        cache_directory=Path(
            environment.get("VARVE_CACHE_DIR") or gettempdir()
        ).expanduser(),
        cache_bytes=_whole(
            environment, "VARVE_CACHE_MEGABYTES", DEFAULT_CACHE_MEGABYTES
        )
        * 10**6,
        max_staleness=timedelta(
            seconds=_whole(environment, "VARVE_MAX_STALENESS_SECONDS", 0)
        ),
    )


def llm_name(text: str, setting: str) -> ModelName:
    """`offline` or `openai:<model>`. Raises Misconfigured."""
    provider, _, name = text.partition(":")
    if text == "offline" or (provider == "openai" and name):
        return ModelName(provider, name)
    raise Misconfigured(
        f"{setting}: {text!r} is neither 'offline' nor 'openai:<model>'"
    )


def embedder_name(text: str, setting: str) -> ModelName:
    """`embedded` or `openai:<model>:<dimensions>`. Raises Misconfigured."""
    if text == "embedded":
        return ModelName("embedded")
    provider, _, rest = text.partition(":")
    name, _, dimensions = rest.rpartition(":")
    if (
        provider == "openai"
        and name
        and dimensions.isdecimal()
        and 1 <= int(dimensions) <= 8192
    ):
        return ModelName(provider, name, int(dimensions))
    raise Misconfigured(
        f"{setting}: {text!r} is neither 'embedded' nor 'openai:<model>:<dimensions>'"
    )


def reranker_name(text: str, setting: str) -> ModelName:
    """`off` or `openai:<model>`. Raises Misconfigured."""
    provider, _, name = text.partition(":")
    if text == "off" or (provider == "openai" and name):
        return ModelName(provider, name)
    raise Misconfigured(f"{setting}: {text!r} is neither 'off' nor 'openai:<model>'")


def _store(text: str) -> str:
    if text.startswith("s3://") and not text.removeprefix("s3://").partition("/")[0]:
        raise Misconfigured(f"VARVE_STORE: {text!r} names no bucket")
    if "://" in text and not text.startswith("s3://"):
        raise Misconfigured(
            f"VARVE_STORE: {text!r} is neither a directory nor s3://bucket/prefix"
        )
    try:
        return text if text.startswith("s3://") else str(Path(text).expanduser())
    except RuntimeError as error:  # "~nobody": a user that this machine does not have
        raise Misconfigured(f"VARVE_STORE: {text!r} names no home directory") from error


def _whole(environment: Mapping[str, str], variable: str, default: int) -> int:
    text = environment.get(variable) or str(default)
    if not text.isascii() or not text.isdecimal() or int(text) > MOST:
        raise Misconfigured(
            f"{variable}: {text[:40]!r} is not a whole number from 0 to {MOST}"
        )
    return int(text)


def _plan(text: str) -> Plan:
    if text not in set(Plan):
        raise Misconfigured(
            f"VARVE_DEFAULT_PLAN: {text!r} is not one of {', '.join(Plan)}"
        )
    return Plan(text)


def _identities(text: str) -> dict[str, Scope]:
    """`{"gateway target or Bedrock agent": "workspace/agent"}`: whose memory a fixed caller sees."""
    try:
        pairs = {name: value.split("/") for name, value in json.loads(text).items()}
        return {
            name: Scope(workspace, agent) for name, (workspace, agent) in pairs.items()
        }
    except (ValueError, AttributeError, TypeError, Rejected) as error:
        raise Misconfigured(
            'VARVE_IDENTITIES: must be a JSON object such as {"my-target": "workspace/agent"}'
        ) from error
