"""`sql`: one untrusted SELECT over the tables of a whole workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import MORNING
from varve import AsyncMemory, Memory, Rejected
from varve.adapters.analytics import stage
from varve.cli.main import main
from varve.domain.analytics import OWNER_COLUMNS, TABLES
from varve.domain.graph import QueryLimits
from varve.usecases.analytics.rows import READERS, AgentTables

LIMITS = QueryLimits(seconds=60)


def conversation(name: str, user: str, *words: str) -> dict[str, object]:
    said = []
    for number, text in enumerate(words):
        one = {
            "role": "user",
            "name": "Dana",
            "content": text,
            "id": f"m{number}",
        }
        said.append({**one, "timestamp": f"2026-03-02T09:{number:02}:00Z"})
    return {"conversationId": name, "userId": user, "messages": said}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two agents in one workspace and one in another."""
    root = tmp_path_factory.mktemp("sql") / "memory"
    told = {
        ("acme", "support"): conversation(
            "c-1",
            "u-1",
            "I'm Dana Whitfield. I live in Leeds.",
            "I live in Lisbon.",
        ),
        ("acme", "sales"): conversation("c-2", "u-2", "I like green tea."),
        ("other", "support"): conversation(
            "c-3", "u-3", "I like black coffee."
        ),
    }
    for (workspace, agent), said in told.items():
        memory = Memory.open(
            root, workspace=workspace, agent=agent, now=MORNING, environment={}
        )
        memory.ingest(said)
    experience = Memory.open(
        root, workspace="acme", agent="support", environment={}
    )
    experience.record_outcome(
        "c-1", "FAILURE", correction="It was the release."
    )
    experience.experience.lessons.add(
        "Roll back before tuning",
        when="errors begin with a rollout",
        then="roll the release back",
    )
    return root


@pytest.fixture
def memory(store: Path) -> Memory:
    return Memory.open(store, workspace="acme", now=MORNING, environment={})


def test_a_query_reads_all_agents_of_its_workspace_and_no_other(
    memory: Memory,
) -> None:
    rows = memory.sql(
        "select agent, content from turns order by all", limits=LIMITS
    )
    assert [(row["agent"], row["content"]) for row in rows] == [
        ("sales", "I like green tea."),
        ("support", "I live in Lisbon."),
        ("support", "I'm Dana Whitfield. I live in Leeds."),
    ]
    (one,) = memory.sql("select distinct workspace from turns", limits=LIMITS)
    assert one == {"workspace": "acme"}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_documented_columns_and_types(
    memory: Memory, name: str
) -> None:
    types = {
        "text": "VARCHAR",
        "list of texts": "VARCHAR[]",
        "time": "TIMESTAMP WITH TIME ZONE",
        "integer": "BIGINT",
        "number": "DOUBLE",
        "flag": "BOOLEAN",
    }
    expected = dict.fromkeys(OWNER_COLUMNS, "VARCHAR")
    expected |= {one.name: types[one.type] for one in TABLES[name].columns}
    described = memory.sql(f"describe {name}", limits=LIMITS)
    found = {row["column_name"]: row["column_type"] for row in described}
    assert list(found.items()) == list(expected.items())
    assert name in READERS


def test_every_table_of_experience_and_the_graph_has_rows(
    memory: Memory,
) -> None:
    (counts,) = memory.sql(
        "select (select count(*) from triples) as triples,"
        " (select count(*) from episodes) as episodes,"
        " (select any_value(standing) from lessons) as standing",
        limits=LIMITS,
    )
    assert counts["triples"] >= 3
    assert counts["standing"] == "active"


