"""Caches over LanceDB tables: all that knows Lance's files.

Implements `MemoryReader` (`ports/records.py`) and `StoreInspector` (`ports/erasure.py`).
"""

from varve.adapters import (
    lance as lance,  # imports LanceDB before a module here does
)
