"""Model names as settings spell them, `openai:gpt-4o-mini`, and their only parsers.

The environment (`VARVE_LLM` …) and a workspace's configuration (`models.llm` …) use the
same parsers, so that a name is either refused in both or usable in both.
"""

from dataclasses import dataclass

from varve.domain.errors import Rejected

OPENAI = "openai"
OPENROUTER = "openrouter"
PROVIDERS = (OPENAI, OPENROUTER)
"""Providers of models behind an OpenAI-compatible API, each with a key of its own."""

MAX_DIMENSIONS = 8192


@dataclass(frozen=True, slots=True)
class ModelName:
    """A parsed model name: the provider, its model, and the dimensions of an embedder."""

    provider: str
    name: str = ""
    dimensions: int = 0


def parse_llm_name(text: str, field: str) -> ModelName:
    """Return the chat model named by `offline` or `<provider>:<model>`.

    Raises Rejected: names `field`, for any other text.
    """
    return _parse_name(text, field, without_model="offline")


def parse_reranker_name(text: str, field: str) -> ModelName:
    """Return the reranker named by `off` or `<provider>:<model>`.

    Raises Rejected: names `field`, for any other text.
    """
    return _parse_name(text, field, without_model="off")


def parse_embedder_name(text: str, field: str) -> ModelName:
    """Return the embedder named by `embedded` or `<provider>:<model>:<dimensions>`.

    Raises Rejected: names `field`, for any other text and for dimensions outside 1 to
    8192.
    """
    if text == "embedded":
        return ModelName("embedded")
    provider, _, rest = text.partition(":")
    name, _, digits = rest.rpartition(":")
    dimensions = parse_dimensions(digits)
    if provider not in PROVIDERS or not name or dimensions is None:
        raise Rejected(
            field,
            f"{text[:60]!r} is not 'embedded', 'openai:<model>:<dimensions>' or "
            f"'openrouter:<model>:<dimensions>' with 1 to {MAX_DIMENSIONS} dimensions",
        )
    return ModelName(provider, name, dimensions)


def parse_dimensions(digits: str) -> int | None:
    """Return the number of dimensions, 1 to 8192; None for any other text."""
    if not digits.isascii() or not digits.isdecimal():
        return None
    dimensions = int(digits[:10])
    return dimensions if 1 <= dimensions <= MAX_DIMENSIONS else None


def _parse_name(text: str, field: str, without_model: str) -> ModelName:
    if text == without_model:
        return ModelName(without_model)
    provider, _, name = text.partition(":")
    if provider not in PROVIDERS or not name:
        raise Rejected(
            field,
            f"{text[:60]!r} is not {without_model!r}, 'openai:<model>' or "
            "'openrouter:<model>'",
        )
    return ModelName(provider, name)
