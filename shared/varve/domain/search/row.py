"""One row of some columns as it is chosen and shown, worked out when it first comes among the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.language.tokens import fold
from varve.domain.record import MemoryType, turn_id
from varve.domain.text import estimated_tokens

BRIEF_TOKENS = 100
"""A longer turn, of some sixty words, tells more than a fact that is made of it."""

Messages = frozenset[tuple[str | None, str]]
"""Messages, each with its conversation."""


@dataclass(frozen=True, eq=False)
class Row:
    """A record but for its vector; `time` in microseconds since 1970, `importance` in [0, 1].

    `messages` are those a fact or turn comes from; a summary has none. `sources` are their ids, or the record
    ids that a summary was made from. `shown` keeps what a zone makes of it.
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
    shown: dict[ZoneInfo, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    @cached_property
    def messages(self) -> Messages:
        """The messages that it comes from."""
        said = () if self.type is MemoryType.SUMMARY else self.sources
        return frozenset([(self.conversation, source) for source in said])

    @cached_property
    def wording(self) -> tuple[str | None, str]:
        """Whom it is about and what it says, but for case, accents, white space and the end's punctuation."""
        return self.about, " ".join(fold(self.content).split()).rstrip(".!?")

    @cached_property
    def brief(self) -> bool:
        """Of a turn: whether it is all that was said in a message, and hardly more than a fact tells."""
        first = turn_id(self.conversation or "", next(iter(self.sources), ""))
        return self.id == first and self.tokens <= BRIEF_TOKENS

    @cached_property
    def tokens(self) -> int:
        """What it costs an agent to read it, estimated."""
        return estimated_tokens(self.content)
