"""Grants: what one agent of a workspace may read of another agent's memory."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Self, get_args

from pydantic import Field, ValidationError

from varve.domain.calendar import Grain
from varve.domain.conversation import Instant, PathId, Reference
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import Store, StoreName
from varve.domain.search.query import EXPERIENCE_TYPES, Filter, MemoryTypeName
from varve.domain.validation import StrictCamelModel, rejected

SHARED_TYPES: tuple[MemoryTypeName, ...] = get_args(MemoryTypeName)
"""The memory types that an agent can share: those that a search finds."""
_SUMMED_UP = frozenset({"summary"})
_KEPT: Mapping[StoreName, frozenset[str]] = {
    Grain.WORKING: frozenset({"fact", "turn"}),
    Store.EXPERIENCE: EXPERIENCE_TYPES,
    Store.NOTES: frozenset({"note"}),
}
"""The memory types of the stores that do not hold summaries."""
MAX_USERS = 1_000
"""The most users that one grant names."""
MAX_GRANTS = 1_000
"""The most agents to which one agent grants reading."""


class Grant(StrictCamelModel):
    """What one agent may read of another: records of these types, and never writing.

    `agent` grants reading to the agent `to`. `users` are the users whose records it may
    read; None: those of all users and those without a user. `granted_at` is when the
    grant was made or last changed.
    """

    agent: PathId
    to: PathId
    types: Annotated[tuple[MemoryTypeName, ...], Field(min_length=1)]
    users: Annotated[
        tuple[Reference, ...] | None, Field(min_length=1, max_length=MAX_USERS)
    ] = None
    granted_at: Instant

    def to_dict(self) -> dict[str, Any]:
        """Return the grant as JSON values."""
        return self.model_dump(mode="json", by_alias=True)

    def find_types_in(self, store: StoreName) -> tuple[str, ...]:
        """Return the granted memory types of which a store has records."""
        kept = _KEPT.get(store, _SUMMED_UP)
        return tuple(name for name in self.types if name in kept)

    def narrow(self, where: Filter, grain: StoreName) -> Filter | None:
        """Return the filter limited to the granted records of a grain; None: it has none."""
        types = self.find_types_in(grain)
        asked = where.memory_types
        if asked:
            types = tuple(name for name in types if name in asked)
        if not types or not self.includes(where.user_id):
            return None
        users = self.users if where.user_id is None else None
        return replace(where, memory_types=types, users=users)

    def find_experience(self, asked: Collection[str]) -> frozenset[str]:
        """Return the granted types of experience among those asked for."""
        return EXPERIENCE_TYPES & set(self.types) & set(asked)

    def includes(self, user_id: str | None) -> bool:
        """Return whether records of this user may be read; None: of any user."""
        return user_id is None or self.users is None or user_id in self.users

    def includes_all(self, user_ids: Collection[str | None]) -> bool:
        """Return whether what belongs to all of these users may be read.

        What belongs to no user may be read only if all users' records may.
        """
        if self.users is None:
            return True
        return bool(user_ids) and set(user_ids) <= set(self.users)

    def without_user(self, user_id: str) -> "Grant | None":
        """Return the grant without this user; None: it names no other."""
        if self.users is None or user_id not in self.users:
            return self
        users = tuple(one for one in self.users if one != user_id)
        return self.model_copy(update={"users": users}) if users else None


class Grants(StrictCamelModel):
    """The object in which one agent keeps its grants, one for each agent that may read."""

    agent: PathId
    grants: Annotated[tuple[Grant, ...], Field(max_length=MAX_GRANTS)] = ()

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Return the grants from their stored JSON. Raises ValueError, Rejected."""
        return cls.model_validate(json.loads(data))

    def encode(self) -> bytes:
        """Return the grants as the JSON to store."""
        return self.model_dump_json(by_alias=True, indent=2).encode()

    def find(self, to: str) -> Grant | None:
        """Return the grant to this agent; None: there is none."""
        return next((one for one in self.grants if one.to == to), None)

    def with_grant(self, grant: Grant) -> "Grants":
        """Return these grants with one added, or replaced. Raises Rejected: too many."""
        others = self.without(grant.to).grants
        if len(others) >= MAX_GRANTS:
            raise Rejected(
                "to", f"would be one more than the limit, {MAX_GRANTS:,}"
            )
        return Grants(agent=self.agent, grants=(*others, grant))

    def without(self, to: str) -> "Grants":
        """Return these grants without the one to this agent."""
        others = tuple(one for one in self.grants if one.to != to)
        return Grants(agent=self.agent, grants=others)

    def without_user(self, user_id: str) -> "Grants":
        """Return these grants without this user, and without those that name no other."""
        kept = (one.without_user(user_id) for one in self.grants)
        return Grants(
            agent=self.agent, grants=tuple(one for one in kept if one)
        )


def build_grant(
    scope: Scope,
    to: str,
    types: Sequence[str],
    users: Sequence[str] | None,
    now: datetime,
) -> Grant:
    """Return a grant of one agent to another, made at `now`.

    Raises Rejected: names the field; the agent grants reading to itself.
    """
    values = {
        "agent": scope.agent,
        "to": to,
        "types": types,
        "users": users,
        "granted_at": now,
    }
    try:
        grant = Grant.model_validate(values)
    except ValidationError as error:
        raise rejected(error) from error
    if grant.to == scope.agent:
        raise Rejected("to", "is this agent itself")
    return grant
