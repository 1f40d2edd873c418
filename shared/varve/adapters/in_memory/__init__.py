"""In-memory twins of the ports, for tests and for trying the library without files."""

from varve.adapters.in_memory.graph import InMemoryGraph
from varve.adapters.in_memory.objects import InMemoryObjects
from varve.adapters.in_memory.queues import (
    InMemoryDeadLetterBox,
    InMemoryDeadLetters,
)
from varve.adapters.in_memory.records import InMemoryRecords

__all__ = [
    "InMemoryDeadLetterBox",
    "InMemoryDeadLetters",
    "InMemoryGraph",
    "InMemoryObjects",
    "InMemoryRecords",
]
