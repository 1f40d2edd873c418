"""One row of a store's columns, built when it first ranks among the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import moment
from varve.domain.language.tokens import fold
from varve.domain.record import MemoryType, turn_id
from varve.domain.text import estimated_tokens

MAX_BRIEF_TOKENS = 100
"""A longer turn (about sixty words) says more than a fact made from it."""

MessageKey = tuple[str | None, str]
"""The conversation id and the message id of one message."""


@dataclass(frozen=True, eq=False)
class RecordRow:
    """A record without its vector.

    `time` is in microseconds since 1970, `importance` in [0, 1]. `sources` are message
    ids for facts and turns, and record ids for summaries. `shown` caches the values of a
    result that no question changes, by time zone.
    """

    id: str
    content: str
    type: MemoryType
    sources: Sequence[str]
    conversation: str | None
    about: str | None
    user: str | None
    period: str
    time: int
    importance: float
    shown: dict[ZoneInfo, Mapping[str, Any]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def messages(self) -> frozenset[MessageKey]:
        """The messages of a fact or turn; empty for a summary."""
        if self.type is MemoryType.SUMMARY:
            return frozenset()
        return frozenset(
            [(self.conversation, source) for source in self.sources]
        )

    @property
    def day(self) -> str:
        """The day of the event time, in UTC; empty for a summary, which spans days."""
        if self.type is MemoryType.SUMMARY:
            return ""
        return moment(self.time).date().isoformat()

    @cached_property
    def wording(self) -> tuple[str | None, str]:
        """The subject and the folded content.

        Case, accents, repeated white space and final punctuation make no difference.
        """
        folded = " ".join(fold(self.content).split())
        return self.about, folded.rstrip(".!?")

    @cached_property
    def brief(self) -> bool:
        """Whether this turn holds a whole message and is hardly longer than a fact."""
        first_source = next(iter(self.sources), "")
        first = turn_id(self.conversation or "", first_source)
        return self.id == first and self.tokens <= MAX_BRIEF_TOKENS

    @cached_property
    def tokens(self) -> int:
        """The estimated tokens of the content."""
        return estimated_tokens(self.content)
