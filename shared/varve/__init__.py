"""Varve: long-term memory for AI agents, in dated layers, in its owner's account."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from varve.api.async_memory import AsyncMemory
    from varve.api.memory import Memory
    from varve.domain.conversation import Conversation, Message
    from varve.domain.errors import (
        Misconfigured,
        Rejected,
        Retryable,
        VarveError,
    )
    from varve.domain.notes import NoteConflict
    from varve.domain.search.answer import SearchResponse

__version__ = "0.1.0"

__all__ = [
    "AsyncMemory",
    "Conversation",
    "Memory",
    "Message",
    "Misconfigured",
    "NoteConflict",
    "Rejected",
    "Retryable",
    "SearchResponse",
    "VarveError",
    "__version__",
]

_HOMES = {
    "AsyncMemory": "varve.api.async_memory",
    "Conversation": "varve.domain.conversation",
    "Memory": "varve.api.memory",
    "Message": "varve.domain.conversation",
    "Misconfigured": "varve.domain.errors",
    "NoteConflict": "varve.domain.notes",
    "Rejected": "varve.domain.errors",
    "Retryable": "varve.domain.errors",
    "SearchResponse": "varve.domain.search.answer",
    "VarveError": "varve.domain.errors",
}
"""The module of each public name. It is imported when the name is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
