"""The site: which page answers a target, and the frame around every page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from varve import __version__
from varve.api.memory import Memory
from varve.domain.errors import Rejected, VarveError
from varve.look.links import Address, Target, target
from varve.look.pages import (
    costs,
    entity,
    experience,
    guide,
    health,
    notes,
    people,
    search,
    statement,
    timeline,
    words,
)
from varve.look.rendering import open_templates, render
from varve.look.visit import PageView, Visit

ShowPage = Callable[[Visit], PageView]

PAGES: Mapping[str, ShowPage] = MappingProxyType(
    {
        "timeline": timeline.show_timeline,
        "period": timeline.show_period,
        "conversation": words.show_conversation,
        "search": search.show_search,
        "record": statement.show_record,
        "entities": entity.list_entities,
        "entity": entity.show_entity,
        "users": people.list_users,
        "user": people.show_user,
        "experience": experience.list_experience,
        "episode": experience.show_episode,
        "lesson": experience.show_lesson,
        "notes": notes.list_notes,
        "note": notes.show_note,
        "health": health.show_health,
        "costs": costs.show_costs,
        "help": guide.show_help,
    }
)
"""What answers each page's name."""
SECTIONS: tuple[tuple[str, str], ...] = (
    ("timeline", "Timeline"),
    ("search", "Search"),
    ("entities", "Entities"),
    ("users", "Users"),
    ("experience", "Experience"),
    ("notes", "Notes"),
    ("health", "Health"),
    ("costs", "Costs"),
)
_SECTION_OF = {
    "period": "timeline",
    "conversation": "timeline",
    "record": "timeline",
    "entity": "entities",
    "user": "users",
    "episode": "experience",
    "lesson": "experience",
    "note": "notes",
}
FOUND = 200
NOT_FOUND = 404
FAILED = 500


@dataclass(frozen=True, slots=True)
class Page:
    """A page's HTML with its HTTP status."""

    status: int
    html: str


class Site:
    """The pages of one memory; `store` is its place as commands name it.

    `assets` is the address of a static file's folder.
    """

    def __init__(
        self,
        memory: Memory,
        store: str,
        address: Address,
        *,
        assets: str,
        is_static: bool = False,
    ) -> None:
        self._memory = memory
        self._store = store
        self._address = address
        self._assets = assets
        self._is_static = is_static

    def require_templates(self) -> None:
        """Raise Misconfigured unless Jinja2 is installed."""
        open_templates()

    def page(self, where: Target) -> Page:
        """Return the page of a target; a failure becomes a page that explains it.

        Raises Misconfigured: Jinja2 is not installed.
        """
        visit = Visit(
            self._memory, where, self._address, self._store, self._is_static
        )
        try:
            status = FOUND
            view = self._find(where)(visit)
        except Rejected as error:
            status = NOT_FOUND
            view = _explain("Not here", error)
        except VarveError as error:
            status = FAILED
            view = _explain("Memory could not be read", error)
        return Page(status, self._render(visit, view))

    def _find(self, where: Target) -> ShowPage:
        show = PAGES.get(where.page)
        if show is None:
            raise Rejected("page", f"there is no page {where.page[:40]!r}")
        return show

    def _render(self, visit: Visit, view: PageView) -> str:
        page = visit.where.page
        sections = SECTIONS
        if visit.is_static:
            sections = tuple(one for one in SECTIONS if one[0] != "search")
        return render(
            view.template,
            {
                **view.values,
                "visit": visit,
                "link": visit.link,
                "scope": visit.inspection.scope,
                "title": view.title,
                "up": visit.address(view.up) if view.up else None,
                "command": visit.command(*view.command)
                if view.command
                else "",
                "sections": sections,
                "here": _SECTION_OF.get(page, page),
                "assets": self._assets,
                "version": __version__,
            },
        )


def _explain(title: str, error: VarveError) -> PageView:
    return PageView(
        "problem.html", title, {"reason": str(error)}, up=target("timeline")
    )
