"""`varve doctor`: each part of a deployment, sound and broken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.queues import fifo_queue, sqs_server
from varve import Memory
from varve.adapters.queues.queue_state import read_queue_state
from varve.cli import main
from varve.domain.diagnosis import Finding, Health
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.identity import Scope
from varve.ports.surroundings import QueueState
from varve.usecases.operate.diagnose import diagnose

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
SOUND = QueueState(is_fifo=True, waiting=0, letters=0)


@dataclass
class WrittenSurroundings:
    """Surroundings as a test writes them."""

    store: str = "s3://bucket/memory"
    state: str = "Disabled"
    server: datetime | None = NOW
    states: dict[str, QueueState] = field(default_factory=dict)
    role: bool | Exception = False
    refusal: Exception | None = None

    def require_writable(self) -> None:
        if self.refusal:
            raise self.refusal

    def versioning(self) -> str:
        return self.state

    def server_time(self) -> datetime | None:
        return self.server

    @property
    def queues(self) -> Sequence[str]:
        return tuple(self.states)

    def queue_state(self, name: str) -> QueueState:
        return self.states[name]

    def assume_role(self, scope: Scope) -> bool:
        if isinstance(self.role, Exception):
            raise self.role
        return self.role

    def libraries(self) -> Mapping[str, str]:
        return {"lancedb": "0.40.0"}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW, environment={})


def examine(
    memory: Memory, surroundings: WrittenSurroundings
) -> dict[str, Finding]:
    with memory.sessions.open_owner(memory.scope) as session:
        found = diagnose(session, surroundings)
    return {one.part: one for one in found.findings}


def test_a_sound_deployment_has_no_warning(memory: Memory) -> None:
    states = dict.fromkeys(("ingest", "write", "summary"), SOUND)
    found = examine(memory, WrittenSurroundings(states=states, role=True))
    assert {one.health for one in found.values()} == {Health.OK}
    assert len(found) == 11


@pytest.mark.parametrize(
    ("part", "surroundings", "health", "words"),
    [
        (
            "store",
            WrittenSurroundings(
                refusal=Misconfigured("loses conditional puts")
            ),
            Health.FAILED,
            "loses conditional puts",
        ),
        (
            "versioning",
            WrittenSurroundings(state="Enabled"),
            Health.WARNING,
            "old versions",
        ),
        (
            "versioning",
            WrittenSurroundings(state="Unknown"),
            Health.WARNING,
            "may not ask",
        ),
        (
            "clock",
            WrittenSurroundings(server=NOW - timedelta(minutes=3)),
            Health.FAILED,
            "180 s",
        ),
        (
            "clock",
            WrittenSurroundings(server=None),
            Health.SKIPPED,
            "directory",
        ),
        (
            "role",
            WrittenSurroundings(role=Retryable("sts: is busy")),
            Health.FAILED,
            "sts: is busy",
        ),
        (
            "queues",
            WrittenSurroundings(),
            Health.SKIPPED,
            "none are configured",
        ),
        (
            "write queue",
            WrittenSurroundings(states={"ingest": SOUND}),
            Health.WARNING,
            "not configured",
        ),
        (
            "ingest queue",
            WrittenSurroundings(states={"ingest": QueueState(True, 4, 2)}),
            Health.WARNING,
            "2 dead letters",
        ),
        (
            "ingest queue",
            WrittenSurroundings(states={"ingest": QueueState(False, 0, 0)}),
            Health.FAILED,
            "no FIFO",
        ),
    ],
)
def test_a_broken_part_is_told(
    part: str,
    surroundings: WrittenSurroundings,
    health: Health,
    words: str,
    memory: Memory,
) -> None:
    finding = examine(memory, surroundings)[part]
    assert finding.health is health
    assert words in finding.told


def test_a_refused_model_is_told_and_the_rest_is_examined(
    tmp_path: Path,
) -> None:
    environment = {"VARVE_LLM": "openai:gpt-4o-mini"}
    memory = Memory.open(tmp_path / "memory", now=NOW, environment=environment)
    found = examine(memory, WrittenSurroundings())
    assert found["models"].health is Health.FAILED
    assert "OPENAI_API_KEY" in found["models"].told
    assert found["erasure"].health is Health.OK


def test_closed_periods_that_wait_are_told_with_their_command(
    memory: Memory,
) -> None:
    memory.remember("Dana lives in Lisbon.", at=NOW - timedelta(days=3))
    finding = examine(memory, WrittenSurroundings())["periods"]
    assert finding.health is Health.WARNING
    assert finding.remedy == "varve summarize"
    memory.summarize()
    assert (
        examine(memory, WrittenSurroundings())["periods"].health is Health.OK
    )


def test_the_command_prints_json_and_fails_with_1(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = ["--store", str(tmp_path / "memory")]
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["doctor", *store]) == 0
    assert "ok       store" in capsys.readouterr().out
    monkeypatch.setenv("VARVE_LLM", "openai:gpt-4o-mini")
    assert main(["doctor", *store, "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["failed"] == 1
    assert main(["doctor", *store, "--no-check"]) == 0


@pytest.fixture(scope="module")
def sqs() -> Iterator[Any]:
    with sqs_server() as client:
        yield client


def test_a_queue_tells_its_messages_and_its_dead_letters(sqs: Any) -> None:
    with fifo_queue(sqs, "examined", 2) as queue:
        queue.send("{}", group="g", deduplication_id="1")
        sqs.send_message(
            QueueUrl=queue.dead_letter_url,
            MessageBody="{}",
            MessageGroupId="g",
            MessageDeduplicationId="2",
        )
        assert read_queue_state(queue) == QueueState(True, 1, 1)
