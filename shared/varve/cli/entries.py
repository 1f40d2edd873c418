"""`KEY=VALUE` options: the entries that metadata must have."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from varve.domain.metadata import Scalar


class AddEntry(argparse.Action):
    """Add one entry to the option's dictionary.

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
        setattr(namespace, self.dest, {**known, name: read_value(text)})


def read_value(text: str) -> Scalar:
    """Return the JSON scalar that a text spells, else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text
