"""Pydantic's findings in our words: one field, one reason, no content of the input."""

from collections.abc import Iterable

from pydantic import ValidationError

from varve.domain.errors import Rejected

_REASONS = {
    "missing": "is missing",
    "extra_forbidden": "is not a known name",
    "string_type": "must be a string",
    "string_unicode": "is not valid Unicode text",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
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
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}


def rejected(
    error: ValidationError, prefix: str = "", known: Iterable[str] = ()
) -> Rejected:
    """The first of pydantic's findings as a Rejected with the field's path in JSON terms.

    `known` are the names to tell whoever has used another.
    """
    first = error.errors(include_url=False)[0]
    kind, context = first["type"], first.get("ctx", {})
    if kind == "literal_error" or kind == "enum":
        reason = (
            f"must be one of {context['expected']}, not {str(first['input'])[:40]!r}"
        )
    elif kind == "extra_forbidden" and known:
        reason = f"is not a known name; there are {', '.join(known)}"
    elif kind == "too_long":
        reason = f"holds {context['actual_length']} items; the limit is {context['max_length']}"
    elif kind in {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}:
        reason = first["msg"].replace("Input should be", "must be")
    elif kind == "string_pattern_mismatch":
        reason = f"does not have the form {context['pattern']}"
    elif kind == "string_too_long":
        reason = f"is longer than {context['max_length']:,} characters"
    elif kind == "value_error":
        reason = str(context["error"])
    else:
        reason = _REASONS.get(kind, "is not valid")
    return Rejected((prefix + _path(first["loc"])).rstrip(".") or "value", reason)


def valid_text(text: str, field: str) -> str:
    """The text itself. Raises Rejected: a lone surrogate, which no store can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Rejected(
            field, "holds a lone surrogate, which is not valid Unicode text"
        ) from error
    return text


def _path(location: Iterable[int | str]) -> str:
    """`messages[0].role`; the names pydantic gives to the arms of a union are left out."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step not in _UNION_ARMS and "[" not in step:
            path += f".{step}" if path else step
    return path


_UNION_ARMS = frozenset({"str", "none"})
