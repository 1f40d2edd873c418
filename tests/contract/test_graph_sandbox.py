"""Untrusted SQL: allowed queries, refused access and enforced limits."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.contract.test_graph import SCOPE, STORY
from tests.support.builders import attempt
from varve.adapters.graph import query_process as graph_query_process
from varve.adapters.graph.parquet import ParquetGraph, change
from varve.adapters.graph.sandbox import MAX_SQL, query
from varve.adapters.graph.table import GraphTable
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.errors import Rejected
from varve.domain.graph import QueryLimits, QueryResult

Connection = duckdb.DuckDBPyConnection

AMPLE = QueryLimits(seconds=60)
SHORT = QueryLimits(seconds=1)
TIGHT = QueryLimits(seconds=60, memory=100_000_000)
SMALL = QueryLimits(seconds=60, rows=100, bytes=20_000)
UNTIL_STOPPED = "took longer than"
TOO_MUCH = "needs more than 100 MB of memory"


@pytest.fixture(scope="module")
def triples() -> bytes:
    table = GraphTable()
    change(table, STORY)
    return table.encode()


def rows(triples: bytes, sql: str) -> list[dict[str, Any]]:
    return query(triples, sql, AMPLE).to_dicts()


@pytest.fixture(scope="module")
def guarded() -> Iterator[Connection]:
    """DuckDB set up in this process as in the sandbox, but without its limits."""
    connection = duckdb.connect(config=graph_query_process.DUCKDB_CONFIG)
    connection.execute("create table facts (id varchar, label varchar)")
    graph_query_process.lock(connection)
    yield connection
    connection.close()


def guard(connection: Connection, sql: str) -> str:
    """Return the reason why the check refuses this query."""
    with pytest.raises(
        (graph_query_process.QueryRefused, duckdb.Error)
    ) as refused:
        graph_query_process.check(connection, sql, False)
    return str(refused.value)


def refusal(triples: bytes, sql: str, limits: QueryLimits = AMPLE) -> str:
    with pytest.raises(Rejected) as refused:
        query(triples, sql, limits)
    assert refused.value.field == "sql"
    assert len(refused.value.reason) < 400
    return refused.value.reason


class TestAllowedQueries:
    def test_the_columns_are_those_of_the_file(self, triples: bytes) -> None:
        described = rows(triples, "describe facts")
        assert [(c["column_name"], c["column_type"]) for c in described] == [
            ("id", "VARCHAR"), ("source_id", "VARCHAR"), ("target_id", "VARCHAR"), ("label", "VARCHAR"),
            ("properties", "JSON"), ("valid_at", "TIMESTAMP WITH TIME ZONE"),
            ("invalid_at", "TIMESTAMP WITH TIME ZONE"), ("created_at", "TIMESTAMP WITH TIME ZONE"),
            ("expired_at", "TIMESTAMP WITH TIME ZONE"),
        ]  # fmt: skip

    def test_rows_come_as_json_values(self, triples: bytes) -> None:
        (row,) = rows(triples, "select * from facts where target_id = 'porto'")
        assert (row["source_id"], row["label"], row["invalid_at"]) == (
            "dana",
            "lives_in",
            None,
        )
        assert row["valid_at"] == "2026-03-22T09:15:00Z"
        assert row["properties"]["userId"] == "u-1"
        odd = "select 1.5::decimal(4,2) d, 'nan'::double n, '\\x01'::blob b, {'a': [date '2026-01-02']} s, 2 d"  # noqa: E501
        assert rows(triples, odd) == [
            {
                "d": 1.5,
                "n": "nan",
                "b": "01",
                "s": {"a": ["2026-01-02"]},
                "d_2": 2,
            }
        ]

    def test_intervals_keep_their_months_wherever_they_stand(
        self, triples: bytes
    ) -> None:
        (row,) = rows(
            triples,
            "select interval '14 months 3 days' as span, [interval 2 months] as spans,"
            " {'a': interval 1 year} as held, 7 as n -- at the end\n;",
        )
        assert row == {
            "span": "1 year 2 months 3 days",
            "spans": ["2 months"],
            "held": {"a": "1 year"},
            "n": 7,
        }

    def test_every_answer_is_valid_json(self, triples: bytes) -> None:
        (row,) = rows(
            triples,
            """select 'Infinity'::double as d, '{"a": [1e999, -1e999]}'::json as j""",
        )
        assert row == {"d": "inf", "j": {"a": ["inf", "-inf"]}}
        json.dumps(row, allow_nan=False)

    @pytest.mark.parametrize("depth", [300, 990, 100_000])
    def test_deep_json_is_refused_as_deep_json(
        self, triples: bytes, depth: int
    ) -> None:
        sql = f"select (repeat('[', {depth}) || repeat(']', {depth}))::json as deep"
        assert "JSON nested more than 200 levels deep" in refusal(triples, sql)

    def test_json_functions_and_recursion_are_allowed(
        self, triples: bytes
    ) -> None:
        evidence = (
            "select count(*) n from facts, json_each(properties, '$.evidence')"
        )
        assert rows(triples, evidence)[0]["n"] >= len(STORY)
        reach = (
            "with recursive r(e) as (select 'dana' union select target_id from facts, r where source_id = e) "
            "select count(*) n from r -- and a comment; with a semicolon"
        )
        assert rows(triples, reach)[0]["n"] > 5

    def test_what_was_believed_and_what_held_are_told_apart_in_sql(
        self, triples: bytes
    ) -> None:
        held = (
            "select target_id from facts where source_id = 'dana' and label = 'lives_in' "
            "and valid_at <= '2026-03-15' and (invalid_at is null or invalid_at > '2026-03-15')"
        )
        assert rows(triples, held) == [{"target_id": "lisbon"}]
        believed = held.replace("valid_at", "created_at").replace(
            "increated_at", "expired_at"
        )
        assert rows(triples, believed) == [{"target_id": "lisbon"}]

    def test_entities_and_aliases_can_be_joined(self, triples: bytes) -> None:
        assert {"id": "dana"} in rows(triples, "from entities")
        assert rows(triples, "from aliases") == []

    def test_a_graph_without_triples_has_no_rows(self) -> None:
        graph = ParquetGraph(InMemoryObjects())
        assert graph.query(
            SCOPE, "select id from facts", AMPLE
        ) == QueryResult(("id",), ())

    def test_without_duckpgq_the_error_names_the_alternatives(
        self, triples: bytes
    ) -> None:
        asked = "from graph_table(facts_graph match (a:entities)-[f:facts]->(b:entities) columns (a.id, b.id))"  # noqa: E501
        assert (
            "duckpgq, which is not installed here; use entity, neighbours and paths"
            in refusal(triples, asked)
        )


CALLS = [
    "read_csv('/etc/passwd')", "read_csv_auto('/etc/passwd')", "read_text('/etc/passwd')",
    "read_blob('/etc/passwd')", "read_json('/etc/passwd')", "read_parquet('/dev/fd/0')",
    "read_duckdb('/tmp/x.db')", "sniff_csv('/etc/passwd')", "glob('/*')", "parquet_metadata('/dev/fd/3')",
    "query('select 1')", "query_table('facts')", "json_execute_serialized_sql('{}')",
    "arrow_scan(1::ubigint, 2::ubigint, 3::ubigint)", "pandas_scan(140000)", "python_map_function(1)",
    "seq_scan('facts')", "duckdb_secrets()", "duckdb_settings()", "which_secret('s3://a', 's3')",
    "enable_logging()", "enable_profiling()", "checkpoint()", "duckdb_logs()", "repeat('x', 9)",
    '"read_text"(\'/etc/passwd\')', "READ_TEXT ( '/etc/passwd' )", "system.main.read_text('/etc/passwd')",
    "create_external_resource('x')",
]  # fmt: skip
ELSEWHERE = [
    "select (select count(*) from {call})",
    "with x as (from {call}) from x",
    "select 1 where exists (select * from facts, lateral (from {call}))",
    "select * from facts where id in (select 'x' from {call}) union all select * from facts",
]
FILES = [
    "from read_csv('/etc/passwd')", "from read_text('/etc/passwd')", "from glob('/*')", "from '/etc/passwd'",
    "from sniff_csv('/etc/passwd')", "copy facts to '/tmp/escaped.csv'", "attach '/tmp/escaped.db'",
    "export database '/tmp/escaped'", "install httpfs", "load httpfs", "from 'https://example.com/x.parquet'",
    "set enable_external_access = true", "set lock_configuration = false", "set memory_limit = '9GB'",
    "set threads = 9", "set temp_directory = '/tmp'", "set disabled_filesystems = ''",
    "from read_duckdb('/tmp/x.db')",
]  # fmt: skip
STATEMENTS = [
    "copy facts to '/tmp/escaped.csv'", "copy (select 1) to '/dev/stdout'", "copy facts from '/etc/passwd'",
    "export database '/tmp/escaped'", "import database '/tmp'", "attach '/tmp/escaped.db'",
    "attach ':memory:' as other", "detach memory", "install httpfs", "load httpfs", "force install json",
    "pragma database_list", "pragma enable_profiling", "set threads = 8", "set enable_external_access = true",
    "set memory_limit = '9GB'", "reset memory_limit", "set variable x = 1", "use memory",
    "create table x (a int)", "create view v as select 1", "create macro m(a) as a",
    "create secret (type s3)",
    "create temp table x as select 1", "drop table facts", "alter table facts add column x int",
    "insert into facts select * from facts", "update facts set label = 'x'", "delete from facts",
    "truncate facts", "call pragma_version()", "explain select 1", "explain analyze select 1", "vacuum",
    "checkpoint", "begin", "commit", "rollback", "prepare p as select 1", "execute p", "deallocate p",
    "pivot facts on label", "comment on table facts is 'x'",
]  # fmt: skip


NAMED_ESCAPES = [
    ("select * from read_csv('/etc/passwd')", "must not call read_csv"),
    ("copy facts to '/tmp/escaped.csv'", "must be a SELECT, not COPY"),
    ("attach '/tmp/escaped.db'", "must be a SELECT, not ATTACH"),
    ("install httpfs", "must be a SELECT"),
    ("load httpfs", "must be a SELECT, not LOAD"),
    ("pragma database_list", "must be a SELECT, not PRAGMA"),
    ("set enable_external_access = true", "must be a SELECT, not SET"),
    ("select * from glob('/*')", "must not call glob"),
    ("select getenv('HOME')", "getenv does not exist"),
    ("select * from '/etc/passwd'", "does not exist"),
    ("select 1; drop table facts", "must be one statement, not 2"),
    ("with x as (delete from facts returning *) select * from x", "read-only"),
    (
        "with x as (insert into facts select * from facts returning *) select * from x",
        "read-only",
    ),
    (
        "with x as (update facts set label = 'x' returning *) select * from x",
        "read-only",
    ),
    ("select $1", "must not have parameters"),
]


class TestRefusedAccess:
    @pytest.mark.parametrize(("sql", "reason"), NAMED_ESCAPES)
    def test_an_escape_is_refused_with_a_reason(
        self, triples: bytes, sql: str, reason: str
    ) -> None:
        assert reason in refusal(triples, sql)

    @pytest.mark.parametrize("call", CALLS)
    def test_functions_that_read_files_memory_or_sql_are_refused_in_from(
        self, guarded: Connection, call: str
    ) -> None:
        assert "must not call" in guard(guarded, f"select * from {call}")

    @pytest.mark.parametrize("place", ELSEWHERE)
    def test_they_are_refused_in_nested_queries_too(
        self, guarded: Connection, place: str
    ) -> None:
        assert "must not call read_text" in guard(
            guarded, place.format(call="read_text('/etc/passwd')")
        )

    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_only_select_runs(
        self, guarded: Connection, statement: str
    ) -> None:
        assert re.search("must be|Error", guard(guarded, statement))

    @pytest.mark.parametrize(
        "hidden",
        ["select 1;\n\n;delete from facts", "select 1; select 2", "/* select */ delete from facts",
         "-- select 1\ndelete from facts", "; select 1; delete from facts",
         "select 1\u00a0;\u2003drop table facts"],
    )  # fmt: skip
    def test_nothing_hides_behind_a_select(
        self, guarded: Connection, hidden: str
    ) -> None:
        guard(guarded, hidden)

    @pytest.mark.parametrize("sql", FILES)
    def test_the_lock_alone_keeps_files_and_settings_closed(
        self, guarded: Connection, sql: str
    ) -> None:
        with pytest.raises(
            duckdb.Error,
            match=r"(?i)permission|disabled|locked|not exist|not found",
        ):
            guarded.execute(sql).fetchall()

    @pytest.mark.parametrize(
        "name",
        ["triples", "guarded", "connection", "sys", "os", "rows", "CALLS"],
    )
    def test_python_variables_are_not_tables(
        self, guarded: Connection, name: str
    ) -> None:
        with pytest.raises(duckdb.CatalogException, match="does not exist"):
            guarded.execute(f"select * from {name}")

    def test_the_process_has_an_empty_environment(
        self, triples: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("VARVE_LEAK", "a-secret-value")
        monkeypatch.setenv("HOME", "/a-secret-value")
        settings = "current_setting('home_directory') h, current_setting('secret_directory') s"
        assert "a-secret-value" not in str(rows(triples, f"select {settings}"))

    def test_the_locks_are_closed_while_the_query_runs(
        self, triples: bytes
    ) -> None:
        names = ["enable_external_access", "lock_configuration", "autoload_known_extensions",
                 "python_enable_replacements", "allow_community_extensions"]  # fmt: skip
        settings = ", ".join(
            f"current_setting('{name}') as {name}" for name in names
        )
        assert list(rows(triples, f"select {settings}")[0].values()) == [
            False,
            True,
            False,
            False,
            False,
        ]

    def test_nothing_is_written_anywhere(
        self, triples: bytes, tmp_path: Path
    ) -> None:
        tempfile.tempdir = str(tmp_path)
        try:
            query(
                triples,
                "select * from range(1000000) t(a) order by hash(a) desc limit 1",
                AMPLE,
            )
        finally:
            tempfile.tempdir = None
        assert list(tmp_path.iterdir()) == []


ENDLESS = [
    "with recursive x(a) as (select 1 union all select a + 1 from x) select count(*) from x",
    "select count(*) from range(1000000000000)",
    "select sum(length(a.id)) from facts a"
    + "".join(f", facts f{n}" for n in range(12)),
    "select levenshtein(repeat('a', 60000), repeat('b', 60000))",
    "select sleep_ms(100000)",
]
GREEDY = [
    "select length(repeat('x', 1000000000))",
    "select length(repeat(repeat('x', 30000), 30000))",
    "select len(list(a)) from range(100000000) t(a)",
    "select len(range(1000000000))",
    "with recursive x(a) as (select repeat('x', 1000) union all select a || a from x) from x",
    "select length(string_agg(a::varchar, ',')) from range(100000000) t(a)",
]


class TestLimits:
    @pytest.mark.parametrize("sql", ENDLESS)
    def test_an_endless_query_is_ended(self, triples: bytes, sql: str) -> None:
        assert UNTIL_STOPPED in refusal(triples, sql, SHORT)

    @pytest.mark.skipif(
        sys.platform != "linux", reason="the memory limit is Linux's"
    )
    @pytest.mark.parametrize("sql", GREEDY)
    def test_a_query_that_takes_all_memory_is_ended(
        self, triples: bytes, sql: str
    ) -> None:
        assert refusal(triples, sql, TIGHT) == TOO_MUCH

    @pytest.mark.parametrize(
        "sql", ["from range(101)", "from facts a, facts b, facts c"]
    )
    def test_more_rows_than_allowed_are_refused(
        self, triples: bytes, sql: str
    ) -> None:
        assert "more than" in refusal(triples, sql, SMALL)
        assert len(query(triples, "from range(100)", SMALL).rows) == 100

    def test_more_bytes_than_allowed_are_refused(self, triples: bytes) -> None:
        assert "gives more than 20,000 bytes" in refusal(
            triples, "select repeat('x', 21000)", SMALL
        )

    @pytest.mark.parametrize(
        "sql",
        ["select " + "1+" * (MAX_SQL // 2) + "1", "select " + "(" * 4000 + "1" + ")" * 4000,
         "select " + "[" * 3000 + "1" + "]" * 3000, "select " + "not " * 4000 + "true",
         " union all ".join(["select 1"] * 900)[: MAX_SQL - 9] + " select 1"],
        ids=["long", "parentheses", "lists", "nots", "unions"],
    )  # fmt: skip
    def test_monstrous_sql_is_refused_or_answered_and_nothing_else(
        self, triples: bytes, sql: str
    ) -> None:
        outcome = attempt(query, triples, sql, TIGHT)
        assert isinstance(outcome, QueryResult | Rejected)

    @pytest.mark.parametrize(
        "sql",
        [
            "",
            "  \n",
            ";",
            "-- nothing",
            "selec 1",
            "\ud800",
            "\x00select 1",
            "🙂",
            "'",
        ],
    )
    def test_invalid_sql_is_refused_with_a_reason(
        self, triples: bytes, sql: str
    ) -> None:
        assert refusal(triples, sql)
