"""JSON Schemas of tools, read from the models that validate their arguments."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_PLAIN = ("type", "description", "items", "properties", "required")
"""The keywords that an AgentCore Gateway knows."""
_RICH = (*_PLAIN, "enum", "minimum", "maximum", "additionalProperties")
_WORDS = frozenset({"title", "description"})


def describe_arguments(
    model: type[BaseModel], *, rich: bool = False
) -> Schema:
    """Return the schema of a tool's arguments that have a description.

    `rich` adds the ranges and the choices, which an AgentCore Gateway does not know.
    """
    schema = model.model_json_schema(by_alias=True)
    keywords = _RICH if rich else _PLAIN
    described = _simplify(schema, schema.get("$defs", {}), keywords)
    described.pop("description", None)
    return described


def describe_answer(model: type[BaseModel]) -> Schema:
    """Return the schema of a tool's answer."""
    schema: Schema = _without_words(model.model_json_schema(by_alias=True))
    return schema


def _simplify(
    schema: Mapping[str, Any],
    defs: Mapping[str, Any],
    keywords: tuple[str, ...],
) -> Schema:
    """Return a schema without references, unions with null, and other keywords."""
    whole = _resolve(schema, defs)
    simple = {name: whole[name] for name in keywords if name in whole}
    if "items" in simple:
        simple["items"] = _simplify(simple["items"], defs, keywords)
    if "properties" in simple:
        simple["properties"] = {
            name: _simplify(one, defs, keywords)
            for name, one in simple["properties"].items()
            if "description" in one
        }
        simple.setdefault("required", [])
    return simple


def _resolve(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    """Return the schema that a reference or an optional value means."""
    if "$ref" in schema:
        named = defs[schema["$ref"].rpartition("/")[2]]
        without = {
            name: one for name, one in named.items() if name != "description"
        }
        return {**without, **schema}
    if "anyOf" in schema:
        first = next(
            one for one in schema["anyOf"] if one.get("type") != "null"
        )
        return {**_resolve(first, defs), **schema}
    return dict(schema)


def _without_words(schema: Any) -> Any:
    """Return a schema without titles and descriptions; a program needs none."""
    if isinstance(schema, list):
        return [_without_words(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: Schema = {}
    for name, value in schema.items():
        if name in ("properties", "$defs"):
            kept[name] = {
                key: _without_words(one) for key, one in value.items()
            }
        elif name not in _WORDS:
            kept[name] = _without_words(value)
    return kept
