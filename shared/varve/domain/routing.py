"""Where a question is looked for: the window and the grains, by rule and without a model."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain
from varve.domain.query import Filter, SearchRequest, as_of, window

if TYPE_CHECKING:
    from varve.domain.timewords import TimeWords


@dataclass(frozen=True, slots=True)
class Route:
    """What to search for (no text: browse), where, and which grain the question speaks of, if any.

    `lanes` are the grains that enter the ranking; `asked` is the grain that must not read as empty.
    """

    text: str
    where: Filter
    lanes: tuple[Grain, ...]
    asked: Grain | None
    understood: "TimeWords | None"
    present: datetime

    @property
    def age_days(self) -> float | None:
        """How far back the middle of the window lies, in days; None without a window."""
        since, until = self.where.since, self.where.until
        if since is None:
            return None
        middle = since + (min(until or self.present, self.present) - since) / 2
        return max(0.0, (self.present - middle).total_seconds() / 86_400)

    def anywhen(self, request: SearchRequest) -> "Route":
        """The same question without the window that its words meant."""
        where = replace(self.where, since=None, until=None)
        return replace(self, where=where, text=request.text, asked=None)


def route(request: SearchRequest, now: datetime, zone: ZoneInfo) -> Route:
    """The request's limits, or, where it sets none, those its own words mean.

    Raises Rejected: the limits leave no time at all.
    """
    present = as_of(request, now, zone)
    where = window(request, now, zone)
    own = Grain(request.grain) if request.grain != "auto" else None
    words = _understood(request, present, zone)
    lanes = (own,) if own else tuple(Grain)
    asked = own or (words.grain if words else None)
    if words is None:
        return Route(request.text, where, lanes, asked, None, present)
    until = min((t for t in (words.until, where.until) if t), default=None)
    text = words.rest if words.rest != request.text else ""
    return Route(text, replace(where, since=words.since, until=until), lanes, asked, words, present)


def _understood(request: SearchRequest, present: datetime, zone: ZoneInfo) -> "TimeWords | None":
    if not request.text or _limited(request):
        return None
    from varve.domain.timewords import understand

    return understand(request.text, present, zone)


def _limited(request: SearchRequest) -> bool:
    return bool(
        request.since or request.until or request.minimum_days_ago or request.maximum_days_ago is not None
    )
