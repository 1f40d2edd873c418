"""Find the records that answer a question, in one ranking over several grains."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from varve.domain.calendar import Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.search.columns import Columns
from varve.domain.search.outline import Outline, moment
from varve.domain.search.query import Filter
from varve.domain.search.question import Question
from varve.domain.search.ranking import Lane, Ranked, rank
from varve.domain.search.routing import Route
from varve.domain.search.signals import EmbeddedQuestion, names_in
from varve.domain.search.strategies import Strategy
from varve.domain.statements.answering import settle
from varve.ports.knowledge import Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.ports.search import word_embedding
from varve.usecases.embedders import as_stored

CANDIDATES = 100
"""Records that vector and keyword search each return from a store too large to load.

docs/benchmarks.md, "Large stores", has the recall and cost of more and fewer.
"""
RERANKED = 30
"""How many of the best records a reranker reads."""


class Stock:
    """The stores of one agent during one search, each read at most once."""

    def __init__(self, scope: Scope, reader: MemoryReader, embedder: Embedder) -> None:
        self._scope = scope
        self._reader = reader
        self._embedder = embedder
        self._held: dict[Grain, Outline] = {}
        self._embedders: dict[Grain, Embedder] = {}

    def columns(self, grain: Grain) -> Outline:
        """Return the whole store as Columns, or its outline if it is too large to load."""
        if grain not in self._held:
            self._held[grain] = as_stored(self._embedder, partial(self._read, grain))
        return self._held[grain]

    def embedder(self, grain: Grain) -> Embedder:
        """Return the embedder of the store's model."""
        self.columns(grain)
        return self._embedders[grain]

    def _read(self, grain: Grain, embedder: Embedder) -> Outline:
        columns = self._reader.columns(self._scope, grain, model=embedder.model)
        self._embedders[grain] = embedder
        return columns

    def count(self, grain: Grain, where: Filter) -> int:
        """Count the records that pass the filter."""
        return self.columns(grain).count(where)

    def holds(self, grains: Iterable[Grain], way: Route) -> bool:
        """Return whether any record lies in the time that the route names."""
        where = replace(way.where, since=way.since, until=way.until)
        return any(self.count(grain, where) for grain in grains)

    def newest(self, grains: Iterable[Grain], present: datetime) -> datetime:
        """Return the newest event time, at most `present`; without records `present`."""
        held = [self.columns(grain) for grain in grains]
        newest = [moment(outline.newest) for outline in held if len(outline)]
        return min(max(newest, default=present), present)

    def candidates(
        self, grain: Grain, sought: EmbeddedQuestion, where: Filter, reach: int
    ) -> Columns:
        """Return what vector and keyword search find in a store too large to load.

        Records up to `reach` positions away come along. Raises EmbeddingMismatch: the
        store moved to another model since it was opened.
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
    """What to find: a question, a filter, the time it is asked, and how to rank.

    `weights` has each grain to search, with its weight. `about_present`: superseded
    statements stand behind.
    """

    question: Question
    where: Filter
    present: datetime
    strategy: Strategy
    weights: Mapping[Grain, float]
    limit: int
    explain: bool = False
    about_present: bool = False


def find(wanted: Wanted, stock: Stock) -> list[Ranked]:
    """Return the best records of all grains, best first. Raises Misconfigured, Retryable.

    While stores move to another embedding model, each model's stores are ranked apart.
    """
    embedders: dict[str, Embedder] = {}
    grains_of: dict[str, list[Grain]] = {}
    for grain in wanted.weights:
        embedder = stock.embedder(grain)
        embedders[embedder.model] = embedder
        grains_of.setdefault(embedder.model, []).append(grain)
    found: list[Ranked] = []
    for model, grains in grains_of.items():
        found += _rank(wanted, grains, stock, embedders[model])
    if len(embedders) > 1:
        found.sort(key=lambda item: (-item.score, item.id))
    return found[: wanted.limit]


def _rank(
    wanted: Wanted, grains: Sequence[Grain], stock: Stock, embedder: Embedder
) -> list[Ranked]:
    held = {grain: stock.columns(grain) for grain in grains}
    whole_stores = [one for one in held.values() if isinstance(one, Columns)]
    sought = _embed_question(wanted.question, whole_stores, embedder)
    lanes = []
    for grain in grains:
        columns = held[grain]
        if not isinstance(columns, Columns):
            columns = stock.candidates(
                grain, sought, wanted.where, wanted.strategy.reach
            )
        lanes.append(Lane(grain, columns, wanted.weights[grain]))
    ranked = rank(
        sought,
        lanes,
        wanted.where,
        wanted.present,
        wanted.strategy,
        wanted.limit,
        explain=wanted.explain,
    )
    return _settle(ranked, wanted, sought)


def _settle(
    ranked: Sequence[Ranked], wanted: Wanted, sought: EmbeddedQuestion
) -> list[Ranked]:
    """Give the working grain's rows their standings; summaries have none."""
    told = [item for item in ranked if item.grain is Grain.WORKING]
    columns = told[0].columns if told else None
    if columns is None:
        return list(ranked)
    visible = Filter(until=wanted.where.until, user_id=wanted.where.user_id)
    settled = settle(
        told,
        columns,
        visible,
        wanted.question.text,
        sought.whole,
        about_present=wanted.about_present,
    )
    if len(settled) > len(told):
        # A statement that supersedes a result need not pass the filter.
        admitted = columns.admitted(wanted.where)
        settled = [item for item in settled if admitted[item.number]]
    others = [item for item in ranked if item.grain is not Grain.WORKING]
    return sorted([*settled, *others], key=lambda item: -item.score)


def _embed_question(
    question: Question, held: Sequence[Columns], embedder: Embedder
) -> EmbeddedQuestion:
    focus = question.focus(names_in(question, held))
    whole, telling = embedder.embed([question.text, focus])
    return EmbeddedQuestion(question, whole, telling, word_embedding(embedder))


def rerank(
    query: str, ranked: Sequence[Ranked], reranker: Reranker
) -> tuple[list[Ranked], bool]:
    """Put the best records in the reranker's order; the rest follow.

    The scores stay in falling order. False: the reranker failed or has no valid key,
    and the order is unchanged.
    """
    best = list(ranked[:RERANKED])
    rest = list(ranked[RERANKED:])
    try:
        scores = reranker.rerank(query, [item.content for item in best])
    except (Retryable, Rejected, Misconfigured):
        return list(ranked), False
    order = sorted(range(len(best)), key=lambda index: (-scores[index], index))
    moved = [
        replace(best[index], score=place.score)
        for index, place in zip(order, best, strict=True)
    ]
    return moved + rest, True
