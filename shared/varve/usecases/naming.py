"""Names the entities of a prompt with a chat model, for prompts that do not spell them as the graph does."""

from varve.ports.models import LLM
from varve.prompts.entities import SYSTEM, EntitiesReply, user_text

MAX_NAMES = 20
MAX_NAME_CHARACTERS = 200


class ModelEntityFinder:
    """The EntityFinder port over a chat model."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def names(self, text: str) -> list[str]:
        """The names as the model wrote them. Raises Retryable, Rejected, Misconfigured."""
        reply = self._llm.complete(SYSTEM, user_text(text), EntitiesReply)
        return [name[:MAX_NAME_CHARACTERS] for name in reply.names[:MAX_NAMES]]
