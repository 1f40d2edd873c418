"""Metadata: a small flat JSON object that a caller attaches to messages, to filter by."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator

MAX_ENTRIES = 16
MAX_VALUE_CHARACTERS = 256

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")

Scalar: TypeAlias = str | int | float | bool
Values: TypeAlias = Mapping[str, Scalar]


def _check(value: object) -> object:
    """Return a caller's metadata. Raises ValueError: names the fault."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ValueError("must be an object")
    if len(value) > MAX_ENTRIES:
        raise ValueError(
            f"holds {len(value)} entries; the limit is {MAX_ENTRIES}"
        )
    for name, one in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                "has a name that is not 1 to 64 letters, digits, '_', '.' or '-', "
                "starting with a letter"
            )
        _check_value(name, one)
    return dict(value)


def _check_value(name: str, value: object) -> None:
    if isinstance(value, str) and len(value) > MAX_VALUE_CHARACTERS:
        raise ValueError(
            f"{name} is longer than {MAX_VALUE_CHARACTERS} characters"
        )
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{name} is not a finite number")
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"{name} must be a text, a number, true or false")


def _parse_wanted(value: object) -> object:
    """Return the values to filter by; some callers send the object as JSON text."""
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(
                "must be an object, or one as JSON text"
            ) from error
    return _check(value)


Metadata = Annotated[dict[str, Any] | None, BeforeValidator(_check)]
"""The metadata of a message or a conversation."""
Where = Annotated[dict[str, Any], BeforeValidator(_parse_wanted)]
"""The names and values that a record's metadata must have."""


def encode_metadata(values: Values) -> str:
    """Return metadata as JSON text, the same for equal values; empty without any."""
    if not values:
        return ""
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def decode_metadata(text: str) -> dict[str, Scalar]:
    """Return the metadata of JSON text. Raises ValueError, TypeError: it is none."""
    return dict(_check(json.loads(text)) or {}) if text else {}  # type: ignore[call-overload]


def share_metadata(every: Sequence[Values]) -> dict[str, Scalar]:
    """Return the entries that all have: those of a fact that cites several messages."""
    first, *others = every
    shared: dict[str, Scalar] = {}
    for name, value in first.items():
        if all(_has(other, name, value) for other in others):
            shared[name] = value
    return shared


def find_matching(details: Mapping[str, str], where: Values) -> frozenset[str]:
    """Return the keys of the JSON texts that have all the wanted entries."""
    passing = {
        text for text in set(details.values()) if _passes(text, where.items())
    }
    return frozenset(id_ for id_, text in details.items() if text in passing)


def _passes(text: str, wanted: Iterable[tuple[str, Scalar]]) -> bool:
    values = decode_metadata(text)
    return all(_has(values, name, value) for name, value in wanted)


def _has(values: Values, name: str, value: Scalar) -> bool:
    """Return whether an entry is there; true is not 1, though Python calls them equal."""
    found = values.get(name)
    return found == value and isinstance(found, bool) == isinstance(
        value, bool
    )
