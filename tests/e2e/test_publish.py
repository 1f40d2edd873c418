"""`publish`: Hive-partitioned Parquet, incremental, compacted, with the manifest last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from varve import Memory, Rejected, Retryable
from varve.cli.main import main
from varve.domain import publishing
from varve.domain.analytics import SCHEMA_VERSION, TABLES
from varve.domain.graph import QueryLimits
from varve.domain.publishing import SCHEMA_KEY, manifest_key
from varve.ports.analytics import TableStage
from varve.ports.objects import ObjectInfo, Objects, StoredObject
from varve.usecases.analytics.publish import publish
from varve.wiring.sessions import Sessions

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
LIMITS = QueryLimits(seconds=60)
MARCH = "2026-03-02T09:15:00Z"
APRIL = "2026-04-02T09:15:00Z"


def tell(
    memory: Memory, name: str, text: str, at: str, user: str = "u-1"
) -> None:
    said = {"role": "user", "name": "Dana", "content": text, "timestamp": at}
    memory.ingest({"conversationId": name, "userId": user, "messages": [said]})


def open_memory(
    root: Path, workspace: str = "acme", agent: str = "support"
) -> Memory:
    return Memory.open(
        root, workspace=workspace, agent=agent, now=NOW, environment={}
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "published"


@pytest.fixture
def memory(root: Path) -> Memory:
    memory = open_memory(root)
    tell(memory, "c-1", "I live in Lisbon.", MARCH)
    tell(memory, "c-2", "I like green tea.", APRIL, "u-2")
    memory.notes.put("tea.md", "Sencha.", user_id="u-2")
    memory.notes.put("tea.md", "Gyokuro.", overwrite=True, user_id="u-2")
    return memory


def list_files(target: Path) -> dict[str, int]:
    """Return the Parquet files with the times at which they were written."""
    files = sorted(target.rglob("*.parquet"))
    return {
        str(path.relative_to(target)): path.stat().st_mtime_ns
        for path in files
    }


def read_rows(target: Path, table: str) -> list[dict[str, Any]]:
    """Read a table as an engine does, with the folders' values as columns."""
    with duckdb.connect() as engine:
        engine.execute("set timezone = 'UTC'")
        found = engine.sql(
            f"select * from read_parquet('{target}/*/*/type={table}/*/*.parquet',"
            " hive_partitioning = true, hive_types_autocast = false) order by id"
        )
        return found.to_arrow_table().to_pylist()


def test_a_partition_is_a_folder_of_workspace_agent_type_and_month(
    memory: Memory, target: Path
) -> None:
    memory.publish(target)
    files = list_files(target)
    folders = {name.rpartition("/")[0] for name in files}
    place = "workspace=acme/agent=support"
    assert f"{place}/type=turns/month=2026-03" in folders
    assert f"{place}/type=turns/month=2026-04" in folders
    assert f"{place}/type=facts/month=2026-03" in folders
    assert len(folders) == len(files)  # compacted: one file a partition


@pytest.mark.parametrize("table", ["turns", "facts", "triples", "notes"])
def test_an_engine_reads_the_rows_that_sql_reads(
    memory: Memory, target: Path, table: str
) -> None:
    memory.publish(target)
    names = ", ".join(["workspace", "agent", "month", *TABLES[table].names])
    rows = memory.sql(
        f"select {names} from {table} order by id", limits=LIMITS
    )
    published = read_rows(target, table)
    if table == "notes":  # a note's versions share its id
        rows.sort(key=itemgetter("version"))
        published.sort(key=itemgetter("version"))
    assert rows
    for row, read in zip(rows, published, strict=True):
        assert read.pop("type") == table
        assert read.keys() == row.keys()
        for name, value in read.items():
            if isinstance(value, datetime):
                assert value == datetime.fromisoformat(row[name])
            else:
                assert value == row[name]


