"""How things stand: per grain what there is, and which periods are ready, due, stale and failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.builders import ACME, an_operation
from tests.support.traffic import Simulation
from varve.cli.standing import format_status
from varve.domain.calendar import Grain, Period, iso
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.summary import SummaryTask
from varve.domain.workspace import WorkspaceConfig
from varve.messages.erasure import Reread
from varve.usecases.erasure import receipts
from varve.usecases.erasure.rereads import add_to_plan

MONDAY = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
DAY = timedelta(days=1)


class Agent:
    """An agent that was talked to on so many days."""

    def __init__(self, days: int = 1, **config: Any) -> None:
        self.sim = Simulation(
            {"acme": WorkspaceConfig.model_validate(config)}, MONDAY
        )
        for number in range(days):
            self.tell(MONDAY + number * DAY)

    def tell(self, at: datetime, name: str = "") -> None:
        name = name or f"c-{at:%Y-%m-%d}"
        said = {
            "id": f"{name}.m",
            "role": "user",
            "content": "I like tea.",
            "timestamp": iso(at),
        }
        identity = {
            "workspaceId": "acme",
            "agentId": "support",
            "conversationId": name,
            "userId": "u-42",
        }
        self.sim.ingest([{**identity, "messages": [said]}])
        self.sim.drain()

    def status(self, at: datetime) -> dict[str, Any]:
        self.sim.clock.now = at
        return self.sim.app.status(ACME)

    def periods(
        self, at: datetime, grain: Grain = Grain.DAILY
    ) -> dict[str, Any]:
        return dict(self.status(at)["grains"][grain]["periods"])


def test_an_empty_memory_has_nothing_of_anything() -> None:
    status = Agent(days=0, plan="pro", timezone="Asia/Tokyo").status(MONDAY)
    assert (status["workspaceId"], status["agentId"]) == ("acme", "support")
    assert (status["plan"], status["timezone"]) == ("pro", "Asia/Tokyo")
    nothing = {
        "records": 0,
        "bytes": 0,
        "model": None,
        "oldest": None,
        "newest": None,
    }
    none = {"periods": {"ready": 0, "due": [], "stale": [], "failed": []}}
    summaries = {str(grain): nothing | none for grain in list(Grain)[1:]}
    assert status["grains"] == {"working": nothing} | summaries
    assert status["graph"] == {
        "triples": 0,
        "current": 0,
        "bytes": 0,
        "confirmed": None,
    }
    assert status["timeline"] == {"bytes": 0}


def test_records_are_counted_with_their_oldest_and_newest() -> None:
    agent = Agent(days=2)
    working = agent.status(MONDAY + DAY)["grains"]["working"]
    assert working["records"] == 4
    assert (working["oldest"], working["newest"]) == (
        "2026-03-02T09:15:00Z",
        "2026-03-03T09:15:00Z",
    )


def test_bytes_are_those_of_the_agents_own_files() -> None:
    agent = Agent()
    objects = agent.sim.parts.objects
    for owner, size in (
        ("acme/support", 30),
        ("acme/support-2", 500),
        ("rival/support", 500),
    ):
        objects.put(f"vectordb/{owner}/daily/a", b"x" * size)
        objects.put(f"graphs/{owner}/facts.parquet", b"x" * (size + 1))
    status = agent.status(MONDAY)
    assert (status["grains"]["daily"]["bytes"], status["graph"]["bytes"]) == (
        30,
        31,
    )
    assert status["timeline"]["bytes"] > 0


def test_triples_are_counted_with_those_that_still_hold() -> None:
    agent = Agent()
    operations = [
        an_operation("Porto"),
        an_operation("Lisbon", op="UPDATE", replaces="Porto", day=1),
    ]
    agent.sim.parts.graph.apply(ACME, operations)
    graph = agent.status(MONDAY)["graph"]
    assert (graph["triples"], graph["current"]) == (2, 1)


def test_an_open_period_is_neither_due_nor_ready() -> None:
    nothing = {"ready": 0, "due": [], "stale": [], "failed": []}
    assert Agent().periods(datetime(2026, 3, 3, 0, 59, tzinfo=UTC)) == nothing


def test_a_closed_period_without_a_summary_is_due_and_with_one_ready() -> None:
    agent = Agent(days=2)
    at = datetime(2026, 3, 4, 1, tzinfo=UTC)
    assert agent.periods(at) == {
        "ready": 0,
        "due": ["2026-03-02", "2026-03-03"],
        "stale": [],
        "failed": [],
    }
    agent.sim.plan(Grain.DAILY, at)
    assert agent.periods(at) == {
        "ready": 2,
        "due": [],
        "stale": [],
        "failed": [],
    }
    assert agent.periods(at, Grain.WEEKLY) == {
        "ready": 0,
        "due": [],
        "stale": [],
        "failed": [],
    }
    assert agent.periods(at + 7 * DAY, Grain.WEEKLY)["due"] == ["2026-W10"]


def test_a_summary_with_something_new_below_it_is_stale() -> None:
    agent = Agent(days=2)
    at = datetime(2026, 3, 4, 1, tzinfo=UTC)
    agent.sim.plan(Grain.DAILY, at)
    agent.tell(MONDAY, "c-late")
    assert agent.periods(at) == {
        "ready": 1,
        "due": [],
        "stale": ["2026-03-02"],
        "failed": [],
    }


def test_a_failed_period_is_told_with_its_reason_and_its_next_try() -> None:
    agent = Agent()
    at = datetime(2026, 3, 4, 1, tzinfo=UTC)

    def overloaded(task: SummaryTask) -> Any:
        raise Retryable("model: overloaded")

    agent.sim.parts.flaky.summarize = overloaded  # type: ignore[method-assign]
    for hours in (0, 1):
        agent.sim.plan(Grain.DAILY, at + timedelta(hours=hours))
    assert agent.periods(at + timedelta(hours=1)) == {
        "ready": 0,
        "due": [],
        "stale": [],
        "failed": [
            {
                "period": "2026-03-02",
                "attempts": 2,
                "reason": "model: overloaded",
                "nextTry": "2026-03-04T04:00:00Z",
            }
        ],
    }


def test_periods_are_of_one_agent_alone() -> None:
    agent = Agent()
    agent.sim.app.ledger.mark(
        Scope("acme", "sales"), [Period.parse("2026-03-02")], "a"
    )
    agent.sim.app.ledger.mark(
        Scope("acme", "sales"), [Period.parse("2026-03-01")], "a"
    )
    assert agent.periods(MONDAY + DAY)["due"] == ["2026-03-02"]


def test_the_backlog_is_what_a_pass_has_yet_to_take() -> None:
    agent = Agent(days=2)
    at = datetime(2026, 3, 4, 1, tzinfo=UTC)
    assert agent.status(at)["backlog"] == {"periods": 2, "cleanups": 0}
    agent.sim.plan(Grain.DAILY, at)
    assert agent.status(at)["backlog"] == {"periods": 0, "cleanups": 0}
    assert agent.status(MONDAY + 4 * DAY)["backlog"] == {
        "periods": 0,
        "cleanups": 1,
    }
    assert agent.status(MONDAY + 8 * DAY)["backlog"] == {
        "periods": 1,
        "cleanups": 1,
    }


def test_an_interrupted_erasure_is_told() -> None:
    agent = Agent()
    assert agent.status(MONDAY)["rereads"] == 0
    left = Reread(ACME, "c-1", {"m1": MONDAY}, frozenset({"m1"}))
    add_to_plan(ACME, [left], objects=agent.sim.parts.objects)
    told = agent.status(MONDAY)
    assert told["rereads"] == 1
    assert "INTERRUPTED: 1 conversation to read again" in "\n".join(
        format_status(told)
    )


def test_the_last_erasure_is_told_with_its_receipt_and_its_proof() -> None:
    agent = Agent()
    assert agent.status(MONDAY)["erasure"] is None
    proofs = ({"proved": True}, {"proved": False}, None)
    for number, proof in enumerate(proofs):
        at = MONDAY + number * DAY
        body = {
            "forgottenAt": iso(at),
            "complete": True,
            "verification": proof,
        }
        key = receipts.put(ACME, at, body, objects=agent.sim.parts.objects)
        told = agent.status(at)["erasure"]
        assert told == {
            "receipt": key,
            "forgottenAt": iso(at),
            "complete": True,
            "proved": proof and proof["proved"],
        }
