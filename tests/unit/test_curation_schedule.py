"""The monthly look at lessons: planned per agent that has any, costing nothing where nobody has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.support.drivers import PassOutcome
from tests.support.traffic import CALM, Simulation
from varve.api.experience import Experience
from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.domain.record import Store
from varve.domain.workspace import WorkspaceConfig
from varve.messages.work import CurateAgent, read_work

MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
APRIL = datetime(2026, 4, 1, 5, 40, tzinfo=UTC)
SCOPE = Scope("acme", "support")


def lived(*agents: str) -> Simulation:
    """Agents that solved the same thing in the same way twice; `idle` was only talked to."""
    sim = Simulation({"acme": WorkspaceConfig()}, MARCH)
    for agent in ("idle", *agents):
        for number in range(2):
            message = {
                "id": "m",
                "role": "user",
                "content": "threads wait for a connection",
            }
            message |= {"timestamp": iso(MARCH + number * timedelta(hours=1))}
            message |= {} if agent == "idle" else {"state": "debugging"}
            owner = {
                "workspaceId": "acme",
                "agentId": agent,
                "conversationId": f"c-{number}",
            }
            sim.ingest([{**owner, "messages": [message]}])
        sim.drain()
        for number in range(2 if agent != "idle" else 0):
            remembered(sim, agent).record_outcome(
                f"c-{number}",
                "SUCCESS",
                decision="raise the pool",
                at=MARCH + timedelta(hours=2),
            )
    sim.drain()
    return sim


def remembered(sim: Simulation, agent: str) -> Experience:
    return sim.app.memory(Scope("acme", agent)).experience


def work(sim: Simulation) -> None:
    sim.parts.summary_queue.drain(
        lambda batch: sim.app.work(batch).returned, CALM
    )
    sim.parts.write_queue.drain(
        lambda batch: sim.app.write(batch).returned, CALM
    )


def test_a_pass_puts_only_agents_with_experience_on_the_queue_each_in_its_own_group() -> (
    None
):
    sim = lived("support", "sales")
    assert sim.app.curate(APRIL) == PassOutcome(planned=2, left=0)
    groups = sim.parts.summary_queue.waiting
    assert set(groups) == {"acme:support", "acme:sales"}
    items = [
        read_work(delivery) for group in groups.values() for delivery in group
    ]
    assert all(
        isinstance(item, CurateAgent) and item.months == ("2026-03",)
        for item in items
    )


def test_the_report_is_kept_for_the_owner_and_the_lessons_versions_are_written_down() -> (
    None
):
    sim = lived("support")
    book = remembered(sim, "support").lessons
    assert book.last_curation() is None
    sim.app.curate(APRIL)
    work(sim)
    report = book.last_curation()
    assert report is not None
    assert (report["at"], report["kept"], report["applied"]) == (
        iso(APRIL),
        1,
        False,
    )
    assert [lesson.action for lesson in book.all()] == ["raise the pool"]


def test_lessons_that_nothing_happens_to_are_looked_at_again_when_they_go_stale() -> (
    None
):
    sim = lived("support")
    sim.clock.now = APRIL
    for month in (4, 5):
        sim.app.curate(datetime(2026, month, 1, 5, 40, tzinfo=UTC))
        work(sim)
    assert sim.app.curate(
        datetime(2026, 8, 1, 5, 40, tzinfo=UTC)
    ) == PassOutcome(planned=0, left=0)
    october = datetime(2026, 10, 1, 5, 40, tzinfo=UTC)
    assert sim.app.curate(october) == PassOutcome(planned=1, left=0)
    work(sim)
    report = remembered(sim, "support").lessons.last_curation()
    assert report is not None
    assert len(report["stale"]) == 1


def test_experience_of_an_agent_that_nobody_talks_to_goes_when_its_years_are_over() -> (
    None
):
    sim = Simulation({"acme": WorkspaceConfig()}, MARCH)
    remembered(sim, "support").record_outcome(
        "c-1", "FAILURE", correction="It was the release.", at=MARCH
    )
    sim.drain()
    sim.app.curate(APRIL)
    work(sim)
    over = datetime(2028, 1, 3, tzinfo=UTC)  # the free plan's two years
    for at, left in ((over - timedelta(hours=1), 1), (over, 0)):
        sim.clean(at)
        assert (
            sum(sim.parts.records.periods(SCOPE, Store.EXPERIENCE).values())
            == left
        )


def test_a_pass_where_nobody_has_lessons_costs_one_listing() -> None:
    sim = lived()
    before = len(sim.parts.objects.touched)
    assert sim.app.curate(APRIL) == PassOutcome(planned=0, left=0)
    assert len(sim.parts.objects.touched) - before <= 1
