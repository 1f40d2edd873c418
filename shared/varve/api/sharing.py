"""What an agent shares with other agents of its workspace, as a program sets it."""

from collections.abc import Sequence

from varve.api.arguments import checks_arguments
from varve.domain.grants import Grant
from varve.domain.identity import Scope
from varve.domain.search.query import MemoryTypeName
from varve.usecases import sharing
from varve.usecases.sharing import Shares
from varve.wiring.sessions import Sessions


@checks_arguments
class Share:
    """The grants of one agent: which other agents may read which of its records.

    A grant allows reading, never writing. It holds for the next search, and so does its
    revocation.

    >>> memory.share.grant("support-2", types=["fact", "summary"])
    >>> memory.share.revoke("support-2")
    """

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self._scope = scope

    def grant(
        self,
        agent: str,
        *,
        types: Sequence[MemoryTypeName],
        users: Sequence[str] | None = None,
    ) -> Grant:
        """Let another agent of the workspace read records of these types.

        `users` limits it to the records of these users (None: all records). A later grant
        to the same agent replaces the earlier one. Raises Rejected: names the field;
        Retryable.
        """
        with self._sessions.open_owner(self._scope) as session:
            return sharing.grant(session, agent, types, users)

    def revoke(self, agent: str) -> bool:
        """Take back what an agent may read; return whether it might read anything.

        Raises Rejected: not a valid id; Retryable.
        """
        with self._sessions.open_owner(self._scope) as session:
            return sharing.revoke(session, agent)

    def list(self) -> Shares:
        """Return the grants that this agent made and received. Raises Retryable."""
        with self._sessions.open_owner(self._scope) as session:
            return sharing.list_shares(session)
