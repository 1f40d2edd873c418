"""Recall as a list of entries, for frameworks that write the block themselves."""

import re
from dataclasses import dataclass

from varve.api.memory import Memory
from varve.domain.context import MAX_PROMPT_CHARACTERS, ContextBlock

_ENTRY = re.compile(r"- \[(?P<date>\S+) (?P<id>\S+)\] (?P<text>.*)")
"""One line of a block, as `varve.domain.block.Entry` writes it."""


@dataclass(frozen=True, slots=True)
class RecalledEntry:
    """One entry of a block: the source's id, its date or period, and its words."""

    id: str
    date: str
    text: str


def recall_entries(
    memory: Memory, query: str, user_id: str | None, most: int
) -> list[RecalledEntry]:
    """Return at most `most` entries that bear on a query; the user's profile comes last.

    A search answers with the nearest records; these frameworks inject every answer, so
    they get the context's entries, which have a floor of relevance.
    Raises Rejected, Retryable, Misconfigured.
    """
    block = memory.context(query[-MAX_PROMPT_CHARACTERS:], user_id=user_id)
    if block.empty:
        return []
    return _read_entries(block)[:most]


def _read_entries(block: ContextBlock) -> list[RecalledEntry]:
    called_for = _parse_lines(block.tail)
    profile = _parse_lines(block.head)
    return called_for + profile


def _parse_lines(text: str) -> list[RecalledEntry]:
    matches = map(_ENTRY.fullmatch, text.splitlines())
    return [RecalledEntry(x["id"], x["date"], x["text"]) for x in matches if x]
