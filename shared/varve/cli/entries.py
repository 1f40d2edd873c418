"""Options that may be repeated: entries of metadata, and names."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from varve.domain.metadata import Scalar
from varve.domain.search.query import split_names


class AddEntry(argparse.Action):
    """Add one entry to the option's dictionary; a key that it has is an error.

    A value that is a JSON number, true or false is that value; any other is a text, and a
    text in quotes always is.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        name, equals, text = str(values).partition("=")
        if not equals:
            parser.error(f"{option_string} must be KEY=VALUE")
        known: dict[str, Scalar] = getattr(namespace, self.dest) or {}
        if name in known:
            parser.error(f"{option_string}: {name[:80]!r} is given twice")
        setattr(namespace, self.dest, {**known, name: read_value(text)})


class AddNames(argparse.Action):
    """Add the names of a text with commas between them to the option's list."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse's signature
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002 - argparse's signature
    ) -> None:
        known: list[str] = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*known, *split_names(str(values))])


def read_value(text: str) -> Scalar:
    """Return the JSON scalar that a text spells, else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text
