"""A memory measured and tuned on its owner's own questions."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from varve.api.arguments import checks_arguments
from varve.api.records import RecordVerbs
from varve.domain.evaluation import Figures, LabelledQuestion

if TYPE_CHECKING:
    from varve.domain.tuning import Tuning


@checks_arguments
class EvaluationVerbs(RecordVerbs):
    """Figures of one agent's search over questions with known answers."""

    def evaluate_retrieval(
        self,
        questions: Sequence[LabelledQuestion],
        *,
        now: datetime | None = None,
    ) -> dict[str, Figures]:
        """Ask questions with known answers; return mean figures by memory type.

        `withoutSummaries` searches facts and turns alone. Raises Misconfigured, Retryable.
        """
        from varve.usecases.evaluate import evaluate_retrieval

        with self.sessions.open(self.scope, now) as session:
            return evaluate_retrieval(session, questions)

    def find_unknown_messages(
        self,
        questions: Sequence[LabelledQuestion],
        *,
        now: datetime | None = None,
    ) -> list[str]:
        """Return the questions' message ids that no record of this memory comes from.

        A question whose ids are all unknown is answered by nothing. Raises Retryable.
        """
        from varve.usecases.evaluate import find_unknown_messages

        with self.sessions.open(self.scope, now) as session:
            return find_unknown_messages(session, questions)

    def tune_retrieval(
        self,
        questions: Sequence[LabelledQuestion],
        *,
        now: datetime | None = None,
    ) -> "Tuning":
        """Fit half-life and weights on questions with known answers; nothing is stored.

        `proposed` is worth it on questions that the fit did not see, else None. Raises
        Rejected: there are fewer than 50 questions; Misconfigured, Retryable.
        """
        from varve.usecases.evaluate import tune_retrieval

        with self.sessions.open(self.scope, now) as session:
            return tune_retrieval(session, questions)
