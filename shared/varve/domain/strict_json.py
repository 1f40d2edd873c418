"""JSON as the contracts have it: no key twice in one object, no NaN, no Infinity."""

import json
from typing import Any


class NotJson(ValueError):
    """The text is JSON to Python's parser, but not to the contracts."""


def build_decoder() -> json.JSONDecoder:
    """Return a parser that refuses what `parse_json` refuses."""
    return json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_refuse_constant
    )


def parse_json(text: str | bytes) -> Any:
    """Return the JSON value.

    Parsers differ in which of two equal keys they keep, so that a text with both could
    mean one thing to a filter and another to a store.
    Raises NotJson: a key appears twice in one object, or NaN or Infinity stands for a
    number; ValueError: not JSON; RecursionError: nested too deeply.
    """
    return json.loads(
        text, object_pairs_hook=_object, parse_constant=_refuse_constant
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise NotJson(f"the key {name[:40]!r} appears twice in one object")
        seen.add(name)
    return value


def _refuse_constant(name: str) -> None:
    raise NotJson(f"{name} is not a number")
