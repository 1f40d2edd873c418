"""The users that memory knows, and one of them."""

from varve.domain.calendar import iso
from varve.domain.errors import Rejected
from varve.domain.search.answer import Result
from varve.look.links import target
from varve.look.visit import SHOWN, PageView, Visit
from varve.usecases.inspection.people import UserShare

NO_USER = "-"
"""The key of messages that have no user; no user id is only a hyphen by convention."""


def list_users(visit: Visit) -> PageView:
    """List the users whose records memory holds."""
    part = visit.where.option("q")
    shares = visit.inspection.users()
    if part:
        wanted = part.casefold()
        shares = [
            one for one in shares if wanted in (one.user_id or "").casefold()
        ]
    start = visit.where.number("start")
    values = {
        "part": part,
        "shares": shares[start : start + SHOWN],
        "total": len(shares),
        "start": start,
        "shown": SHOWN,
        "no_user": NO_USER,
    }
    return PageView("users.html", "Users", values, up=target("timeline"))


def show_user(visit: Visit) -> PageView:
    """Show a user's profile and newest records. Raises Rejected: there is no such user."""
    key = visit.key()
    user_id = None if key == NO_USER else key
    share = _find_share(visit, user_id)
    profile = visit.memory.profile(user_id=user_id)
    if share is None and not profile["history"]:
        raise Rejected("user", f"memory holds nothing of {key[:80]!r}")
    now = iso(visit.inspection.now)
    values = {
        "user_id": user_id,
        "share": share,
        "profile": profile,
        "past": [one for one in profile["history"] if one["since"] <= now],
        "newest": _read_newest(visit, user_id),
    }
    command = ("forget", "--user", user_id, "--dry-run") if user_id else ()
    title = user_id or "Without a user"
    return PageView(
        "user.html", title, values, up=target("users"), command=command
    )


def _find_share(visit: Visit, user_id: str | None) -> UserShare | None:
    for share in visit.inspection.users():
        if share.user_id == user_id:
            return share
    return None


def _read_newest(visit: Visit, user_id: str | None) -> list[Result]:
    if user_id is None:
        return []
    return visit.memory.search(user_id=user_id, max_results=SHOWN).results
