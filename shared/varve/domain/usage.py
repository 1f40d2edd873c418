"""What work uses: requests, bytes, tokens and time, each counted by the name of an item."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from varve.domain.identity import Scope


class Item(StrEnum):
    """What is counted; the items of models are counted for each model."""

    GETS = "gets"
    PUTS = "puts"
    LISTS = "lists"
    DELETES = "deletes"
    BYTES_READ = "bytesRead"
    BYTES_WRITTEN = "bytesWritten"
    SENDS = "sends"
    LAMBDA_MILLISECONDS = "lambdaMilliseconds"
    LAMBDA_MEGABYTE_MILLISECONDS = "lambdaMegabyteMilliseconds"
    MODEL_CALLS = "modelCalls"
    TOKENS_IN = "tokensIn"
    TOKENS_OUT = "tokensOut"
    EMBEDDING_TOKENS = "embeddingTokens"

    def of(self, model: str) -> str:
        """Return the name under which this item of a model is counted."""
        return f"{self}:{model}"


STORE_REQUESTS = (Item.GETS, Item.PUTS, Item.LISTS, Item.DELETES)
MODEL_ITEMS = (
    Item.MODEL_CALLS,
    Item.TOKENS_IN,
    Item.TOKENS_OUT,
    Item.EMBEDDING_TOKENS,
)


@dataclass(frozen=True, slots=True)
class Purpose:
    """For whom work is done, and why.

    Without a scope it is for the store as a whole. `quarter` is the quarter of an hour in
    which it began; None: that of the next fold.
    """

    scope: Scope | None = None
    verb: str = "other"
    quarter: datetime | None = None


def quarter_of(instant: datetime) -> datetime:
    """Return the beginning of the quarter of an hour."""
    begun = instant.minute - instant.minute % 15
    return instant.replace(minute=begun, second=0, microsecond=0)


def split_name(name: str) -> tuple[str, str]:
    """Return the item of a name, and its model or an empty string."""
    item, _, model = name.partition(":")
    return item, model


def total(counts: Mapping[str, int], item: Item) -> int:
    """Return the count of an item over all models."""
    found = 0
    for name, count in counts.items():
        if split_name(name)[0] == item:
            found += count
    return found


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The use of models: answered requests, and tokens as the provider counts them.

    A provider that reports no tokens adds none. Embedded texts count as `prompt_tokens`.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> "ModelUsage":
        """Return the models' share of the counts."""
        read = total(counts, Item.TOKENS_IN) + total(
            counts, Item.EMBEDDING_TOKENS
        )
        calls = total(counts, Item.MODEL_CALLS)
        return cls(calls, read, total(counts, Item.TOKENS_OUT))

    @property
    def tokens(self) -> int:
        """The tokens of prompts and completions."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "ModelUsage") -> "ModelUsage":
        return ModelUsage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def to_dict(self) -> dict[str, int]:
        """Return it as JSON values."""
        return {
            "calls": self.calls,
            "tokensIn": self.prompt_tokens,
            "tokensOut": self.completion_tokens,
        }


def difference(
    now: Mapping[str, int], before: Mapping[str, int]
) -> Counter[str]:
    """Return the counts since `before`, without zeros."""
    return Counter(now) - Counter(before)
