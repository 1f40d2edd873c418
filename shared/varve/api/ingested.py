"""The result of `ingest`, as a program reads it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from varve.usecases.ingest import IngestOutcome

if TYPE_CHECKING:
    from varve.usecases.extract import ExtractOutcome


@dataclass(frozen=True, slots=True)
class Ingested:
    """The counts of `ingest`: accepted and, if no queue is configured, stored."""

    accepted: IngestOutcome
    stored: "ExtractOutcome | None"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        answer = {**self.accepted.to_dict(), "stored": None}
        if self.stored is None:
            return answer
        stored = {
            "messages": self.stored.messages,
            "turns": self.stored.turns,
            "facts": self.stored.facts,
            "tripleOperations": self.stored.operations,
            "ignored": self.stored.ignored,
            "forgotten": self.stored.forgotten,
        }
        return {**answer, "stored": stored}
