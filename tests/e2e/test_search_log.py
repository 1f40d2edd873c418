"""What was asked: logged behind, read as a table, erased with its users, and expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_forget import conversation, files_under, traces
from varve import Memory, Rejected, Retryable
from varve.domain.graph import QueryLimits
from varve.domain.searches import AskedSearch, build_search_row
from varve.usecases.search import log as search_log
from varve.usecases.search import objects as search_objects

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
DANA = conversation(
    "c-1", "u-7", "Dana", "I live in Kumquatolia.", "How nice!"
)
MARCO = conversation("c-2", "u-8", "Marco", "I like espresso.", "Noted.")
ALL = "select * from searches order by event_time, words"


def open_memory(root: Path, now: datetime = NOW) -> Memory:
    return Memory.open(
        root, workspace="acme", agent="support", now=now, environment={}
    )


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = open_memory(tmp_path / "memory")
    memory.ingest([DANA, MARCO])
    memory.configure("analytics.searches", "words")
    return memory


def read_log(memory: Memory) -> list[dict[str, Any]]:
    return memory.sql(ALL, limits=QueryLimits(seconds=60))


def test_a_question_is_logged_with_the_figures_of_its_answer(
    memory: Memory,
) -> None:
    found = memory.search("Kumquatolia", user_id="u-7")
    memory.search("giraffes of Patagonia")
    memory.search()  # browses: nothing was asked
    rows = {row["words"]: row for row in read_log(memory)}
    assert rows.keys() == {"Kumquatolia", "giraffes of Patagonia"}
    told = rows["Kumquatolia"]
    assert (told["agent"], told["user_id"]) == ("support", "u-7")
    assert told["event_time"] == "2026-05-20T12:00:00Z"
    assert told["results"] == len(found.results)
    assert told["best_score"] == found.results[0].score
    assert (told["empty"], told["fallback"]) == (False, False)
    assert rows["giraffes of Patagonia"]["empty"] is True
    assert rows["giraffes of Patagonia"]["best_score"] is None


def test_nothing_is_logged_by_default(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(DANA)
    memory.search("Kumquatolia")
    memory.close()
    assert not (tmp_path / "searches").exists()


def test_hashes_tell_alike_questions_and_no_words(memory: Memory) -> None:
    memory.configure("analytics.searches", "hash")
    for text in (
        "Zebrinaquoll  sightings",
        "zebrinaquoll sightings",
        "espresso",
    ):
        memory.search(text)
    rows = read_log(memory)
    assert [row["words"] for row in rows] == [None, None, None]
    assert len({row["question"] for row in rows}) == 2
    root = Path(memory.sessions.settings.store)
    assert traces(files_under(root), "zebrinaquoll") == []


def test_the_same_question_has_another_hash_under_another_key() -> None:
    asked = AskedSearch("1", NOW, None, "espresso", 0, None, fallback=False)
    rows = [
        build_search_row(asked, key, keep_words=False) for key in ("a", "b")
    ]
    assert rows[0].question != rows[1].question


def test_a_question_waits_for_no_request_of_the_log(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(search_log, "put_rows", refuse)
    monkeypatch.setattr(search_log, "read_key", refuse)
    for _ in range(3):
        memory.search("espresso")


def test_many_questions_are_written_in_the_background(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_log, "FLUSH_AT", 2)
    for text in ("one espresso", "two espressi", "three espressi"):
        memory.search(text)
    memory.sessions.searches.finish()
    written = list(
        search_objects.read_rows(memory.scope, objects=objects_of(memory))
    )
    assert sum(len(rows) for _, rows in written) == 2
    assert len(read_log(memory)) == 3


def objects_of(memory: Memory) -> Any:
    return memory.sessions.store.objects


def test_a_failed_write_keeps_the_questions(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.search("espresso")
    with monkeypatch.context() as patch:
        patch.setattr(search_log, "put_rows", fail)
        with pytest.raises(Retryable):
            memory.close()
    assert [row["words"] for row in read_log(memory)] == ["espresso"]


def fail(*_: object, **__: object) -> None:
    raise Retryable("store: the connection broke")


def test_personal_data_is_filtered_from_the_log(memory: Memory) -> None:
    memory.configure("privacy.mode", "redact")
    memory.search("who is dana@example.com")
    (row,) = read_log(memory)
    assert "dana@example.com" not in row["words"]


def test_a_users_questions_go_with_the_user_and_the_proof_looks_there(
    memory: Memory, tmp_path: Path
) -> None:
    memory.search("Kumquatolia", user_id="u-7")
    memory.search("anything of Kumquatolia", user_id=None)
    memory.search("espresso", user_id="u-8")
    memory.publish(tmp_path / "published")
    receipt = memory.forget(user="u-7", verify=True)
    assert receipt["erased"]["searches"] == 2
    assert receipt["verification"]["proved"] is True
    assert [row["words"] for row in read_log(memory)] == ["espresso"]
    assert traces(files_under(tmp_path / "memory"), "kumquatolia") == []


def test_what_another_user_asked_stays_and_does_not_spoil_the_proof(
    memory: Memory,
) -> None:
    memory.search("Where is Kumquatolia?", user_id="u-8")
    receipt = memory.forget(user="u-7", verify=True)
    assert receipt["verification"]["proved"] is True
    assert [row["words"] for row in read_log(memory)] == [
        "Where is Kumquatolia?"
    ]


def test_a_question_that_waits_in_another_process_does_not_return(
    memory: Memory, tmp_path: Path
) -> None:
    other = open_memory(tmp_path / "memory")
    other.search("Kumquatolia", user_id="u-7")
    memory.forget(user="u-7")
    other.close()
    assert read_log(memory) == []


def test_the_log_expires_with_the_timeline(
    memory: Memory, tmp_path: Path
) -> None:
    memory.search("espresso")
    memory.close()
    memory.configure("retention.timeline", "30 days")
    later = open_memory(tmp_path / "memory", NOW + timedelta(days=29))
    later.cleanup()
    assert len(read_log(later)) == 1
    open_memory(tmp_path / "memory", NOW + timedelta(days=31)).cleanup()
    assert read_log(later) == []


def test_the_setting_has_three_values(memory: Memory) -> None:
    with pytest.raises(Rejected, match="off"):
        memory.configure("analytics.searches", "all")
