"""Browse a memory: its newest statements, each in one place, with how it stands."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from varve.domain.calendar import Grain, microseconds
from varve.domain.entities import fold_of_user
from varve.domain.record import MemoryType, Record, StoreName
from varve.domain.search.choosing import Contender, fold_repeats
from varve.domain.search.columns import Columns
from varve.domain.search.mentions import has_mentions
from varve.domain.search.nearness import recency
from varve.domain.search.query import Filter
from varve.domain.search.results import Browsed
from varve.domain.search.routing import Route
from varve.domain.statements.answers.expired import confirm_summary
from varve.domain.statements.standings.known import KnownStandings
from varve.domain.statements.standings.standing import Standing
from varve.usecases.corrections.known_ends import StatedEnds
from varve.usecases.search.browsed_summaries import find_repeating
from varve.usecases.search.find import Stock, number_rows, read_columns
from varve.usecases.search.lookup import Browsing, Lanes, Running
from varve.usecases.search.overviews import find_overview

MAX_BROWSED = 1_000
"""The newest records of a grain among which a browse looks for words and repeats."""
WIDEN_FACTOR = 4
"""The factor by which more records are read if repeats leave too few statements."""

_Key = tuple[str | None, str]
"""The agent and id of a record."""
_Store = tuple[str | None, StoreName]
"""The other agent whose store it is, or None, and its grain."""


def browse(way: Route, lanes: Lanes, running: Running) -> list[Browsed]:
    """Return the newest statements of all grains; the score is the recency."""
    wanted = running.request.max_results
    limit = MAX_BROWSED if way.where.mentions else wanted + 1
    while True:
        found, is_all = _read_newest(way, lanes, running, limit)
        shelf = _open_shelf(found, running.stocks)
        in_part = _find_in_part(found, shelf, way, running.stocks)
        folded = _fold(found, shelf, in_part.ended)
        if len(lanes.filled) > 1:
            folded = _fold_summaries(folded, way, running)
        if is_all or len(folded) >= wanted or limit >= MAX_BROWSED:
            break
        limit = min(MAX_BROWSED, limit * WIDEN_FACTOR)
    return _describe(folded, shelf, in_part, way, running)


def _read_newest(
    way: Route, lanes: Lanes, running: Running, limit: int
) -> tuple[list[Browsing], bool]:
    """Return up to `limit` records of each store, newest first, and whether that is all."""
    read = running.browse(lanes.filters(way), limit)
    counts = Counter((one.agent, one.grain) for one in read)
    mentions = way.where.mentions
    found = [one for one in read if has_mentions(one.record.content, mentions)]
    found.sort(key=_newest_first)
    return found, max(counts.values(), default=0) < limit


def _newest_first(one: Browsing) -> tuple[float, int, str]:
    record = one.record
    return -record.event_time.timestamp(), -record.position, record.id


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The stores of what was found, and the row of each record by its id.

    A store too large to load is missing.
    """

    columns: Mapping[_Store, Columns]
    rows: Mapping[_Store, Mapping[str, int]]

    def find_row(self, one: Browsing | Browsed) -> int | None:
        """Return the row of a record in its columns."""
        return self.rows.get((one.agent, one.grain), {}).get(one.record.id)


def _open_shelf(found: Sequence[Browsing], stocks: Sequence[Stock]) -> _Shelf:
    stock_of = {stock.agent: stock for stock in stocks}
    columns: dict[_Store, Columns] = {}
    rows: dict[_Store, Mapping[str, int]] = {}
    for agent, grain in {(one.agent, one.grain) for one in found}:
        store = read_columns(stock_of[agent], grain)
        if store is not None:
            columns[agent, grain] = store
            rows[agent, grain] = store.derive(number_rows)
    return _Shelf(columns, rows)


@dataclass(frozen=True, slots=True)
class _Folded:
    """A record to show, and the ids of those that say the same."""

    shown: Browsing
    also_in: tuple[str, ...] = ()

    @property
    def key(self) -> _Key:
        """The agent and id of the record."""
        return self.shown.agent, self.shown.record.id

    def adding(self, ids: Iterable[str]) -> "_Folded":
        """Return the record with more ids of those that say the same."""
        return replace(self, also_in=(*self.also_in, *ids))


