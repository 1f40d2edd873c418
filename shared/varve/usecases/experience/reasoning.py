"""A model that decides the rounds of a trial of memories."""

from collections.abc import Sequence

from varve.domain.errors import Rejected
from varve.domain.experience.rows import normalize
from varve.domain.trial.rounds import Returned
from varve.ports.models import LLM
from varve.prompts.experience import CHOOSE, ChoiceReply, choice_text


class ModelReasoner:
    """Decides the rounds of a trial with a model, in the same way for every memory."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def __call__(
        self, situation: str, candidates: Sequence[str], returned: Returned
    ) -> str:
        """Return the model's choice; of a reply that is none, the first candidate.

        Raises Retryable, Misconfigured.
        """
        texts = [(shown.text, shown.score) for shown in returned.shown]
        asked = choice_text(situation, candidates, texts)
        try:
            reply = self._llm.complete(CHOOSE, asked, ChoiceReply)
        except Rejected:
            return candidates[0]
        chosen = normalize(reply.choice)
        named = [one for one in candidates if normalize(one) == chosen]
        return named[0] if named else candidates[0]
