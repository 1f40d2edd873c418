"""Find the records that answer a question, in one ranking over several grains."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial

from varve.domain.calendar import Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.entities import fold_as_one
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.grants import Grant
from varve.domain.identity import Scope
from varve.domain.metadata import Values
from varve.domain.record import Record, StoreName
from varve.domain.search.columns import Columns
from varve.domain.search.outline import Outline
from varve.domain.search.query import Filter
from varve.domain.search.question import Question
from varve.domain.search.ranking import Lane, Ranked, rank
from varve.domain.search.signals import EmbeddedQuestion, names_in
from varve.domain.search.strategies import Strategy
from varve.domain.statements.answers.expired import Ranking
from varve.domain.statements.answers.settling import (
    AgentLanes,
    AnswerQuestion,
    settle_answer,
)
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.persons import Persons
from varve.domain.triple import Triple
from varve.ports.knowledge import Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.ports.search import word_embedding
from varve.usecases.embedders import as_stored
from varve.usecases.search.metadata import find_ids

CANDIDATES = 100
"""Records that vector and keyword search each return from a store too large to load.

docs/benchmarks.md, "Large stores", has the recall and cost of more and fewer.
"""
RERANKED = 30
"""How many of the best records a reranker reads."""


class Stock:
    """The stores of one agent during one search, each read at most once.

    With `grant` they are another agent's, and a search finds in them only granted
    types. `metadata` has the entries that the metadata of a record must have. `triples`
    reads the agent's triples; it is called when two statements may tell one value.
    """

    def __init__(
        self,
        scope: Scope,
        reader: MemoryReader,
        embedder: Embedder,
        grant: Grant | None = None,
        metadata: Values | None = None,
        triples: Callable[[], Iterable[Triple]] = list,
    ) -> None:
        self.told = ToldValues(self._read_triples)
        self.scope = scope
        self._triples = triples
        self.reader = reader
        self._embedder = embedder
        self._grant = grant
        self._metadata = metadata or {}
        self._held: dict[StoreName, Outline] = {}
        self._embedders: dict[StoreName, Embedder] = {}

    def _read_triples(self) -> list[Triple]:
        """Return the agent's triples, those of a user's id and name as one person's."""
        known = list(self._triples())
        columns = read_columns(self, Grain.WORKING) if known else None
        if columns is None:
            return known
        return fold_as_one(known, columns.derive(Persons).names_of_ids)

    @property
    def agent(self) -> str | None:
        """The other agent whose stores these are; None: the searching agent's own."""
        return self._grant.agent if self._grant else None

    def narrow(self, where: Filter, grain: StoreName) -> Filter | None:
        """Return the filter limited to granted types and to the records with the metadata.

        None: nothing of what it asks for is granted of this grain.
        """
        narrowed = self._grant.narrow(where, grain) if self._grant else where
        if narrowed is None or self._ids is None:
            return narrowed
        return replace(narrowed, ids=self._ids)

    @cached_property
    def _ids(self) -> frozenset[str] | None:
        return find_ids(self.reader, self.scope, self._metadata)

    def columns(self, grain: StoreName) -> Outline:
        """Return the whole store as Columns, or its outline if it is too large to load."""
        if grain not in self._held:
            self._held[grain] = as_stored(
                self._embedder, partial(self._read, grain)
            )
        return self._held[grain]

    def embedder(self, grain: StoreName) -> Embedder:
        """Return the embedder of the store's model."""
        self.columns(grain)
        return self._embedders[grain]

    def _read(self, grain: StoreName, embedder: Embedder) -> Outline:
        columns = self.reader.columns(self.scope, grain, model=embedder.model)
        self._embedders[grain] = embedder
        return columns

    def count(self, grain: StoreName, where: Filter) -> int:
        """Count the records that pass the filter."""
        narrowed = self.narrow(where, grain)
        if narrowed is None:
            return 0
        return self.columns(grain).count(narrowed)

    def count_stored(self, grain: StoreName, where: Filter) -> int:
        """Count the records that pass the filter without reading the whole store."""
        narrowed = self.narrow(where, grain)
        if narrowed is None:
            return 0
        return self.reader.count(self.scope, grain, where=narrowed)

    def browse(
        self, grain: StoreName, where: Filter, limit: int
    ) -> list[Record]:
        """Return up to `limit` records by event time, newest first."""
        narrowed = self.narrow(where, grain)
        if narrowed is None:
            return []
        return self.reader.browse(
            self.scope, grain, where=narrowed, limit=limit
        )

    def columns_of_users(
        self, grain: StoreName, users: Sequence[str | None]
    ) -> Columns:
        """Return all records of these users (None: of no user) as Columns."""
        return self.reader.columns_of_users(
            self.scope, grain, users=users, model=self.embedder(grain).model
        )

    def find_newest(self, grains: Iterable[StoreName]) -> int | None:
        """Return the newest event time, in microseconds since 1970; None: no records."""
        newest = []
        for grain in grains:
            where = (
                self._grant.narrow(Filter(), grain)
                if self._grant
                else Filter()
            )
            if where is None:
                continue
            outline = self.columns(grain)
            shown = outline.event_times[outline.admitted(where)]
            if len(shown):
                newest.append(int(shown.max()))
        return max(newest, default=None)

    def candidates(
        self,
        grain: StoreName,
        sought: EmbeddedQuestion,
        where: Filter,
        reach: int,
    ) -> Columns:
        """Return what vector and keyword search find in a store too large to load.

        Records up to `reach` positions away come along. Raises EmbeddingMismatch: the
        store moved to another model since it was opened.
        """
        model = self.embedder(grain).model
        columns = self.reader.candidates(
            self.scope,
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
                f"{self.scope}/{grain}", "another one since", model
            )
        return columns


