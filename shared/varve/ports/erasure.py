"""What erasure and its proof need from the outside."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from varve.domain.identity import Scope
from varve.domain.record import StoreName


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a store holds: every row of every version that can be opened, as text, and what it should not.

    `hidden_rows` are deleted and still there, `stray_files` are named by no version.
    """

    texts: Iterable[str] = ()
    versions: int = 0
    hidden_rows: int = 0
    stray_files: int = 0


class StoreInspector(Protocol):
    """Reads what is stored as whoever found the bytes could."""

    def forms(self, data: bytes) -> Iterable[str]:
        """An object's bytes as text in each form they have: as they are, unpacked, decoded."""

    def inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        """One grain's store, read afresh. Raises Retryable."""
