"""The ports to user profiles, and the models that rerank texts and find entities."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from varve.domain.identity import Scope
from varve.domain.profile import ProfileEntry


class ProfileReader(Protocol):
    """Reader of the statements that users made about themselves."""

    def entries(self, scope: Scope, user_id: str) -> list[ProfileEntry]:
        """Return all statements about the user, ordered by event time.

        Raises Rejected: `user_id` is not valid.
        """

    def users(self, scope: Scope) -> list[str]:
        """Return the ids of users with at least one statement, sorted. Raises Retryable."""


class ProfileWriter(Protocol):
    """The only way to change profiles; only `usecases/write/write.py` takes one."""

    def apply(
        self, scope: Scope, user_id: str, entries: Sequence[ProfileEntry]
    ) -> int:
        """Merge the statements in and return how many of them were new.

        Raises Retryable, Rejected.
        """

    def erase(self, scope: Scope, entry_ids: Iterable[str]) -> int:
        """Delete statements from all profiles of the agent; return how many were deleted.

        Raises Retryable.
        """


class Reranker(Protocol):
    """A model that scores texts by how well they answer a question."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, higher is better, on the model's own scale.

        Raises Retryable (no answer in time), Rejected, Misconfigured.
        """


class EntityFinder(Protocol):
    """A model that lists the persons and things that a text names."""

    def names(self, text: str) -> list[str]:
        """Return the names as the text spells them.

        Raises Retryable, Rejected, Misconfigured.
        """
