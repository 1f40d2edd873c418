"""Caches over LanceDB tables: all that knows Lance's files.

Implements `MemoryReader` (`ports/records.py`) and `StoreInspector` (`ports/erasure.py`).
"""
