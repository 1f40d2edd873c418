"""The SQL of docs/analytics.md answers alike in `varve sql`, in DuckDB and in Polars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.docs.blocks import ROOT, Block, blocks_of
from varve import Memory
from varve.domain.analytics import find_named_tables
from varve.domain.costs import encode_days
from varve.domain.graph import QueryLimits
from varve.domain.usage import Item
from varve.usecases.operate.cost_objects import month_key

PAGE = ROOT / "docs" / "analytics.md"
QUESTIONS = [
    block
    for block in blocks_of(PAGE)
    if block.language == "sql" and not block.reason
]
NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
Rows = list[dict[str, Any]]


def said(name: str, user: str, day: str, *texts: str) -> dict[str, Any]:
    messages = [
        {
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": f"{day}T09:{minute:02}:00Z",
            "state": "debugging",
        }
        for minute, text in enumerate(texts)
    ]
    return {"conversationId": name, "userId": user, "messages": messages}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Two users over two months: a move, an episode, a lesson, summaries and costs."""
    root = tmp_path_factory.mktemp("questions") / "memory"
    with Memory.open(root, now=NOW, environment={}) as memory:
        memory.ingest(
            [
                said(
                    "c-1",
                    "u-1",
                    "2026-03-02",
                    "I live in Leeds.",
                    "I like tea.",
                ),
                said(
                    "c-2", "u-2", "2026-03-03", "I work at Kestrel Logistics."
                ),
                said("c-3", "u-1", "2026-04-06", "I live in Lisbon now."),
                said(
                    "c-4", "u-1", "2026-05-18", "Requests time out under load."
                ),
            ]
        )
        memory.record_outcome(
            "c-4", "FAILURE", correction="It was the release."
        )
        memory.experience.lessons.add(
            "Roll back before tuning",
            when="errors begin with a rollout",
            then="roll the release back",
        )
        memory.summarize()
        memory.configure("analytics.searches", "words")
        memory.search("green giraffes of Patagonia")
        put_costs(memory, "2026-03", {str(Item.PUTS): 40, str(Item.GETS): 90})
        put_costs(memory, "2026-04", {str(Item.PUTS): 7})
    return memory


def put_costs(memory: Memory, month: str, counts: dict[str, int]) -> None:
    """Put a month as the meter of a store on S3 does; a directory asks for nothing."""
    days = {f"{month}-03": {"ingest": Counter(counts)}}
    key = month_key(memory.scope, month)
    memory.sessions.store.objects.put(key, encode_days(days, "by hand"))


@pytest.fixture(scope="module")
def published(
    memory: Memory, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    target = tmp_path_factory.mktemp("published")
    memory.publish(target)
    return target


def files_of(published: Path, table: str) -> str:
    return f"{published}/*/*/type={table}/*/*.parquet"


def name_of(block: Block) -> str:
    return block.text.partition("\n")[0][:60]


def test_there_are_ten_questions_or_more() -> None:
    assert len(QUESTIONS) >= 10


@pytest.mark.parametrize("question", QUESTIONS, ids=name_of)
def test_duckdb_over_published_files_answers_as_varve_sql(
    memory: Memory, published: Path, question: Block
) -> None:
    own = memory.sql(question.text, limits=QueryLimits(seconds=60))
    assert own
    with duckdb.connect() as engine:
        engine.execute("set timezone = 'UTC'")
        for table in find_named_tables(question.text):
            engine.execute(
                f"create view {table.name} as select * from read_parquet("
                f"'{files_of(published, table.name)}', hive_partitioning = true,"
                " hive_types_autocast = false)"
            )
        found = engine.sql(question.text).to_arrow_table().to_pylist()
    assert as_told(found) == as_told(own)


@pytest.mark.parametrize("question", QUESTIONS, ids=name_of)
def test_polars_over_published_files_answers_as_varve_sql(
    memory: Memory, published: Path, question: Block
) -> None:
    polars = pytest.importorskip(
        "polars", reason="Polars is not in this environment"
    )
    frames = {
        table.name: polars.scan_parquet(
            files_of(published, table.name),
            hive_partitioning=True,
            try_parse_hive_dates=False,
        )
        for table in find_named_tables(question.text)
    }
    found = (
        polars.SQLContext(**frames).execute(question.text).collect().to_dicts()
    )
    own = memory.sql(question.text, limits=QueryLimits(seconds=60))
    assert as_told(found) == as_told(own)


def as_told(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows with times as `varve sql` tells them and rounded numbers."""
    return [
        {name: _as_told(value) for name, value in row.items()} for row in rows
    ]


def _as_told(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return round(value, 9) if isinstance(value, float) else value
