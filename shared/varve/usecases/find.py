"""Find what answers a question in the records of some grains: one ranking over all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from varve.domain.calendar import Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.search.columns import Columns
from varve.domain.search.outline import Outline, moment
from varve.domain.search.query import Filter
from varve.domain.search.question import Question
from varve.domain.search.ranking import Lane, Ranked, rank
from varve.domain.search.routing import Route
from varve.domain.search.signals import EmbeddedQuestion, names_in
from varve.domain.search.strategies import Strategy
from varve.ports.knowledge import Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.ports.search import word_embedding
from varve.usecases.embedders import as_stored

CANDIDATES = 100
"""How many of a store too large to hold are looked at by each of vector and keyword.

docs/benchmarks.md, "Large stores", has what more and fewer find, and what they take.
"""
RERANKED = 30
"""How many of the best a reranker is shown."""


class Stock:
    """The stores of one agent for the length of one search, each read at most once."""

    def __init__(self, scope: Scope, reader: MemoryReader, embedder: Embedder) -> None:
        self._scope, self._reader, self._embedder = scope, reader, embedder
        self._held: dict[Grain, Outline] = {}
        self._embedders: dict[Grain, Embedder] = {}

    def columns(self, grain: Grain) -> Outline:
        """The whole store as Columns, or its outline where it is too large to hold."""
        if grain not in self._held:
            self._held[grain] = as_stored(self._embedder, partial(self._read, grain))
        return self._held[grain]

    def embedder(self, grain: Grain) -> Embedder:
        """The embedder of the model that the store is of."""
        self.columns(grain)
        return self._embedders[grain]

    def _read(self, grain: Grain, embedder: Embedder) -> Outline:
        columns = self._reader.columns(self._scope, grain, model=embedder.model)
        self._embedders[grain] = embedder
        return columns

    def count(self, grain: Grain, where: Filter) -> int:
        """How many records the filter lets through."""
        return self.columns(grain).count(where)

    def holds(self, grains: Iterable[Grain], way: Route) -> bool:
        """Whether anything lies in the time that weighs."""
        where = replace(way.where, since=way.since, until=way.until)
        return any(self.count(grain, where) for grain in grains)

    def newest(self, grains: Iterable[Grain], present: datetime) -> datetime:
        """The newest event time up to the present, which it is where there is none."""
        held = [self.columns(grain) for grain in grains]
        return min(
            max((moment(one.newest) for one in held if len(one)), default=present),
            present,
        )

    def candidates(
        self, grain: Grain, sought: EmbeddedQuestion, where: Filter, reach: int
    ) -> Columns:
        """Of a store too large to hold, what vector and keyword find, with what was said around it.

        Raises EmbeddingMismatch: the store has moved to another model meanwhile.
        """
        model = self.embedder(grain).model
        columns = self._reader.candidates(
            self._scope,
            grain,
            text=sought.question.text,
            vector=sought.focus,
            model=model,
            where=where,
            limit=CANDIDATES,
            reach=reach,
        )
        if len(columns) and columns.vectors.shape[1] != len(sought.focus):
            raise EmbeddingMismatch(
                f"{self._scope}/{grain}", "another one since", model
            )
        return columns


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to find: the question, where, seen from when, by which strategy, and each grain's weight."""

    question: Question
    where: Filter
    present: datetime
    strategy: Strategy
    weights: Mapping[Grain, float]
    limit: int
    explain: bool = False


def find(wanted: Wanted, stock: Stock) -> list[Ranked]:
    """The best records of all grains, best first. Raises Misconfigured, Retryable.

    While stores move to another embedding model, those of each model are ranked for themselves.
    """
    embedders = {
        (embedder := stock.embedder(grain)).model: embedder for grain in wanted.weights
    }
    found: list[Ranked] = []
    for embedder in embedders.values():
        grains = [
            grain
            for grain in wanted.weights
            if stock.embedder(grain).model == embedder.model
        ]
        found += _ranked(wanted, grains, stock, embedder)
    if len(embedders) > 1:
        found.sort(key=lambda item: (-item.score, item.id))
    return found[: wanted.limit]


def _ranked(
    wanted: Wanted, grains: Sequence[Grain], stock: Stock, embedder: Embedder
) -> list[Ranked]:
    held = {grain: stock.columns(grain) for grain in grains}
    sought = _sought(
        wanted.question,
        [one for one in held.values() if isinstance(one, Columns)],
        embedder,
    )
    lanes = []
    for grain in grains:
        columns = held[grain]
        if not isinstance(columns, Columns):
            columns = stock.candidates(
                grain, sought, wanted.where, wanted.strategy.reach
            )
        lanes.append(Lane(grain, columns, wanted.weights[grain]))
    return rank(
        sought,
        lanes,
        wanted.where,
        wanted.present,
        wanted.strategy,
        wanted.limit,
        explain=wanted.explain,
    )


def _sought(
    question: Question, held: Sequence[Columns], embedder: Embedder
) -> EmbeddedQuestion:
    focus = question.focus(names_in(question, held))
    whole, telling = embedder.embed([question.text, focus])
    return EmbeddedQuestion(question, whole, telling, word_embedding(embedder))


def reranked(
    query: str, ranked: Sequence[Ranked], reranker: Reranker
) -> tuple[list[Ranked], bool]:
    """The best in the reranker's order, the rest behind them; False where it failed.

    Then the order is as it was: what the reranker cannot say now, memory answers without it.
    Raises Misconfigured.
    """
    best, rest = list(ranked[:RERANKED]), list(ranked[RERANKED:])
    try:
        scores = reranker.rerank(query, [item.content for item in best])
    except Retryable:
        return list(ranked), False
    order = sorted(range(len(best)), key=lambda i: (-scores[i], i))
    falling = [item.score for item in best]
    moved = [
        replace(best[i], score=score) for i, score in zip(order, falling, strict=True)
    ]
    return moved + rest, True
