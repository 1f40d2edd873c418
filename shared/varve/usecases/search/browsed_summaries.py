"""The summaries of a browse: those that only repeat what the browse has in other places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, day_of
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.mentions import has_mentions
from varve.domain.search.query import Filter
from varve.domain.statements.answers.repeats import StoreWords, list_sources
from varve.domain.statements.answers.summary_sentences import (
    SummarySentence,
    read_sentences,
)
from varve.usecases.search.find import Stock, read_columns
from varve.usecases.search.lookup import Browsing

_MOMENT = timedelta(microseconds=1)
_FINEST_FIRST = {grain: number for number, grain in enumerate(Grain)}


@dataclass(frozen=True, slots=True)
class _Days:
    """The local days of a browse's window; "": no limit."""

    first: str
    last: str

    def have(self, sentence: SummarySentence) -> bool:
        """Return whether a sentence may have been said on one of the days."""
        if not sentence.day:
            return True
        is_early = self.first > sentence.day
        is_late = bool(self.last) and sentence.day > self.last
        return not (is_early or is_late)


def _read_days(where: Filter, zone: ZoneInfo) -> _Days:
    since, until = where.since, where.until
    return _Days(
        day_of(since, zone) if since else "",
        day_of(until - _MOMENT, zone) if until else "",
    )


def find_repeating(
    found: Iterable[Browsing],
    stocks: Iterable[Stock],
    where: Filter,
    zone: ZoneInfo,
) -> dict[tuple[str | None, str], tuple[str, ...]]:
    """Return the records that say what a summary does, by the summary's agent and id.

    They are facts and turns that the filter passes, or summaries of a finer grain. A
    summary with a sentence that none of them says is missing.
    """
    summaries = [
        one for one in found if one.record.memory_type is MemoryType.SUMMARY
    ]
    summaries.sort(key=_finest_first)
    if not summaries:
        return {}
    days = _read_days(where, zone)
    agents = {
        stock.agent: _AgentStatements(stock, where, days) for stock in stocks
    }
    repeating: dict[tuple[str | None, str], tuple[str, ...]] = {}
    for one in summaries:
        telling = agents[one.agent].list_telling(one.record)
        if telling:
            repeating[one.agent, one.record.id] = telling
    return repeating


def _finest_first(one: Browsing) -> tuple[int, float]:
    order = _FINEST_FIRST.get(Grain(one.grain), 0)
    return order, -one.record.event_time.timestamp()


class _AgentStatements:
    """What one agent's browse says: its facts and turns, and the summaries that stay."""

    def __init__(self, stock: Stock, where: Filter, days: _Days) -> None:
        self._stock = stock
        self._where = where
        self._days = days
        self._kept: dict[tuple[str | None, str], str] = {}

    @cached_property
    def _told(self) -> Columns | None:
        return read_columns(self._stock, Grain.WORKING)

    @cached_property
    def _levels(self) -> list[Columns]:
        grains = [grain for grain in Grain if grain is not Grain.WORKING]
        levels = (read_columns(self._stock, grain) for grain in grains)
        return [level for level in levels if level is not None]

    @cached_property
    def _admitted(self) -> Bools | None:
        """The facts and turns that the browse may show; None: it shows none."""
        where = self._stock.narrow(self._where, Grain.WORKING)
        if where is None or self._told is None:
            return None
        return self._told.admitted(where)

    def list_telling(self, summary: Record) -> tuple[str, ...]:
        """Return the ids of the records that say all of a summary; empty: it adds something.

        Of a browse about a name or topic, only the sentences count that have it; of one in a
        window, only those said in it.
        """
        sentences = read_sentences(summary.content)
        rows = self._list_sources(summary)
        telling = [
            self._find_telling(one, rows, summary.user_id)
            for one in self._select_sought(sentences)
        ]
        known = tuple(dict.fromkeys(id_ for id_ in telling if id_))
        if known and all(telling):
            return known
        for one in sentences:
            key = (summary.user_id, one.wording)
            self._kept.setdefault(key, summary.id)
        return ()

    def _select_sought(
        self, sentences: Sequence[SummarySentence]
    ) -> Sequence[SummarySentence]:
        """Return the sentences that the browse seeks, or all if it seeks none of them."""
        mentions = self._where.mentions
        sought = [
            one
            for one in sentences
            if self._days.have(one) and has_mentions(one.text, mentions)
        ]
        return sought or sentences

    def _list_sources(self, summary: Record) -> Sequence[int]:
        """Return the facts and turns that a summary was made from and that are shown."""
        admitted = self._admitted
        if admitted is None or self._told is None:
            return ()
        rows = list_sources(summary.source_ids, self._levels, self._told)
        return [row for row in sorted(rows) if admitted[row]]

    def _find_telling(
        self, sentence: SummarySentence, rows: Sequence[int], user: str | None
    ) -> str | None:
        """Return the id of the source, or of the finer summary, that says a sentence."""
        if rows and self._told is not None:
            row = self._told.derive(StoreWords).find_telling(sentence, rows)
            if row is not None:
                return self._told.ids[row]
        return self._kept.get((user, sentence.wording))
