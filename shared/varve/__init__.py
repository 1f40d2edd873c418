"""Varve: long-term memory for AI agents, in dated layers, in its owner's account."""

from varve.api.async_memory import AsyncMemory
from varve.api.memory import Memory
from varve.domain.conversation import Conversation, Message
from varve.domain.errors import Misconfigured, Rejected, Retryable, VarveError
from varve.domain.search.answer import SearchResponse

__version__ = "0.1.0"

__all__ = [
    "AsyncMemory",
    "Conversation",
    "Memory",
    "Message",
    "Misconfigured",
    "Rejected",
    "Retryable",
    "SearchResponse",
    "VarveError",
    "__version__",
]
