"""Routing of a question to a time window and grains, by rule and without a model."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain
from varve.domain.language.timemarks import is_relative_time
from varve.domain.record import GRAINS, Store, StoreName
from varve.domain.search.query import Filter, SearchRequest, as_of, window
from varve.domain.search.question import (
    asks_for_a_state,
    asks_for_everything,
    asks_what_happened,
)
from varve.domain.statements.texts.asked_phrases import restore_question

if TYPE_CHECKING:
    from varve.domain.language.timewords import TimeWords


TOLD_AFTER = timedelta(days=31)
"""How long after a holiday what names it may tell of it."""


@dataclass(frozen=True, slots=True)
class Route:
    """What to search for, where, and which grain the question names, if any.

    - `text`: the words to rank by; empty to browse.
    - `where`: the filter of the search. `limits`: the filter that the request itself
      sets, without the window that its words mean.
    - `lanes`: the grains that enter the ranking, and the store of notes.
    - `asked`: the grain that the question asks for. If it has no ready summary, the
      search also reads finer grains.
    - `understood`: the time words of the question. If `weighs` is set, they filter
      nothing; what lies near that time ranks higher. If `lasting` is set as well, what
      held before that time may still have held then.
    """

    text: str
    where: Filter
    lanes: tuple[StoreName, ...]
    asked: Grain | None
    understood: "TimeWords | None"
    present: datetime
    limits: Filter
    weighs: bool = False
    lasting: bool = False

    @property
    def _near(self) -> "TimeWords | None":
        """The time words near whose time records rank higher."""
        return self.understood if self.weighs else None

    @property
    def near_since(self) -> datetime | None:
        """The start of the time near which records rank higher."""
        return self._near.since if self._near else None

    @property
    def near_until(self) -> datetime | None:
        """The end of the time near which records rank higher."""
        return self._near.until if self._near else None

    @property
    def since(self) -> datetime | None:
        """The start of the time that the question is about; it filters or weighs."""
        return self.where.since or self.near_since

    @property
    def until(self) -> datetime | None:
        """The end of the time that the question is about; it filters or weighs."""
        return _get_earliest(self.where.until, self.near_until)

    @property
    def age_days(self) -> float | None:
        """The age of the middle of the window, in days; None without a window."""
        since = self.since
        if since is None:
            return None
        end = min(self.until or self.present, self.present)
        middle = since + (end - since) / 2
        return max(0.0, (self.present - middle).total_seconds() / 86_400)

    def seen_from(self, moment: datetime, zone: ZoneInfo) -> "Route":
        """Return the route with its time words understood as if asked at `moment`."""
        from varve.domain.language.timewords import understand

        understood = understand(self.text, moment, zone)
        return replace(self, understood=understood or self.understood)

    def mentioning(self, phrases: tuple[tuple[str, ...], ...]) -> "Route":
        """Return the route to records that have one phrase of each group."""
        if not phrases:
            return self
        return replace(
            self,
            where=replace(self.where, mentions=phrases),
            limits=replace(self.limits, mentions=phrases),
        )

    @property
    def has_limits(self) -> bool:
        """Whether the request itself limits what, when or in which conversation."""
        where = self.limits
        has_time = where.since is not None or where.until is not None
        is_narrow = bool(where.mentions) or where.conversation_id is not None
        return has_time or is_narrow

    def browsing(self) -> "Route":
        """Return the route to all that the limits pass, newest first."""
        return replace(
            self, text="", understood=None, weighs=False, lasting=False
        )

    def after_holiday(self) -> "Route | None":
        """Return the route to what was told of a holiday, by its name, soon after it.

        None: this is not the route to all that happened on a holiday.
        """
        words = self.understood
        if self.text or words is None or not words.holiday:
            return None
        if words.since is None or words.until is None:
            return None
        until = _get_earliest(words.until + TOLD_AFTER, self.limits.until)
        if until is None or until <= words.until:
            return None
        where = replace(
            self.where,
            since=words.until,
            until=until,
            mentions=(*self.where.mentions, words.holiday),
        )
        return replace(self, where=where)

    def without_window(self, request: SearchRequest) -> "Route":
        """Return the route without the window that the question's words mean."""
        text = _restore(request, request.text)
        return replace(self, where=self.limits, text=text, asked=None)


def route(request: SearchRequest, now: datetime, zone: ZoneInfo) -> Route:
    """Route a request by its own limits, or by its time words if it sets no limits.

    Raises Rejected: the limits leave no time.
    """
    words = _understand_time(request, as_of(request, now, zone), zone)
    limited = _route_by_limits(request, now, zone)
    if words is None:
        return limited
    found = replace(
        limited, asked=limited.asked or words.grain, understood=words
    )
    if _has_weighing_time(request.text, words):
        lasting = asks_for_a_state(request.text)
        return replace(found, weighs=True, lasting=lasting)
    until = _get_earliest(words.until, limited.where.until)
    inside = replace(limited.where, since=words.since, until=until)
    is_only_time = words.rest == request.text
    if is_only_time or asks_for_everything(words.rest):
        return replace(found, where=inside, text="")
    text = _restore(request, words.rest)
    return replace(found, where=inside, text=text)


def _route_by_limits(
    request: SearchRequest, now: datetime, zone: ZoneInfo
) -> Route:
    where = window(request, now, zone)
    grain = None if request.grain == "auto" else Grain(request.grain)
    lanes = (grain,) if grain else _choose_lanes(request)
    return Route(
        text=_restore(request, request.text),
        where=where,
        lanes=lanes,
        asked=grain,
        understood=None,
        present=as_of(request, now, zone),
        limits=where,
    )


def _restore(request: SearchRequest, text: str) -> str:
    """Return what words of a request ask for."""
    return restore_question(text, is_of_user=request.user_id is not None)


def _choose_lanes(request: SearchRequest) -> tuple[StoreName, ...]:
    """Return all grains, with the notes if they may be results; those have no grain."""
    return (*GRAINS, Store.NOTES) if request.asks_for("note") else GRAINS


def _get_earliest(
    one: datetime | None, other: datetime | None
) -> datetime | None:
    given = [moment for moment in (one, other) if moment is not None]
    return min(given, default=None)


def _understand_time(
    request: SearchRequest, present: datetime, zone: ZoneInfo
) -> "TimeWords | None":
    if not request.text or _has_time_limits(request):
        return None
    from varve.domain.language.timewords import understand

    return understand(request.text, present, zone)


def _has_weighing_time(text: str, words: "TimeWords") -> bool:
    """Return whether a time weighs instead of filtering.

    People often talk about a day on another day. A date in a question about something
    therefore only shows where to look first. Two sorts of questions filter: those with
    a time relative to now ("last week") that is no holiday, and those that ask for nothing
    but the time ("what happened in March?", "what did I do last Christmas?").
    """
    if asks_for_a_state(text):
        return True
    if words.holiday:
        is_alone = words.rest == text
        return not is_alone and not asks_for_everything(words.rest)
    if is_relative_time(words.phrase):
        return False
    # Without other words there is no rest: the text is nothing but a time.
    is_only_time = words.rest == text
    return not is_only_time and not asks_what_happened(words.rest)


def _has_time_limits(request: SearchRequest) -> bool:
    return bool(
        request.since
        or request.until
        or request.minimum_days_ago
        or request.maximum_days_ago is not None
    )