def read_columns(stock: Stock, grain: StoreName) -> Columns | None:
    """Return a store; None: too large to load, or of a model without an embedder."""
    try:
        held = stock.columns(grain)
    except EmbeddingMismatch:
        return None
    return held if isinstance(held, Columns) else None


def number_rows(columns: Columns) -> dict[str, int]:
    """Return the row of each record by its id."""
    return {id_: row for row, id_ in enumerate(columns.ids)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to find: a question, a filter, the time it is asked, and how to rank.

    `weights` has each grain to search, with its weight. `about_present`: superseded
    statements stand behind. `folds`: a summary gives its place to the statements that it
    repeats. `by_line`: each sentence of a summary is judged, and not only those that are
    found first or bear on the question, and doubtful statements are marked. `guesses`: where
    nothing found shares a word or a meaning with the question, what likely answers it is
    found all the same. `filters` replace `where` for single grains.
    """

    question: Question
    where: Filter
    present: datetime
    strategy: Strategy
    weights: Mapping[StoreName, float]
    limit: int
    explain: bool = False
    about_present: bool = False
    folds: bool = False
    by_line: bool = False
    guesses: bool = False
    filters: Mapping[StoreName, Filter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _SearchedGrain:
    """One grain of one agent, with the filter of what may be found there."""

    stock: Stock
    grain: StoreName
    where: Filter


def find(wanted: Wanted, stocks: Sequence[Stock]) -> list[Ranked]:
    """Return the best records of all agents and grains in one ranking, best first.

    While stores move to another embedding model, each model's stores are ranked apart.
    Raises Misconfigured, Retryable.
    """
    embedders: dict[str, Embedder] = {}
    parts_of: dict[str, list[_SearchedGrain]] = {}
    for part in _list_parts(wanted, stocks):
        embedder = part.stock.embedder(part.grain)
        embedders[embedder.model] = embedder
        parts_of.setdefault(embedder.model, []).append(part)
    found: list[Ranked] = []
    for model, parts in parts_of.items():
        found += _rank(wanted, parts, embedders[model])
    if len(embedders) > 1:
        found.sort(key=lambda item: (-item.score, item.id))
    return found[: wanted.limit]


def _list_parts(
    wanted: Wanted, stocks: Sequence[Stock]
) -> Iterator[_SearchedGrain]:
    for stock in stocks:
        for grain in wanted.weights:
            where = stock.narrow(
                wanted.filters.get(grain, wanted.where), grain
            )
            if where is not None:
                yield _SearchedGrain(stock, grain, where)


def _rank(
    wanted: Wanted, parts: Sequence[_SearchedGrain], embedder: Embedder
) -> list[Ranked]:
    held = [part.stock.columns(part.grain) for part in parts]
    whole_stores = [one for one in held if isinstance(one, Columns)]
    sought = _embed_question(wanted.question, whole_stores, embedder)
    lanes = []
    for part, columns in zip(parts, held, strict=True):
        if not isinstance(columns, Columns):
            columns = part.stock.candidates(
                part.grain, sought, part.where, wanted.strategy.reach
            )
        weight = wanted.weights[part.grain]
        lanes.append(
            Lane(part.grain, columns, weight, part.where, part.stock.agent)
        )
    ranked = rank(
        sought,
        lanes,
        wanted.where,
        wanted.present,
        wanted.strategy,
        wanted.limit,
        explain=wanted.explain,
    )
    asked = AnswerQuestion(
        sought=sought,
        where=wanted.where,
        ranking=Ranking(wanted.present, wanted.strategy),
        about_present=wanted.about_present,
        folds=wanted.folds,
        by_line=wanted.by_line,
        guesses=wanted.guesses,
    )
    return settle_answer(
        ranked, _group_by_agent(parts, lanes, embedder), asked
    )


def _group_by_agent(
    parts: Sequence[_SearchedGrain],
    lanes: Sequence[Lane],
    embedder: Embedder,
) -> list[AgentLanes]:
    """Return the lanes of each agent, with its facts and turns if they are in memory."""
    lanes_of: dict[Stock, list[Lane]] = {}
    for part, lane in zip(parts, lanes, strict=True):
        lanes_of.setdefault(part.stock, []).append(lane)
    return [
        AgentLanes(own, _find_working(stock, own, embedder), stock.told)
        for stock, own in lanes_of.items()
    ]


def _find_working(
    stock: Stock, lanes: Sequence[Lane], embedder: Embedder
) -> Columns | None:
    """Return the agent's facts and turns with vectors of the embedder's model.

    Other agents' need a lane, for they may not be granted. None: there are none, they
    are too many, or they have another model.
    """
    for lane in lanes:
        if lane.grain is Grain.WORKING:
            return lane.columns
    has_summaries = any(isinstance(lane.grain, Grain) for lane in lanes)
    if stock.agent is not None or not has_summaries:
        return None
    columns = stock.columns(Grain.WORKING)
    is_of_model = stock.embedder(Grain.WORKING).model == embedder.model
    if not is_of_model or not isinstance(columns, Columns):
        return None
    return columns if len(columns) else None


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
    order = sorted(range(len(best)), key=lambda index: -scores[index])
    moved = [
        replace(best[index], score=place.score)
        for index, place in zip(order, best, strict=True)
    ]
    return moved + rest, True
