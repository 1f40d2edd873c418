"""`varve report`: a workspace's month, counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory
from varve.cli import main
from varve.domain.errors import Rejected
from varve.domain.monthly_report import Erasure

NOW = datetime(2026, 11, 3, 9, tzinfo=UTC)


def tell(
    memory: Memory, conversation: str, user: str, text: str, at: str
) -> None:
    message = {"id": "m1", "role": "user", "content": text, "timestamp": at}
    talk = {
        "conversationId": conversation,
        "userId": user,
        "messages": [message],
    }
    memory.ingest(talk)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    support = Memory.open(root, agent="support", now=NOW, environment={})
    support.configure("timezone", "Europe/Lisbon")
    sales = Memory.open(root, agent="sales", now=NOW, environment={})
    tell(support, "c-1", "u-1", "I live in Lisbon.", "2026-10-05T09:00:00Z")
    tell(support, "c-2", "u-2", "I like tea.", "2026-10-06T09:00:00Z")
    # Lisbon has 1 November at 00:30, when UTC has 31 October at 00:30 of winter time.
    tell(support, "c-3", "u-2", "I like rye bread.", "2026-11-01T00:30:00Z")
    tell(sales, "c-4", "u-1", "I work at Initech.", "2026-09-30T23:30:00Z")
    support.forget(user="u-none")
    support.forget(conversation="c-1", verify=True)
    return root


def test_a_month_counts_each_agents_words_in_the_workspaces_zone(
    store: Path,
) -> None:
    memory = Memory.open(store, agent="support", now=NOW, environment={})
    found = memory.report("2026-10")
    figures = {one.agent: dict(one.figures) for one in found.agents}
    assert figures["support"]["turns"] == 1
    assert figures["support"]["conversations"] == 1
    assert (
        figures["sales"]["users"] == 1
    )  # half past midnight of 1 October in Lisbon


def test_a_month_lists_its_erasures_with_their_proofs(store: Path) -> None:
    memory = Memory.open(store, agent="support", now=NOW, environment={})
    erasures = memory.report("2026-11").erasures
    assert [(one.agent, one.complete) for one in erasures] == [
        ("support", True)
    ] * 2
    assert {one.proved for one in erasures} == {None, True}
    assert isinstance(erasures[0], Erasure)
    assert memory.report("2026-10").erasures == ()


def test_the_command_prints_markdown(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--store", str(store), "--now", "2026-11-03"]
    assert main(["report", "--month", "2026-10", *arguments]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# default, 2026-10\n")
    assert "| support | 1 | 1 | 1 |" in printed
    assert main(["report", "--month", "October", *arguments]) == 2


def test_a_month_that_is_none_is_refused(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=NOW, environment={})
    with pytest.raises(Rejected, match="2026-10"):
        memory.report("2026-13")
