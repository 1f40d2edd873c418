"""The output of `search_memory`: results, what was searched, and a hint when there is little to show."""

from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel


class _Answer(BaseModel):
    """Camel case in JSON, snake case in Python; the contract's own names also work as attributes."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True
    )

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON shape."""
        return self.model_dump(mode="json", by_alias=True)

    def __getattr__(self, name: str) -> Any:
        for python_name, field in type(self).model_fields.items():
            if field.alias == name:
                return getattr(self, python_name)
        raise AttributeError(name)


class Why(_Answer):
    """What a score was made of: cosine, BM25, and recency and importance in [0, 1].

    Vector and keyword are None when there was no query to compare with. With `explain` each signal's
    share of the score is among the `parts`, which else are left out.
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
        values: dict[str, Any] = handler(self)
        return (
            values
            if self.parts is not None
            else {k: v for k, v in values.items() if k != "parts"}
        )


class Result(_Answer):
    """One memory. `date` is the local day of its event time; `score` lies in [0, 1]."""

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


class Understood(_Answer):
    """The time words found in the query, and the half-open window and grain they were taken to mean."""

    phrase: str
    since: str | None
    until: str | None
    grain: str


class Searched(_Answer):
    """Where the search looked: grains, the window's limits, and how many records lie in it.

    `reranked` is left out without a reranker, and False where it failed and the order is the search's own.
    """

    grains: list[str]
    since: str | None
    until: str | None
    records: int
    fallback: bool
    tokens: int
    understood: Understood | None = None
    reranked: bool | None = None

    @model_serializer(mode="wrap")
    def _without_missing_reranker(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        return (
            values
            if self.reranked is not None
            else {k: v for k, v in values.items() if k != "reranked"}
        )


class SearchResponse(_Answer):
    """The whole answer; never a bare empty list."""

    results: list[Result]
    searched: Searched
    hint: str | None
