"""Where a question is looked for: the window and the grains, by rule and without a model."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain
from varve.domain.search.query import Filter, SearchRequest, as_of, window
from varve.domain.search.question import asks_for_a_state, asks_what_happened

if TYPE_CHECKING:
    from varve.domain.language.timewords import TimeWords


_FROM_NOW = re.compile(
    r"(?i)\b(?:yesterday|today|tonight|tomorrow|ago|last|this|next|past|previous|coming|recent|ayer|anoche|hoy"
    r"|mañana|hace|(?:ante)?pasad[oa]s?|últim[oa]s?|próxim[oa]s?|est[ea]|que viene)\b"
)


@dataclass(frozen=True, slots=True)
class Route:
    """What to search for (no text: browse), where, and which grain the question speaks of, if any.

    `lanes` are the grains that enter the ranking; `asked` is the grain that must not read as empty.
    With `weighs` the time that was understood filters nothing and what lies near it ranks higher;
    with `lasting` what was so before may have been so then. `limits` are those that the request sets itself.
    """

    text: str
    where: Filter
    lanes: tuple[Grain, ...]
    asked: Grain | None
    understood: "TimeWords | None"
    present: datetime
    limits: Filter
    weighs: bool = False
    lasting: bool = False

    @property
    def near_since(self) -> datetime | None:
        """The start of the time that weighs."""
        return self.understood.since if self.weighs and self.understood else None

    @property
    def near_until(self) -> datetime | None:
        """The end of the time that weighs."""
        return self.understood.until if self.weighs and self.understood else None

    @property
    def since(self) -> datetime | None:
        """The start of the time the question is about, whether that filters or weighs."""
        return self.where.since or self.near_since

    @property
    def until(self) -> datetime | None:
        """The end of it."""
        return min((t for t in (self.where.until, self.near_until) if t), default=None)

    @property
    def age_days(self) -> float | None:
        """How far back the middle of the window lies, in days; None without a window."""
        since, until = self.since, self.until
        if since is None:
            return None
        middle = since + (min(until or self.present, self.present) - since) / 2
        return max(0.0, (self.present - middle).total_seconds() / 86_400)

    def seen_from(self, moment: datetime, zone: ZoneInfo) -> "Route":
        """The same question with its words of time understood as if asked at another moment."""
        from varve.domain.language.timewords import understand

        return replace(
            self, understood=understand(self.text, moment, zone) or self.understood
        )

    def anywhen(self, request: SearchRequest) -> "Route":
        """The same question without the window that its words meant."""
        return replace(self, where=self.limits, text=request.text, asked=None)


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
        return Route(request.text, where, lanes, asked, None, present, where)
    if _weighs(request.text, words):
        lasting = asks_for_a_state(request.text)
        return Route(
            request.text,
            where,
            lanes,
            asked,
            words,
            present,
            where,
            weighs=True,
            lasting=lasting,
        )
    until = min((t for t in (words.until, where.until) if t), default=None)
    text = words.rest if words.rest != request.text else ""
    inside = replace(where, since=words.since, until=until)
    return Route(text, inside, lanes, asked, words, present, where)


def _understood(
    request: SearchRequest, present: datetime, zone: ZoneInfo
) -> "TimeWords | None":
    if not request.text or _limited(request):
        return None
    from varve.domain.language.timewords import understand

    return understand(request.text, present, zone)


def _weighs(text: str, words: "TimeWords") -> bool:
    """Whether a time weighs rather than filters.

    What is said of a day is often said on another, so that a date named in a question about something
    shows where to look first, no more. A filter is what "last week" asks for, counted from now, and a
    question that asks for nothing but the time: "what happened in March?".
    """
    if asks_for_a_state(text):
        return True
    return not (_FROM_NOW.search(words.phrase) or asks_what_happened(words.rest))


def _limited(request: SearchRequest) -> bool:
    return bool(
        request.since
        or request.until
        or request.minimum_days_ago
        or request.maximum_days_ago is not None
    )
