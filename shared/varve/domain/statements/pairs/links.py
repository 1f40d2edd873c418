"""Links of a turn to earlier turns that it supersedes or confirms, as a model judged them.

They lie in the record of the later turn. So they are exported with it and erased with it,
and a time before it does not know of them.
"""

from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum

_SEPARATOR = ":"


class Relation(StrEnum):
    """What a later statement does to an earlier one of its speaker."""

    SUPERSEDES = "supersedes"
    CONFIRMS = "confirms"
    ADDS = "adds"
    UNRELATED = "unrelated"


def build_link(relation: Relation, id_: str) -> str:
    """Return a link to the turn with an id, as `supersedes:turn-…`."""
    return f"{relation}{_SEPARATOR}{id_}"


def parse_links(text: str) -> Iterator[tuple[Relation, str]]:
    """Yield the relations and ids of the links in a text; skip other values."""
    for link in text.split():
        name, separator, id_ = link.partition(_SEPARATOR)
        with suppress(ValueError):
            if separator:
                yield Relation(name), id_
