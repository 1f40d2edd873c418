"""A visit: one request for a page, and the view that a page module answers with."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from varve.api.inspection import Inspection
from varve.api.memory import Memory
from varve.domain.calendar import day_of, iso
from varve.domain.record import MemoryType
from varve.domain.strata import Strata
from varve.look.formats import as_moment, format_day, format_moment
from varve.look.links import Address, Target, name_note, target

SHOWN = 50
"""Entries of a list on one page."""
_KEEPS_USER = frozenset({"timeline", "period", "search", "notes"})


@dataclass(frozen=True)
class PageView:
    """A page's template with its values, its title, and the page one level up."""

    template: str
    title: str
    values: dict[str, Any]
    up: Target | None = None
    command: Sequence[str] = ()


@dataclass(frozen=True)
class Visit:
    """A request for a page of one memory.

    `is_static` if the page becomes a file: it then has no forms.
    """

    memory: Memory
    where: Target
    address: Address
    store: str
    is_static: bool = False
    inspection: Inspection = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inspection", Inspection(self.memory))

    @cached_property
    def zone(self) -> ZoneInfo:
        """The workspace's time zone."""
        return self.inspection.zone()

    @cached_property
    def user(self) -> str | None:
        """The user that the page is limited to; None: all."""
        return self.where.option("user") or None

    @cached_property
    def strata(self) -> Strata:
        """The periods of which memory holds something, of the page's user or of all."""
        return self.inspection.strata(user_id=self.user)

    @cached_property
    def days(self) -> frozenset[str]:
        """The labels of the days that have a page; a fact may tell of another."""
        return frozenset(one.period.label for one in self.strata.days)

    def key(self, place: int = 0) -> str:
        """Return a part of what the page is about; empty if it is not given."""
        keys = self.where.keys
        return keys[place] if place < len(keys) else ""

    def link(self, page: str, *keys: str, **options: Any) -> str:
        """Return the address of a page; pages of the timeline keep the user."""
        if page in _KEEPS_USER:
            options.setdefault("user", self.user)
        return self.address(target(page, *keys, **options))

    def result_link(
        self,
        memory_type: str,
        record_id: str,
        source_ids: Sequence[str],
        user_id: str | None,
    ) -> str:
        """Return the address of a result's page; a note has one of its own."""
        if memory_type != MemoryType.NOTE:
            return self.link("record", record_id)
        return self.link("note", *name_note(source_ids[0], user_id))

    def here(self, **options: Any) -> str:
        """Return the address of this page with some options changed."""
        given: dict[str, Any] = dict(self.where.options)
        return self.address(
            target(self.where.page, *self.where.keys, **given | options)
        )

    def moment(self, value: Any) -> str:
        """Return an instant in the workspace's zone, such as `12 Oct 2026, 19:13`."""
        return format_moment(as_moment(value), self.zone)

    def day(self, value: Any) -> str:
        """Return the local day of an instant, such as `12 Oct 2026`."""
        return format_day(as_moment(value).astimezone(self.zone).date())

    def day_label(self, value: Any) -> str:
        """Return the label of the local day that holds an instant."""
        return day_of(as_moment(value), self.zone)

    def iso(self, value: Any) -> str:
        """Return an instant in ISO 8601, in UTC."""
        return iso(as_moment(value))

    def command(self, *words: str) -> str:
        """Return a command line for this memory, quoted for a shell.

        It is empty if a word has characters that a terminal does not show.
        """
        if not all(word.isprintable() for word in words):
            return ""
        scope = self.inspection.scope
        place = ["--store", self.store]
        place += ["--workspace", scope.workspace, "--agent", scope.agent]
        return "varve " + shlex.join([*words, *place])