def _fold(
    found: Sequence[Browsing], shelf: _Shelf, ended: Set[str]
) -> list[_Folded]:
    """Give each statement one place, as a search does.

    The facts of `ended` have their own: what is left of their statements still holds.
    """
    contenders: list[Contender] = []
    folded: list[_Folded] = []
    for at, one in enumerate(found):
        row = shelf.find_row(one)
        if row is None or one.record.id in ended:
            folded.append(_Folded(one))
        else:
            contenders.append(_build_contender(one, at, row, shelf))
    for place in fold_repeats(contenders) if contenders else ():
        folded.append(_Folded(found[place.shown.at], place.also_in))
    folded.sort(key=lambda one: _newest_first(one.shown))
    return folded


def _fold_summaries(
    folded: Sequence[_Folded], way: Route, running: Running
) -> list[_Folded]:
    """Fold each summary that adds nothing into the place of a statement that it repeats.

    Where a time in words holds more statements than the answer, its overview comes first.
    A statement that is all that a summary of the overview says stands in its place.
    """
    if _keeps_summaries(way, running):
        return list(folded)
    shown = [one.shown for one in folded]
    zone = running.lookup.zone
    repeating = find_repeating(shown, running.stocks, way.where, zone)
    places = _fold_into_places(folded, repeating)
    if way.understood is None or len(places) <= running.request.max_results:
        return places
    overview = find_overview(shown, way.understood.grain, zone)
    return _put_overview_first(folded, repeating, overview)


def _put_overview_first(
    folded: Sequence[_Folded],
    repeating: Mapping[_Key, tuple[str, ...]],
    overview: Set[_Key],
) -> list[_Folded]:
    """Return the places, first the summaries of the overview and what is all that one says."""
    lone = {key for key in overview if len(repeating.get(key, ())) == 1}
    leading: list[_Folded] = []
    others: list[_Folded] = []
    for one in folded:
        leads = one.key in overview and one.key not in lone
        (leading if leads else others).append(one)
    rest: list[_Folded] = []
    for one in _fold_into_places(others, repeating):
        (leading if _repeat_any(one, lone) else rest).append(one)
    leading.sort(key=lambda one: _newest_first(one.shown))
    return leading + rest


def _repeat_any(one: _Folded, summaries: Set[_Key]) -> bool:
    """Return whether one of these summaries was folded into a record."""
    agent = one.shown.agent
    return any((agent, id_) in summaries for id_ in one.also_in)


def _fold_into_places(
    folded: Sequence[_Folded],
    repeating: Mapping[_Key, tuple[str, ...]],
) -> list[_Folded]:
    """Return the records that add something, with the ids of those that repeat them."""
    places = [one for one in folded if one.key not in repeating]
    place_of = _number_places(places)
    for one in folded:
        agent, id_ = one.key
        for telling in repeating.get(one.key, ()):
            number = place_of.get((agent, telling))
            if number is not None:
                places[number] = places[number].adding((id_, *one.also_in))
                break
    return places


def _keeps_summaries(way: Route, running: Running) -> bool:
    """Return whether a browse shows the summaries that add nothing too.

    It does so for one grain and for summaries alone, and for the context of a time in
    words ("What happened in March?"), which folds them line by line.
    """
    of_summaries = set(way.where.memory_types) == {MemoryType.SUMMARY}
    of_one_grain = running.request.grain != "auto"
    by_line = running.lookup.by_line and way.understood is not None
    return of_summaries or of_one_grain or by_line


def _number_places(
    places: Sequence[_Folded],
) -> dict[_Key, int]:
    """Return the place of each record, of the folded ones too, by its agent and id."""
    found: dict[_Key, int] = {}
    for number, one in enumerate(places):
        for id_ in (one.shown.record.id, *one.also_in):
            found.setdefault((one.shown.agent, id_), number)
    return found


def _build_contender(
    one: Browsing, at: int, number: int, shelf: _Shelf
) -> Contender:
    columns = shelf.columns[one.agent, one.grain]
    (row,) = columns.read_rows(np.array([number]))
    return Contender(
        minus_score=-row.time,
        minus_time=-row.time,
        id=row.id,
        at=at,
        number=number,
        row=row,
        columns=columns,
        grain=one.grain,
        agent=one.agent,
    )


