"""The record ports over LanceDB tables, in a directory or on S3, as LanceDB offers them.

Implements `MemoryWriter` (`ports/records.py`), `StoreReader` and `VectorWriter`
(`ports/transfer.py`), and what `lance_cache` needs to implement `MemoryReader`.
LanceDB is imported here first, without its REST client.
"""

from varve.adapters.lance.lean_import import without_rest_client

with without_rest_client():
    import lancedb as lancedb
