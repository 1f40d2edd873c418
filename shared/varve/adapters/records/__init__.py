"""The record ports over LanceDB tables, in a directory or on S3.

Implements `MemoryReader`, `MemoryWriter` (`ports/records.py`), `StoreReader`,
`VectorWriter` (`ports/transfer.py`) and `StoreInspector` (`ports/erasure.py`).
"""
