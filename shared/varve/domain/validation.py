"""Pydantic's errors as Rejected: one field, one reason, no content of the input."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from varve.domain.errors import Rejected

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")

_REASONS = {
    "missing": "is missing",
    "extra_forbidden": "is not a known name",
    "string_type": "must be a string",
    "string_unicode": "is not valid Unicode text",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "sequence_str": "must be an array",
    "dict_type": "must be an object",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "too_short": "must hold at least one item",
    "string_too_short": "must not be empty",
    "timezone_aware": "must have a time zone",
    "datetime_from_date_parsing": "must be a date and time with a time zone",
    "datetime_parsing": "must be a date and time with a time zone",
    "datetime_type": "must be a date and time with a time zone",
    "date_type": "must be a date",
    "callable_type": "must be callable",
    "iterable_type": "must be an array",
    "mapping_type": "must be an object",
    "none_required": "must be left out",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
_CLASSES = {"Sequence": "must be an array", "Mapping": "must be an object"}
_CHOICES = frozenset({"literal_error", "enum"})
_RANGES = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}
)


class StrictCamelModel(BaseModel):
    """An immutable model with camel case names in JSON that refuses unknown names."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
    )


def rejected(
    error: ValidationError, prefix: str = "", known: Iterable[str] = ()
) -> Rejected:
    """Build a Rejected from pydantic's first error, with the field's path in JSON terms.

    `known` are the valid names, which the reason lists for an unknown name.
    """
    first = error.errors(include_url=False)[0]
    field = (prefix + _path(first["loc"])).rstrip(".")
    return Rejected(field or "value", reason_of(first, known))


def reason_of(error: "ErrorDetails", known: Iterable[str] = ()) -> str:
    """Return the reason of one of pydantic's errors, without content of the input.

    `known` are the valid names, which it lists for an unknown name.
    """
    kind = error["type"]
    context = error.get("ctx", {})
    if kind in _CHOICES:
        given = str(error["input"])[:40]
        return f"must be one of {context['expected']}, not {given!r}"
    if kind == "extra_forbidden" and known:
        return f"is not a known name; there are {', '.join(known)}"
    if kind in _RANGES:
        return error["msg"].replace("Input should be", "must be")
    return _reason_of_limit(kind, context)


def _reason_of_limit(kind: str, context: dict[str, Any]) -> str:
    if kind == "too_long":
        return (
            f"holds {context['actual_length']} items; "
            f"the limit is {context['max_length']}"
        )
    if kind == "string_too_long":
        return f"is longer than {context['max_length']:,} characters"
    if kind == "string_pattern_mismatch":
        return f"does not have the form {context['pattern']}"
    if kind == "value_error":
        return str(context["error"])
    if "class" in context:
        name = context["class"]
        return _CLASSES.get(name, f"must be an instance of {name}")
    return _REASONS.get(kind, "is not valid")


def build_validator(
    check: Callable[[str, str], object],
) -> Callable[[str], str]:
    """Return a pydantic validator that keeps each text which `check(text, field)` accepts.

    The Rejected of `check` becomes the ValueError that pydantic expects; pydantic itself
    knows the field's path.
    """

    def keep(text: str) -> str:
        build_converter(check)(text)
        return text

    return keep


def build_converter(parse: Callable[[str, str], T]) -> Callable[[str], T]:
    """Return a pydantic validator that replaces each text by `parse(text, field)`.

    The Rejected of `parse` becomes the ValueError that pydantic expects.
    """

    def convert(text: str) -> T:
        try:
            return parse(text, "")
        except Rejected as error:
            raise ValueError(error.reason) from error

    return convert


def valid_text(text: str, field: str) -> str:
    """Return the text itself.

    Raises Rejected: it is no text, or has a lone surrogate, which no store can hold.
    """
    if not isinstance(text, str):
        raise Rejected(field, "must be a string")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Rejected(
            field, "holds a lone surrogate, which is not valid Unicode text"
        ) from error
    return text


def check_words(**texts: str) -> None:
    """Raise Rejected for the first text that has no words."""
    for name, text in texts.items():
        if not text.strip():
            raise Rejected(name, "must not be empty")


def _path(location: Iterable[int | str]) -> str:
    """Return a path such as `messages[0].role`, without pydantic's names of union arms."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step not in _UNION_ARMS and "[" not in step:
            path += f".{step}" if path else step
    return path


_UNION_ARMS = frozenset({"str", "none"})
