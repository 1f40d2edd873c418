"""Share: an agent's owner lets other agents of the workspace read parts of its memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from varve.domain.damage import intact
from varve.domain.errors import Contended
from varve.domain.grants import Grant, Grants, build_grant
from varve.domain.identity import Scope, path_id
from varve.ports.objects import Objects, StoredObject
from varve.usecases.session import Session
from varve.usecases.write.contention import until_uncontended

_FOLDER = "grants"


@dataclass(frozen=True, slots=True)
class Shares:
    """The grants of an agent: those it made, and those that others made to it."""

    granted: tuple[Grant, ...]
    received: tuple[Grant, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON values."""
        return {
            "granted": [grant.to_dict() for grant in self.granted],
            "received": [grant.to_dict() for grant in self.received],
        }


def grants_key(scope: Scope) -> str:
    """Return the key of the object with an agent's grants."""
    return f"{_FOLDER}/{scope}/grants.json"


def grant(
    session: Session,
    to: str,
    types: Sequence[str],
    users: Sequence[str] | None = None,
) -> Grant:
    """Let the agent `to` read records of these types; replace an earlier grant to it.

    `users` limits it to the records of these users. Raises Rejected: names the field;
    Retryable.
    """
    made = build_grant(session.scope, to, types, users, session.now)
    _change(session, lambda known: known.with_grant(made))
    return made


def revoke(session: Session, to: str) -> bool:
    """Take back what the agent `to` may read; return whether there was a grant.

    It holds for every search that begins later. Raises Rejected: not a valid id; Retryable.
    """
    path_id(to, "to")
    return _change(session, lambda known: known.without(to))


def revoke_user(session: Session, user_id: str) -> bool:
    """Take a user out of every grant of the agent; return whether any named that user.

    A grant that names no other user is removed. Raises Retryable.
    """
    return _change(session, lambda known: known.without_user(user_id))


def list_shares(session: Session) -> Shares:
    """Return the grants that the agent made and received, ordered by agent. Raises Retryable."""
    scope = session.scope
    granted = _read(scope, session.objects).grants
    received: list[Grant] = []
    for agent in session.objects.folders(f"{_FOLDER}/{scope.workspace}"):
        found = read_grant(
            Scope(scope.workspace, agent), scope.agent, session.objects
        )
        if found is not None:
            received.append(found)
    return Shares(
        tuple(sorted(granted, key=lambda one: one.to)), tuple(received)
    )


def read_grant(scope: Scope, to: str, objects: Objects) -> Grant | None:
    """Return what the agent `to` may read of another agent now, with one request.

    None: nothing, or there is no such agent. Raises Damaged: the object is not readable;
    Retryable.
    """
    return _read(scope, objects).find(to)


def _read(scope: Scope, objects: Objects) -> Grants:
    return _decode(scope, objects.get(grants_key(scope)))


def _decode(scope: Scope, stored: StoredObject | None) -> Grants:
    """Return the stored grants; without an object, or one of another agent, none.

    A file system that ignores case takes an agent's folder for another one's.
    """
    nothing = Grants(agent=scope.agent)
    if stored is None:
        return nothing
    with intact(grants_key(scope)):
        grants = Grants.parse(stored.data)
    return grants if grants.agent == scope.agent else nothing


def _change(session: Session, change: Callable[[Grants], Grants]) -> bool:
    """Apply a change to the agent's grants; return whether it changed any."""

    def attempt() -> bool:
        key = grants_key(session.scope)
        stored = session.objects.get(key)
        known = _decode(session.scope, stored)
        changed = change(known)
        if changed == known:
            return False
        etag = stored.etag if stored else None
        if not session.objects.put_if(key, changed.encode(), etag):
            raise Contended(
                f"grants of {session.scope}: another process changed them"
            )
        return True

    return until_uncontended(attempt)
