"""The agents of a workspace, with what each remembers."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.usecases.inspection.people import list_users
from varve.usecases.session import Session

_PLACES = ("vectordb", "graphs", "timeline")


@dataclass(frozen=True, slots=True)
class AgentShare:
    """One agent's memory: its records, users, newest event, and size in bytes.

    `users` counts the user ids of its records. `newest` is None without records.
    """

    agent: str
    records: int
    users: int
    newest: datetime | None
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "agentId": self.agent,
            "records": self.records,
            "users": self.users,
            "newest": iso(self.newest) if self.newest else None,
            "bytes": self.bytes,
        }


def list_agents(session: Session) -> list[AgentShare]:
    """Return the workspace's agents that have stored anything, by name.

    The session must be the owner's. Raises Retryable.
    """
    return [_read_share(session, name) for name in list_agent_names(session)]


def list_agent_names(session: Session) -> list[str]:
    """Return the names of the workspace's agents that have stored anything.

    The session must be the owner's. Raises Retryable.
    """
    workspace = session.scope.workspace
    names: set[str] = set()
    for place in _PLACES:
        names.update(session.objects.folders(f"{place}/{workspace}"))
    return sorted(names)


def list_workspaces(session: Session) -> list[str]:
    """Return the names of the store's workspaces that have stored anything.

    The session must be the owner's of the whole store. Raises Misconfigured, Retryable.
    """
    names: set[str] = set()
    for place in _PLACES:
        names.update(session.objects.folders(place))
    return sorted(names)


def _read_share(session: Session, agent: str) -> AgentShare:
    scope = Scope(session.scope.workspace, agent)
    users = list_users(replace(session, scope=scope))
    size = 0
    for place in _PLACES:
        for info in session.objects.list(f"{place}/{scope}"):
            size += info.size
    return AgentShare(
        agent,
        records=sum(user.records + user.summaries for user in users),
        users=sum(user.user_id is not None for user in users),
        newest=max((user.newest for user in users), default=None),
        bytes=size,
    )
