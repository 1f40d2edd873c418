"""The output of `search_memory`: results, where it searched, and a hint."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel


class _ContractModel(BaseModel):
    """Model with camel case in JSON and snake case in Python.

    The camel-case names also work as attributes.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in the contract's JSON shape."""
        return self.model_dump(mode="json", by_alias=True)

    if not TYPE_CHECKING:  # a type checker must see misspelt names

        def __getattr__(self, name: str) -> Any:
            for python_name, field in type(self).model_fields.items():
                if field.alias == name:
                    return getattr(self, python_name)
            raise AttributeError(name)


def _without_missing(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """Remove the fields of these names that are None, and return the values."""
    for name in names:
        if name in values and values[name] is None:
            del values[name]
    return values


class Why(_ContractModel):
    """Inputs of a score: cosine, BM25, and recency and importance in [0, 1].

    `vector` and `keyword` are None if the request had no query. `parts` holds each
    signal's share of the score. It is left out unless the request sets `explain`.
    """

    vector: float | None
    keyword: float | None
    recency: float
    importance: float
    parts: dict[str, float] | None = None

    @model_serializer(mode="wrap")
    def _without_missing_parts(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        return _without_missing(handler(self), "parts")


class Result(_ContractModel):
    """One memory that was found.

    `date` is the local day of the event time. Of a summary, `date` is the first and
    `until` the last day on which its sources fall; of other memories `until` is None.
    `score` lies in [0, 1]. `also_in` are the ids of the records that say the same and were
    folded into this place. `current` is False if the statement is superseded or has ended;
    `superseded_by` is then the id of the record that says what holds, and `odds`, no part
    of the contract, the logit of its being so, infinite if that record names it.
    `confirmed_at` is when it was last said or confirmed; of a summary, noon in UTC of the
    last day of its sources. `answers`, `outdated`, `repeats` and `apart`, no part of the
    contract either, are whether it likely answers the question, the folded sentences of a
    summary that are superseded, the ids of the records that say a sentence, and the
    sentences of conversations without anything on the question. `agent_id` is the agent
    whose memory it is; it is left out unless other agents were searched.
    """

    id: str
    content: str
    grain: str
    period: str
    date: str
    event_time: str
    score: float
    why: Why
    conversation_id: str | None
    source_ids: list[str]
    user_id: str | None
    memory_type: str
    also_in: list[str] = []
    current: bool = True
    confirmed_at: str | None = None
    superseded_by: str | None = None
    until: str | None = None
    agent_id: str | None = None
    odds: float = Field(default=-math.inf, exclude=True)
    messages: frozenset[tuple[str | None, str]] = Field(
        default=frozenset(), exclude=True
    )
    answers: bool = Field(default=False, exclude=True)
    outdated: tuple[str, ...] = Field(default=(), exclude=True)
    repeats: Mapping[str, tuple[str, ...]] = Field(default={}, exclude=True)
    apart: frozenset[str] = Field(default=frozenset(), exclude=True)

    @property
    def record_ids(self) -> tuple[str, ...]:
        """The ids of the records that have their place here: its own and those folded into it."""
        return (self.id, *self.also_in)

    @model_serializer(mode="wrap")
    def _without_missing_agent(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        return _without_missing(handler(self), "agent_id", "agentId")


class Understood(_ContractModel):
    """Time words found in the query, with the half-open window and grain they mean.

    Two are not part of the contract. `is_all`: the query asks for nothing but the time.
    `covering`: the ids of what a context found for the time, inside it or of longer periods.
    """

    phrase: str
    since: str | None
    until: str | None
    grain: str
    is_all: bool = Field(default=False, exclude=True)
    covering: tuple[str, ...] = Field(default=(), exclude=True)


class Searched(_ContractModel):
    """Where the search looked: grains, window limits, and records in that window.

    `reranked` is left out if no reranker is configured. It is False if the reranker
    failed; the results then keep the order of the search. `agents` are the other agents
    whose memory was searched; it is left out if the search asks for none. `weights` are
    the workspace's own weights of signals, for a search with `explain`.
    """

    grains: list[str]
    since: str | None
    until: str | None
    records: int
    fallback: bool
    tokens: int
    understood: Understood | None = None
    reranked: bool | None = None
    agents: list[str] | None = None
    weights: dict[str, float] | None = None

    @model_serializer(mode="wrap")
    def _without_missing_parts(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        return _without_missing(handler(self), "reranked", "agents", "weights")


class SearchResponse(_ContractModel):
    """The whole answer; an answer without results has a hint."""

    results: list[Result]
    searched: Searched
    hint: str | None
