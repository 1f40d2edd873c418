"""Arguments of other types than a method declares, refused before it does anything."""

import inspect
from collections.abc import Callable
from datetime import date
from functools import cache, partial, wraps
from typing import Any, TypeVar

from pydantic import (
    ConfigDict,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import SchemaValidator, core_schema

from varve.domain.errors import Rejected
from varve.domain.validation import reason_of, valid_text

Owner = TypeVar("Owner", bound=type)
Method = Callable[..., Any]

_LARGEST = 2**31 - 1
_YEARS = range(2, 9999)  # a day more or less is a date in any zone
# A program that gives an empty id has lost its user's, and would read every user's memory.
_PINS = frozenset({"user", "user_id", "conversation", "conversation_id"})
_ARBITRARY = ConfigDict(arbitrary_types_allowed=True)


def checks_arguments(owner: Owner) -> Owner:
    """Make each public method of a class refuse arguments that do not have their types.

    Its Rejected names the argument. The annotations of the method are the types. Numbers
    over 2**31 - 1, lone surrogates and years outside 2 to 9998 are refused as well.
    """
    for name, member in [*vars(owner).items()]:
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod):
            setattr(owner, name, classmethod(_checked(member.__func__)))
        elif inspect.isfunction(member):
            setattr(owner, name, _checked(member))
    return owner


def _checked(method: Method) -> Method:
    parameters = inspect.signature(method).parameters
    types = {
        name: one.annotation
        for name, one in parameters.items()
        if one.annotation is not one.empty
        and not isinstance(one.annotation, str)
    }

    @wraps(method)
    def call(*given: Any, **named: Any) -> Any:
        for name, value in (
            *zip(parameters, given, strict=False),
            *named.items(),
        ):
            if name in types:
                _check(name, value, types[name])
        return method(*given, **named)

    return call


def _check(name: str, value: object, declared: Any) -> None:
    """Raise Rejected: a value does not have the type that is declared."""
    try:
        _validator(declared)(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f"[{n}]" for n in first["loc"] if isinstance(n, int))
        raise Rejected(name + place, reason_of(first)) from error
    _check_bounds(name, value)


def _check_bounds(name: str, value: object) -> None:
    """Raise Rejected: no store can hold a text, or no computation a number or an instant."""
    if isinstance(value, str):
        valid_text(value, name)
        if name in _PINS and not value:
            raise Rejected(name, "is empty; leave it out to pin nothing")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise Rejected(name, f"must lie in {-_LARGEST:,} to {_LARGEST:,}")
    if isinstance(value, date) and value.year not in _YEARS:
        raise Rejected(name, "must lie in the years 2 to 9998")


@cache
def _validator(declared: Any) -> Callable[[object], object]:
    try:
        adapter = TypeAdapter(declared, config=_ARBITRARY)
    except PydanticUserError:
        # A model or dataclass has a configuration of its own.
        schema = core_schema.is_instance_schema(declared)
        return SchemaValidator(schema).validate_python
    return partial(adapter.validate_python, strict=True)
