"""The result of a research step: read whatever shape a caller's function returns."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FIELDS = ("answer", "probability", "confidence", "citations")
Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class ResearchResult:
    """A result as a prior answer keeps it, with a warning for each irregularity.

    The words of irregular fields are part of `text`, so that nothing is lost.
    """

    text: str
    probability: float | None = None
    confidence: float | None = None
    citations: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_result(given: object) -> ResearchResult:
    """Return the answer, numbers and citations of a result of any shape."""
    if isinstance(given, str) and given.strip():
        return ResearchResult(
            given, warnings=("the result is a text, not a mapping",)
        )
    if not isinstance(given, Mapping):
        return ResearchResult(
            as_words(given), warnings=("the result is no mapping",)
        )
    answer = given.get("answer")
    if answer is None or not str(answer).strip():
        return ResearchResult(
            as_words(given), warnings=("the result has no `answer`",)
        )
    irregular = [name for name in given if not _is_regular(name, given[name])]
    lines = [f"{name}: {as_words(given[name])}" for name in irregular]
    return ResearchResult(
        text="\n".join([as_words(answer), *lines]),
        probability=read_share(given.get("probability")),
        confidence=read_share(given.get("confidence")),
        citations=read_citations(given.get("citations")),
        warnings=tuple(_explain(str(name)) for name in irregular),
    )


def _is_regular(name: object, value: object) -> bool:
    """Return whether a field of a result has its own field in an answer."""
    if value is None or name in ("answer", "citations"):
        return True
    return name in FIELDS and read_share(value) is not None


def _explain(name: str) -> str:
    if name in FIELDS:
        return f"{name} is no number from 0 to 1; it is kept as text"
    return f"{name} is no field of an answer; it is kept as text"


def read_share(value: object) -> float | None:
    """Return a number from 0 to 1, or None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def read_citations(value: object) -> tuple[str, ...]:
    """Return citations; one text is one citation."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (as_words(value),)
    return tuple(as_words(one) for one in value)


def as_words(value: object) -> str:
    """Return a value as text: a text as it is, anything else as JSON or by `str`."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Scalar]:
    """Return nested values by their dotted names, such as `rates.us`.

    A value that is no text, number, truth value or None becomes its text; an empty
    collection becomes None.
    """
    flat: dict[str, Scalar] = {}
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{path}.")
        elif value is None or isinstance(value, str | int | float | bool):
            flat[path] = value
        else:
            flat[path] = as_words(value) if value else None
    return flat
