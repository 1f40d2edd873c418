"""Analytics: an agent's memory as tables, queried with SQL or published as Parquet."""
