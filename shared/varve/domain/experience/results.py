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
        return ResearchResult(given, warnings=("the result is a text, not a mapping",))
    if not isinstance(given, Mapping):
        return ResearchResult(as_words(given), warnings=("the result is no mapping",))
    answer = given.get("answer")
    if answer is None or not str(answer).strip():
        return ResearchResult(as_words(given), warnings=("the result has no `answer`",))
    numbers: dict[str, float] = {}
    lines = [answer if isinstance(answer, str) else as_words(answer)]
    warnings: list[str] = []
    for name, value in given.items():
        share = read_share(value) if name in ("probability", "confidence") else None
        if share is not None:
            numbers[name] = share
        elif value is not None and name not in ("answer", "citations"):
            lines.append(f"{name}: {as_words(value)}")
            warnings.append(_explain(str(name)))
    return ResearchResult(
        text="\n".join(lines),
        probability=numbers.get("probability"),
        confidence=numbers.get("confidence"),
        citations=read_citations(given.get("citations")),
        warnings=tuple(warnings),
    )


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
