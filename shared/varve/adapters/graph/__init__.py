"""Triples in Parquet and DuckDB."""
