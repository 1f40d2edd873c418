"""How an agent's work ended, as a program says it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime

from varve.api.arguments import checks_arguments
from varve.domain.calendar import aware
from varve.domain.experience.rows import Report
from varve.usecases.experience.outcomes import report_outcome
from varve.usecases.session import Session


@checks_arguments
class OutcomeRecorder(ABC):
    """Takes in outcomes: a memory, and its experience."""

    def record_outcome(
        self,
        target: str,
        outcome: str,
        *,
        correction: str | None = None,
        decision: str | None = None,
        resolution: str | None = None,
        used: Sequence[str] = (),
        user: str | None = None,
        at: datetime | None = None,
    ) -> Report:
        """Say how an episode ended, by its id, or the last one of a conversation, by that id.

        `correction` names the error, `decision` the action taken, `resolution` the right
        action, `used` the ids that the agent had recalled. The same
        statement with the same `at` counts once. Raises Rejected: names the field.
        """
        then = None if at is None else aware(at, "at")
        self._write_reads()
        with self._open() as session:
            return report_outcome(
                session,
                target,
                outcome,
                correction=correction,
                decision=decision,
                resolution=resolution,
                used=used,
                user=user,
                at=then,
            )

    @abstractmethod
    def _open(self, now: datetime | None = None) -> Session:
        """Open a session of the agent."""

    @abstractmethod
    def _write_reads(self) -> None:
        """Write the reads of experience that are counted in process."""
