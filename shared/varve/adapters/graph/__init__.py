"""The ports `GraphReader`, `GraphQueries`, `GraphView` and `GraphWriter`.

Triples are stored as Parquet and queried with DuckDB.
"""