def test_the_schema_has_a_version_and_every_column(
    memory: Memory, target: Path
) -> None:
    memory.publish(target)
    schema = json.loads((target / SCHEMA_KEY).read_text())
    assert schema["schemaVersion"] == SCHEMA_VERSION
    version = str(SCHEMA_VERSION).encode()
    for path in target.rglob("*.parquet"):
        stored = pq.read_schema(path)
        assert stored.metadata[b"varve.schema_version"] == version
        table = next(part for part in path.parts if part.startswith("type="))
        columns = schema["tables"][table.removeprefix("type=")]["columns"]
        assert [column["name"] for column in columns] == stored.names


def test_publishing_again_reads_and_writes_nothing_if_nothing_changed(
    memory: Memory, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.publish(target)
    before = list_files(target)
    monkeypatch.setattr(Sessions, "open_stage", None)
    report = memory.publish(target)
    assert report["files"]["written"] == report["files"]["dropped"] == 0
    assert report["agents"] == {"all": 1, "published": 0, "removed": 0}
    assert list_files(target) == before


def test_only_the_partitions_that_changed_are_written_again(
    memory: Memory, target: Path
) -> None:
    memory.publish(target)
    before = list_files(target)
    tell(memory, "c-3", "I like black coffee.", APRIL, "u-2")
    report = memory.publish(target)
    after = list_files(target)
    changed = {
        name.rpartition("/")[0] for name, _ in before.items() ^ after.items()
    }
    assert {name.rpartition("=")[2] for name in changed} == {"2026-04"}
    assert report["files"]["written"] == len(after.keys() - before.keys())
    assert len({name.rpartition("/")[0] for name in after}) == len(after)
    assert len(read_rows(target, "turns")) == 3


def test_a_new_version_of_the_schema_writes_all_again(
    memory: Memory, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.publish(target)
    monkeypatch.setattr(publishing, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    report = memory.publish(target)
    assert report["agents"]["published"] == 1


def test_retention_reaches_what_is_published(
    memory: Memory, target: Path
) -> None:
    memory.publish(target)
    memory.configure("plan", "pro")
    memory.cleanup(force=True)
    memory.publish(target)
    assert read_months(target, "turns") == set()
    assert read_months(target, "triples") == {"2026-03", "2026-04"}


def read_months(target: Path, table: str) -> set[str]:
    folders = target.glob(f"*/*/type={table}/*/*.parquet")
    return {path.parent.name.removeprefix("month=") for path in folders}


def test_workspaces_and_agents_share_a_target_and_touch_only_their_own(
    root: Path, memory: Memory, target: Path
) -> None:
    other = open_memory(root, "other")
    tell(other, "c-9", "I like black coffee.", MARCH)
    memory.publish(target)
    own = list_files(target)
    other.publish(target)
    assert own.items() <= list_files(target).items()
    other.publish(target, remove=True)
    assert list_files(target) == own
    assert not (target / "_varve/other").exists() or not any(
        (target / "_varve/other").iterdir()
    )
    assert (root / "audit/other/published.json").read_text().count(
        str(target)
    ) == 0


def test_an_agent_that_is_no_more_loses_its_files(
    root: Path, memory: Memory, target: Path
) -> None:
    sales = open_memory(root, agent="sales")
    tell(sales, "c-9", "I like black coffee.", MARCH)
    memory.publish(target)
    for place in ("vectordb", "graphs", "timeline"):
        folder = root / place / "acme" / "sales"
        if folder.exists():
            folder.rename(root.parent / f"{place}-gone")
    report = memory.publish(target)
    assert report["agents"] == {"all": 1, "published": 0, "removed": 1}
    assert not any("agent=sales" in name for name in list_files(target))


@dataclass
class Recorded:
    """A target that notes its changes, and fails at the change of a given number."""

    objects: Objects
    fails_at: int = -1
    changes: list[tuple[str, str]] = field(default_factory=list)

    def _note(self, change: str, key: str) -> None:
        if len(self.changes) == self.fails_at:
            raise Retryable("store: the connection broke")
        self.changes.append((change, key))

    def get(self, key: str) -> StoredObject | None:
        return self.objects.get(key)

    def part(self, key: str, start: int, length: int) -> bytes | None:
        return self.objects.part(key, start, length)

    def put(self, key: str, data: bytes) -> None:
        self._note("put", key)
        self.objects.put(key, data)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        self._note("put", key)
        return self.objects.put_if(key, data, etag)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._note("delete", key)
            self.objects.delete([key])

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        raise NotImplementedError

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return self.objects.list(prefix)

    def folders(self, prefix: str) -> Any:
        return self.objects.folders(prefix)


@dataclass
class Tools:
    """The tools of a memory, with a recorded target."""

    sessions: Sessions
    place: Recorded

    def open_stage(self) -> AbstractContextManager[TableStage]:
        return self.sessions.open_stage()

    def open_target(self, target: str) -> Objects:
        return self.place


def publish_recorded(
    memory: Memory, target: Path, fails_at: int = -1
) -> list[tuple[str, str]]:
    """Publish; return the changes at the target up to the failure."""
    sessions = memory.sessions
    place = Recorded(sessions.open_target(str(target)), fails_at)
    with sessions.open_owner(memory.scope) as session:
        if fails_at < 0:
            publish(session, str(target), Tools(sessions, place))
        else:
            with pytest.raises(Retryable):
                publish(session, str(target), Tools(sessions, place))
    return place.changes


def test_a_new_file_comes_before_the_old_one_goes_and_the_manifest_comes_last(
    memory: Memory, target: Path
) -> None:
    publish_recorded(memory, target)
    tell(memory, "c-3", "I like black coffee.", APRIL, "u-2")
    changes = publish_recorded(memory, target)
    assert changes[-1] == ("put", manifest_key(memory.scope))
    deleted = [key for change, key in changes if change == "delete"]
    assert deleted
    for key in deleted:
        folder = key.rpartition("/")[0]
        before = changes[: changes.index(("delete", key))]
        assert any(change == "put" and folder in one for change, one in before)


@pytest.mark.parametrize("fails_at", [0, 1, 2, 3])
def test_a_run_that_ends_half_way_is_put_right_by_the_next(
    memory: Memory, target: Path, fails_at: int
) -> None:
    publish_recorded(memory, target)
    tell(memory, "c-3", "I like black coffee.", APRIL, "u-2")
    publish_recorded(memory, target, fails_at)
    publish_recorded(memory, target)
    assert len(read_rows(target, "turns")) == 3
    files = list_files(target)
    assert len({name.rpartition("/")[0] for name in files}) == len(files)
    manifest = json.loads((target / manifest_key(memory.scope)).read_text())
    assert set(manifest["files"]) == set(files)


def test_concurrent_runs_leave_the_files_of_the_manifest(
    root: Path, memory: Memory, target: Path
) -> None:

    def run(_: int) -> None:
        open_memory(root).publish(target)

    with ThreadPoolExecutor(3) as runs:
        list(runs.map(run, range(3)))
    manifest = json.loads((target / manifest_key(memory.scope)).read_text())
    assert set(manifest["files"]) == set(list_files(target))


@pytest.mark.parametrize(
    "place", ["", ".", "memory", "memory/below", "s3://", "x://y"]
)
def test_a_target_is_a_place_outside_the_store(
    memory: Memory, root: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    with pytest.raises(Rejected) as refused:
        memory.publish(place)
    assert refused.value.field == "target"


def test_the_command_tells_what_it_did(
    root: Path,
    memory: Memory,
    target: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = ["--store", str(root), "--workspace", "acme"]
    assert main(["publish", str(target), *place]) == 0
    count = len(list_files(target))
    rows = sum(
        len(read_rows(target, name))
        for name in ("turns", "facts", "triples", "notes")
    )
    assert capsys.readouterr().out.splitlines() == [
        f"{target}: {rows} rows in {count} files of 1 agent",
        f"files written: {count}; dropped: 0",
    ]
    assert main(["publish", str(target), "--remove", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["files"]["dropped"] == count
    assert list_files(target) == {}
