"""Varve's own conversations: a JSON object, a JSON array or JSON Lines."""

from collections.abc import Iterator, Mapping
from typing import Any

from varve.importers.items import (
    Faulty,
    FoundConversation,
    ImportOptions,
    Item,
    Source,
)
from varve.importers.streams import read_places

FORMAT = "varve"


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an element is a conversation of the contract."""
    return "conversationId" in first


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield the conversations as they are; `user` fills in a missing user id."""
    for place, value in read_places(source):
        if isinstance(value, Faulty):
            yield value
            continue
        if (
            options.user
            and isinstance(value, Mapping)
            and "userId" not in value
        ):
            value = {**value, "userId": options.user}
        yield FoundConversation(place, value)
