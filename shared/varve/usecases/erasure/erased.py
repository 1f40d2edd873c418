"""The data that an erasure has found and deleted, by sort."""

from dataclasses import dataclass, field

SORTS = (
    "facts", "turns", "summaries", "tripleOperations", "messages", "conversations", "payloads",
    "profileEntries", "experience", "notes", "searches",
)  # fmt: skip
"""Sorts of erased data, as outcome and receipt count them."""

Found = dict[str, set[str]]
"""The ids and keys that a pass found, by sort; kept in memory for the run alone."""


@dataclass(slots=True)
class Erased:
    """The erased data by sort; `complete` if the last pass found nothing."""

    found: Found = field(default_factory=dict)
    passes: int = 0
    complete: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many were erased of each sort."""
        return {sort: len(self.found.get(sort, ())) for sort in SORTS}