def _read_standings(
    shelf: _Shelf, way: Route, stocks: Sequence[Stock]
) -> dict[_Store, KnownStandings]:
    """Return the standings of each agent's facts and turns."""
    visible = Filter(until=way.where.until, user_id=way.where.user_id)
    told = {stock.agent: stock.told for stock in stocks}
    return {
        store: KnownStandings(columns, visible, told[store[0]])
        for store, columns in shelf.columns.items()
        if store[1] is Grain.WORKING
    }


@dataclass(frozen=True, slots=True)
class _InPart:
    """The statements found that are corrected in part.

    `known` are the standings by which they were found. `rests` has what is left of them,
    by id; `ended` are the ids of the facts of the corrected parts.
    """

    known: Mapping[_Store, KnownStandings]
    rests: Mapping[str, str]
    ended: Set[str]


def _find_in_part(
    found: Sequence[Browsing],
    shelf: _Shelf,
    way: Route,
    stocks: Sequence[Stock],
) -> _InPart:
    known = _read_standings(shelf, way, stocks)
    rests: dict[str, str] = {}
    ended: set[str] = set()
    for one in found:
        row = shelf.find_row(one)
        if row is None or one.grain is not Grain.WORKING:
            continue
        standings = known[one.agent, one.grain]
        rest = standings.find_rest(row)
        if rest is not None:
            rests[one.record.id] = rest
        elif standings.is_corrected_part(row):
            ended.add(one.record.id)
    return _InPart(known, rests, ended)


def _describe(
    folded: Sequence[_Folded],
    shelf: _Shelf,
    in_part: _InPart,
    way: Route,
    running: Running,
) -> list[Browsed]:
    """Return the statements with their recency and how they stand."""
    moments = [microseconds(one.shown.record.event_time) for one in folded]
    times = np.array(moments, np.int64)
    scores = recency(
        times, way.present, running.lookup.half_life_days
    ).tolist()
    describe = _Describer(shelf, in_part, way, running)
    browsed: list[Browsed] = []
    for one, score in zip(folded, scores, strict=True):
        record, grain, agent = one.shown
        standing = describe(one.shown)
        if standing.current:
            rest = in_part.rests.get(record.id, record.content)
            record = replace(record, content=rest)
        browsed.append(
            Browsed(record, grain, score, agent, one.also_in, standing)
        )
    return browsed


def _find_confirmed(record: Record) -> int:
    """Return when a record was last confirmed, as far as it alone tells, in microseconds."""
    if record.memory_type is MemoryType.SUMMARY:
        return confirm_summary(record.about, record.period)
    return microseconds(record.event_time)


class _Describer:
    """Tells how browsed statements stand."""

    def __init__(
        self,
        shelf: _Shelf,
        in_part: _InPart,
        way: Route,
        running: Running,
    ) -> None:
        where = way.where
        self._rests = in_part.rests
        self._shelf = shelf
        self._known = in_part.known
        self._stock_of = {stock.agent: stock for stock in running.stocks}
        self._where = where
        present = min(where.until or way.present, way.present)
        triples = fold_of_user(running.lookup.triples(), where.user_id)
        self._ends = StatedEnds(triples, present)

    def __call__(self, one: Browsing) -> Standing:
        """Return how a record stands; a summary always holds."""
        holds = Standing(current=True, confirmed=_find_confirmed(one.record))
        if one.grain is not Grain.WORKING:
            return holds
        row = self._shelf.find_row(one)
        standing = holds
        if row is not None:
            standing = self._known[one.agent, one.grain].describe(row)
        if not standing.current or one.agent is not None:
            return self._hide_successor(standing, one)
        if one.record.id in self._rests:
            return standing
        if self._ends.have_ended(one.record):
            return replace(standing, current=False)
        return standing

    def _hide_successor(self, standing: Standing, one: Browsing) -> Standing:
        """Return another agent's standing without a successor that is not granted."""
        successor = standing.successor
        if one.agent is None or successor is None:
            return standing
        store = (one.agent, one.grain)
        where = self._stock_of[one.agent].narrow(self._where, one.grain)
        number = self._shelf.rows[store][successor]
        if where and self._shelf.columns[store].admitted(where)[number]:
            return standing
        return replace(standing, successor=None)
