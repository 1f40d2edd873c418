"""Find the entities that a prompt names with a chat model.

It helps if the prompt spells them otherwise than the graph does.
"""

from varve.ports.models import LLM
from varve.prompts.entities import SYSTEM, EntitiesReply, user_text

MAX_NAMES = 20
MAX_NAME_CHARACTERS = 200


class ModelEntityFinder:
    """The EntityFinder port over a chat model."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def names(self, text: str) -> list[str]:
        """Return the names as the model wrote them. Raises Retryable, Rejected, Misconfigured."""
        reply = self._llm.complete(SYSTEM, user_text(text), EntitiesReply)
        return [name[:MAX_NAME_CHARACTERS] for name in reply.names[:MAX_NAMES]]