def test_what_has_ended_or_was_corrected_is_not_current(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path / "m", now=MORNING, environment={})
    memory.ingest(
        conversation("c-1", "u-1", "I live in Leeds.", "I like green tea.")
    )
    tea = memory.search("green tea", memory_types=["turn"]).results[0]
    memory.correct(tea.id, "I like black coffee.")
    memory.ingest(conversation("c-2", "u-1", "-", "-", "I moved to Lisbon."))
    rows = memory.sql("select content, current from turns", limits=LIMITS)
    current = {row["content"]: row["current"] for row in rows}
    assert current["I like green tea."] is False
    assert current["I like black coffee."] is True
    assert current["I moved to Lisbon."] is True
    ended = memory.sql(
        "select current, invalid_at from triples", limits=LIMITS
    )
    for row in ended:
        assert row["current"] == (row["invalid_at"] is None)


def test_notes_have_a_row_for_each_version(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "m", now=MORNING, environment={})
    memory.notes.put("tea.md", "Sencha.", user_id="u-1")
    memory.notes.put("tea.md", "Gyokuro.", overwrite=True, user_id="u-1")
    memory.notes.put("plan.md", "Buy tea.")
    rows = memory.sql(
        "select path, user_id, content, version, current from notes"
        " order by path, version",
        limits=LIMITS,
    )
    assert [tuple(row.values()) for row in rows] == [
        ("plan.md", None, "Buy tea.", 1, True),
        ("tea.md", "u-1", "Sencha.", 1, False),
        ("tea.md", "u-1", "Gyokuro.", 2, True),
    ]


def test_only_the_tables_that_a_query_names_are_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: AgentTables) -> Iterator[tuple[object, ...]]:
        raise AssertionError

    for name in set(TABLES) - {"facts"}:
        monkeypatch.setitem(READERS, name, refuse)  # type: ignore[misc]
    assert (
        memory.sql('select count(*) as n from "FACTS"', limits=LIMITS)[0]["n"]
        > 0
    )


def test_rows_are_added_a_batch_at_a_time(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "BATCH_ROWS", 1)
    (row,) = memory.sql("select count(*) as n from turns", limits=LIMITS)
    assert row == {"n": 3}


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("", "is empty"),
        ("select 1; select 2", "must be one statement"),
        ("drop table turns", "must be a SELECT"),
        ("select * from read_csv('/etc/passwd')", "must not call read_csv"),
        ("select * from '/etc/passwd'", "does not exist"),
        ("select * from query_table('turns')", "must not call query_table"),
        (
            "with gone as (delete from turns returning 1) select * from gone",
            "",
        ),
    ],
)
def test_the_graphs_sandbox_refuses_all_but_reading(
    memory: Memory, sql: str, reason: str
) -> None:
    with pytest.raises(Rejected) as refused:
        memory.sql(sql, limits=LIMITS)
    assert refused.value.field == "sql"
    assert reason in refused.value.reason


def test_a_query_is_limited_in_rows_and_time(memory: Memory) -> None:
    with pytest.raises(Rejected, match="more than 2 rows"):
        memory.sql(
            "select * from turns", limits=QueryLimits(seconds=60, rows=2)
        )
    with pytest.raises(Rejected, match="took longer than 1 seconds"):
        memory.sql(
            "select count(*) from range(10000000000) a, range(1000) b",
            limits=QueryLimits(seconds=1),
        )


def test_nothing_of_a_query_stays_on_disk(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage.tempfile, "tempdir", str(tmp_path))
    memory.sql("select * from turns", limits=LIMITS)
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_a_table_or_json(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = (
        "select agent, count(*) as n from turns group by agent order by agent"
    )
    place = ["--store", str(store), "--workspace", "acme"]
    assert main(["sql", query, *place]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["agent", "n"],
        ["-------", "-"],
        ["sales", "1"],
        ["support", "2"],
    ]
    assert main(["sql", query, *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {"agent": "sales", "n": 1}
    assert main(["sql", "drop table turns", *place]) == 2


async def ask(store: Path) -> list[dict[str, object]]:
    async with await AsyncMemory.open(store, workspace="acme") as memory:
        return await memory.sql(
            "select count(*) as n from turns", limits=LIMITS
        )


def test_a_query_may_be_awaited(store: Path) -> None:
    import asyncio

    assert asyncio.run(ask(store)) == [{"n": 3}]
