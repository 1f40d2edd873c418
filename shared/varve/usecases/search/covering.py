"""The summaries of longer periods, where a time in words has no record of its own any more."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from varve.domain.calendar import Period, day_of
from varve.domain.language.timewords import TimeWords
from varve.domain.search.ranking import Ranked
from varve.domain.search.results import Browsed
from varve.domain.search.routing import Route
from varve.domain.statements.answers.summary_sentences import read_sentences

_MOMENT = timedelta(microseconds=1)


class Telling(NamedTuple):
    """The summaries that tell of a time, and of how many of its days."""

    found: Sequence[Ranked | Browsed]
    days: int


def list_covering(way: Route, zone: ZoneInfo) -> Iterator[Route]:
    """Yield the routes to the summaries of the periods that hold the time, shortest first.

    A time without an end, and a question with other words, have none.
    """
    words = way.understood
    if way.text or words is None or words.since is None or words.until is None:
        return
    last = words.until - _MOMENT
    grain = words.grain.parent
    while grain is not None:
        begin = Period.of(words.since, grain, zone).start(zone)
        ends = [Period.of(last, grain, zone).end(zone)]
        if way.limits.until is not None:
            ends.append(way.limits.until)
        where = replace(way.where, since=begin, until=min(ends))
        yield replace(way, where=where, lanes=(grain,), asked=None)
        grain = grain.parent


def choose_telling(
    found: Iterable[Ranked | Browsed], words: TimeWords, zone: ZoneInfo
) -> Telling:
    """Return the summaries that have a sentence of the time, or that date none."""
    days: set[str] = set()
    telling: list[Ranked | Browsed] = []
    for one in found:
        told = _list_days(one.content, words, zone)
        if told:
            telling.append(one)
            days |= told
    return Telling(telling, len(days))


def _list_days(content: str, words: TimeWords, zone: ZoneInfo) -> set[str]:
    """Return the days of the time that the sentences have; of undated ones ""."""
    if words.since is None or words.until is None:
        return set()
    first = day_of(words.since, zone)
    last = day_of(words.until - _MOMENT, zone)
    days = {one.day for one in read_sentences(content)}
    return {day for day in days if first <= day <= last} or days & {""}
