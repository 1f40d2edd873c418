"""The tables of analytics in DuckDB files and in Parquet."""
