"""The overview of a time that holds more than an answer: the coarsest summaries that tell it once."""

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period
from varve.domain.record import MemoryType
from varve.usecases.search.lookup import Browsing

_Owner = tuple[str | None, str | None]
_Key = tuple[str | None, str]
_GRAINS = list(Grain)


def find_overview(
    found: Iterable[Browsing], coarsest: Grain, zone: ZoneInfo
) -> set[_Key]:
    """Return the agents and ids of the summaries that lie in no other one, none coarser.

    The days after the last week and the weeks after the last month are among them. Each
    user of each agent has an overview.
    """
    most = _GRAINS.index(coarsest)
    summaries = [
        one
        for one in found
        if one.record.memory_type is MemoryType.SUMMARY
        and _coarseness(one) <= most
    ]
    summaries.sort(key=_coarseness, reverse=True)
    spans: dict[_Owner, list[tuple[datetime, datetime]]] = {}
    overview: set[_Key] = set()
    for one in summaries:
        told = spans.setdefault((one.agent, one.record.user_id), [])
        begin, end = _find_span(one, zone)
        if any(first <= begin and end <= last for first, last in told):
            continue
        told.append((begin, end))
        overview.add((one.agent, one.record.id))
    return overview


def _coarseness(one: Browsing) -> int:
    return _GRAINS.index(Grain(one.grain))


def _find_span(one: Browsing, zone: ZoneInfo) -> tuple[datetime, datetime]:
    period = Period(Grain(one.grain), one.record.period)
    return period.start(zone), period.end(zone)
