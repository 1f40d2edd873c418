"""What profiles and the context need from the outside."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from varve.domain.identity import Scope
from varve.domain.profile import ProfileEntry


class ProfileReader(Protocol):
    """What users said of themselves."""

    def entries(self, scope: Scope, user_id: str) -> list[ProfileEntry]:
        """All statements about the user, in order of the times they speak of. Raises Rejected: no such id."""

    def users(self, scope: Scope) -> list[str]:
        """The ids of the users of whom there are any, in order. Raises Retryable."""


class ProfileWriter(Protocol):
    """The only way to change profiles; only `usecases/write.py` takes one."""

    def apply(self, scope: Scope, user_id: str, entries: Sequence[ProfileEntry]) -> int:
        """Merge the statements in; the number of those that were new. Raises Retryable, Rejected."""

    def erase(self, scope: Scope, entry_ids: Iterable[str]) -> int:
        """Take statements out of all profiles of the agent; how many there were. Raises Retryable."""


class Reranker(Protocol):
    """Orders texts by how well they answer a question."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, the higher the better, of whatever scale the model has.

        Raises Retryable (no answer in time), Rejected, Misconfigured.
        """


class EntityFinder(Protocol):
    """Names the persons and things that a text speaks of."""

    def names(self, text: str) -> list[str]:
        """The names as the text has them. Raises Retryable, Rejected, Misconfigured."""
