"""The objects that hold costs: one for each agent and calendar month, and sums beside them.

`costs/{workspace}/{agent}/{month}.json` has an agent's counts by day and verb. The same
under `costs/{workspace}/-/` has the workspace's counts of models alone, for its budget,
and under `costs/-/` the work that is no agent's. None holds content or user ids.
"""

from datetime import timedelta

from varve.domain.calendar import day_of
from varve.domain.costs import Days, month_of_day, parse_days
from varve.domain.identity import Scope
from varve.ports.objects import Objects
from varve.usecases.session import Session

WHOLE = "-"
"""The folder of what is no single agent's; ids begin with a letter or a digit."""


def month_key(scope: Scope, month: str) -> str:
    """Return the key of an agent's month."""
    return f"costs/{scope}/{month}.json"


def workspace_key(workspace: str, month: str) -> str:
    """Return the key of a workspace's month."""
    return f"costs/{workspace}/{WHOLE}/{month}.json"


def store_key(month: str) -> str:
    """Return the key of a month of the work that is no agent's."""
    return f"costs/{WHOLE}/{month}.json"


def months_in(objects: Objects, folder: str) -> dict[str, str]:
    """Return the keys in a folder by their months, oldest first."""
    found: dict[str, str] = {}
    for info in objects.list(folder):
        month = info.key.rpartition("/")[2].removesuffix(".json")
        found[month] = info.key
    return found


def read_days(objects: Objects, key: str) -> Days:
    """Return the counts of a month's object by day and verb; none without the object."""
    stored = objects.get(key)
    return {} if stored is None else parse_days(stored.data, key)


def expire_costs(session: Session) -> None:
    """Delete the agent's and the workspace's months that are kept no longer."""
    kept = timedelta(days=session.config.costs.keep_days)
    oldest = month_of_day(day_of(session.now - kept, session.zone))
    expired: list[str] = []
    own = f"costs/{session.scope}"
    whole = f"costs/{session.scope.workspace}/{WHOLE}"
    for folder in (own, whole):
        for month, key in months_in(session.objects, folder).items():
            if month < oldest:
                expired.append(key)
    if expired:
        session.objects.delete(expired)
