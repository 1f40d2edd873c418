"""The port that the erasure proof reads stored bytes through."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from varve.domain.identity import Scope
from varve.domain.record import StoreName


@dataclass(frozen=True, slots=True)
class Inspected:
    """The content of a store, and rows and files that should be gone.

    `texts` has every row of every version that can be opened, as text. `hidden_rows`
    counts rows that are deleted but still in a file; `stray_files` counts files that no
    version refers to.
    """

    texts: Iterable[str] = ()
    versions: int = 0
    hidden_rows: int = 0
    stray_files: int = 0


class StoreInspector(Protocol):
    """Reader of the stored bytes, as an intruder with those bytes could read them."""

    def forms(self, data: bytes) -> Iterable[str]:
        """Return an object's bytes as text: unchanged, decompressed and decoded."""

    def inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        """Read one grain's store without any cache. Raises Retryable."""
