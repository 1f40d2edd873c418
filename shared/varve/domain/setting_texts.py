"""The texts of a workspace's settings: what each may be, checked as it is read."""

import re
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator

from varve.domain.errors import Rejected
from varve.domain.identity import path_id
from varve.domain.model_names import (
    parse_embedder_name,
    parse_llm_name,
    parse_reranker_name,
)
from varve.domain.prices import parse_prices
from varve.domain.retention import Limit
from varve.domain.search.query import MAX_AGENTS
from varve.domain.search.strategies import parse_weights
from varve.domain.validation import build_converter, build_validator

_DOLLARS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})? USD")

DEFAULT_EMBEDDER = "default"
"""The name in `moving_from` of the embedder that VARVE_EMBEDDER names."""


def _check_zone(name: str, field: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Rejected(
            field,
            f"{name[:40]!r} is not an IANA time zone, such as Europe/Lisbon",
        ) from error


def _check_embedders(names: str, field: str) -> None:
    for name in names.split(","):
        if name != DEFAULT_EMBEDDER:
            parse_embedder_name(name, field)


def _normalize_agents(names: str, field: str) -> str:
    agents = dict.fromkeys(
        path_id(name.strip(), field) for name in names.split(",")
    )
    if len(agents) > MAX_AGENTS:
        raise Rejected(
            field, f"names {len(agents)} agents; the limit is {MAX_AGENTS}"
        )
    return ",".join(agents)


def _normalize_limit(text: str, field: str) -> str:
    try:
        return str(Limit.parse(text))
    except Rejected as error:
        raise Rejected(field, error.reason) from error


def _check_dollars(amount: str, field: str) -> None:
    if not _DOLLARS.fullmatch(amount):
        reason = (
            f"{amount[:40]!r} is not an amount such as '20 USD' or '0.50 USD'"
        )
        raise Rejected(field, reason)


def _normalize_weights(text: str, field: str) -> str:
    weights = parse_weights(text, field)
    return ",".join(f"{name}={weights[name]:g}" for name in sorted(weights))


ZoneText = Annotated[str, AfterValidator(build_validator(_check_zone))]
LlmText = Annotated[str, AfterValidator(build_validator(parse_llm_name))]
EmbedderText = Annotated[
    str, AfterValidator(build_validator(parse_embedder_name))
]
EmbeddersText = Annotated[
    str, AfterValidator(build_validator(_check_embedders))
]
RerankerText = Annotated[
    str, AfterValidator(build_validator(parse_reranker_name))
]
PricesText = Annotated[str, AfterValidator(build_validator(parse_prices))]
AgentsText = Annotated[str, AfterValidator(build_converter(_normalize_agents))]
WeightsText = Annotated[
    str, AfterValidator(build_converter(_normalize_weights))
]
DollarsText = Annotated[str, AfterValidator(build_validator(_check_dollars))]
LimitText = Annotated[str, AfterValidator(build_converter(_normalize_limit))]
