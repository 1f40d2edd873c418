"""Cleanup: what has outlived its plan and is summed up goes, the rest stays and is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import WordEmbedder, a_record, embedded
from tests.support.drivers import WorkOutcome
from tests.support.traffic import CALM, Simulation
from tests.support.usecase_drivers import run_configure
from varve import Memory, Rejected
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, iso
from varve.domain.identity import Scope
from varve.domain.record import Store, StoreName
from varve.domain.summary import summary_id
from varve.domain.workspace import WorkspaceConfig
from varve.ports.objects import ObjectInfo
from varve.ports.queues import Delivery
from varve.usecases.cleanup import CleanupReport, GrainReport

SCOPE = Scope("acme", "support")
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OVER = datetime(
    2026, 3, 5, tzinfo=UTC
)  # when Monday's 48 hours of a free plan are


class Agent:
    """An agent that was talked to on so many days from Monday on."""

    def __init__(
        self, days: int = 1, configured: bool = True, **config: Any
    ) -> None:
        configs = (
            {"acme": WorkspaceConfig.model_validate(config)}
            if configured
            else {}
        )
        self.sim = Simulation(configs, MONDAY)
        for number in range(days):
            self.tell(MONDAY + timedelta(days=number))

    def tell(
        self,
        at: datetime,
        text: str = "I like tea.",
        name: str = "",
        user: str = "u-42",
    ) -> None:
        name = name or f"c-{at:%Y-%m-%d}"
        messages = [
            {
                "id": f"{name}.m",
                "role": "user",
                "content": text,
                "timestamp": iso(at),
            }
        ]
        identity = {
            "workspaceId": "acme",
            "agentId": "support",
            "conversationId": name,
            "userId": user,
        }
        self.sim.ingest([{**identity, "messages": messages}])
        self.sim.drain()

    def sum_up(self, at: datetime, *grains: Grain) -> None:
        for grain in grains or (Grain.DAILY,):
            self.sim.plan(grain, at)

    def look(self, at: datetime, **given: Any) -> CleanupReport:
        self.sim.clock.now = at
        report = self.sim.app.cleanup(SCOPE, at, **given)
        self.sim.drain()
        return report

    def night(self, at: datetime) -> WorkOutcome:
        """A cleanup pass and the work it makes, with nothing written yet; what the work came to."""
        self.sim.clock.now = at
        self.sim.app.clean(at)
        outcomes = [WorkOutcome()]

        def work(batch: list[Delivery]) -> list[Delivery]:
            outcomes.append(self.sim.app.work(batch))
            return outcomes[-1].returned

        self.sim.parts.summary_queue.drain(work, CALM)
        return WorkOutcome(
            cleaned=sum(one.cleaned for one in outcomes),
            expired=sum(one.expired for one in outcomes),
            unsealed=sum(one.unsealed for one in outcomes),
        )

    def kept(self, grain: Grain = Grain.WORKING) -> list[str]:
        return sorted(self.sim.parts.records.periods(SCOPE, grain))

    def everything(self) -> list[tuple[ObjectInfo, bytes]]:
        objects = self.sim.parts.objects
        tops = ("ledger", "timeline", "payloads", "workspaces")
        infos = [info for top in tops for info in objects.list(top)]
        return [(info, objects.get(info.key).data) for info in infos]


def of(report: CleanupReport, grain: StoreName = Grain.WORKING) -> GrainReport:
    return next(each for each in report.grains if each.grain is grain)


def test_a_day_goes_when_its_last_hour_has_outlived_the_limit_and_not_before() -> (
    None
):
    agent = Agent()
    agent.sum_up(MONDAY + DAY)
    assert of(agent.look(OVER - timedelta(microseconds=1))).expired == {}
    assert agent.kept() == ["2026-03-02"]
    assert of(agent.look(OVER)).expired == {"2026-03-02": 2}
    assert agent.kept() == []
    assert agent.kept(Grain.DAILY) == ["2026-03-02"]


def test_a_dry_run_tells_the_same_and_changes_nothing() -> None:
    agent = Agent(days=3)
    agent.sum_up(MONDAY + 4 * DAY)
    before = (agent.kept(), agent.everything())
    dry = agent.look(OVER + DAY, dry_run=True)
    assert (agent.kept(), agent.everything()) == before
    assert dry == agent.look(OVER + DAY)
    assert agent.kept() == ["2026-03-04"]


def test_a_report_as_json_tells_counts_and_the_oldest_kept_of_each_grain() -> (
    None
):
    agent = Agent(days=3)
    agent.sum_up(MONDAY + DAY)
    grains = agent.look(OVER + DAY, dry_run=True).to_dict()["grains"]
    assert list(grains) == [*(str(grain) for grain in Grain), "experience"]
    assert grains["working"] == {
        "limit": "48 hours",
        "oldestKept": "2026-03-04",
        "expiredPeriods": 1,
        "expiredRecords": 2,
        "unsealed": {"2026-03-03": 2},
    }
    assert grains["yearly"]["oldestKept"] == "2025"


def test_invariant_6_what_is_not_summed_up_is_kept_and_told() -> None:
    agent = Agent()
    report = of(agent.look(OVER + 40 * DAY))
    assert (report.expired, report.unsealed) == ({}, {"2026-03-02": 2})
    assert agent.kept() == ["2026-03-02"]


def test_invariant_6_what_has_no_summary_is_kept_though_nothing_says_that_one_is_due() -> (
    None
):
    """As in a store that was copied without its ledger; its summary's own time is not over yet."""
    agent = Agent(retention={"daily": "4 days"})
    objects = agent.sim.parts.objects
    objects.delete([info.key for info in objects.list("ledger")])
    assert of(agent.look(OVER)).unsealed == {"2026-03-02": 2}
    assert agent.kept() == ["2026-03-02"]


def test_invariant_6_what_came_after_its_summary_is_kept_until_that_is_rebuilt() -> (
    None
):
    agent = Agent()
    agent.sum_up(MONDAY + DAY)
    agent.tell(MONDAY, "I like late tea.", "c-late")
    assert of(agent.look(OVER)).unsealed == {"2026-03-02": 4}
    agent.sum_up(OVER + HOUR)
    assert of(agent.look(OVER + HOUR)).expired == {"2026-03-02": 4}


def test_invariant_6_a_summary_that_is_stale_itself_is_kept_for_the_words_only_it_has() -> (
    None
):
    agent = Agent(retention={"daily": "9 days"})
    agent.sum_up(MONDAY + 8 * DAY, Grain.DAILY, Grain.WEEKLY)
    agent.look(MONDAY + 8 * DAY)
    agent.tell(MONDAY, "I like late tea.", "c-late")
    assert of(agent.look(MONDAY + 9 * DAY), Grain.DAILY).unsealed == {
        "2026-03-02": 1
    }
    agent.sum_up(MONDAY + 9 * DAY, Grain.DAILY, Grain.WEEKLY)
    assert of(agent.look(MONDAY + 9 * DAY), Grain.DAILY).expired == {
        "2026-03-02": 1
    }
    (week,) = agent.sim.parts.records.in_period(
        SCOPE, Grain.WEEKLY, "2026-W10"
    )
    assert "late tea" in week.key_facts
    assert "I like tea." in week.key_facts


def test_invariant_6_no_day_goes_before_each_of_its_users_has_a_summary_of_it() -> (
    None
):
    """As after a lost write: nothing says that the day is due, and cleanup does."""
    agent = Agent()
    agent.tell(MONDAY, "I like figs.", "c-b", "u-b")
    agent.sum_up(MONDAY + DAY)
    records = agent.sim.parts.records
    lost = summary_id(Period(Grain.DAILY, "2026-03-02"), "u-b")
    assert records.delete(SCOPE, Grain.DAILY, [lost]) == 1
    for _ in range(2):
        assert of(agent.look(OVER)).unsealed == {"2026-03-02": 4}
    agent.sum_up(OVER + HOUR)
    (again,) = records.get(SCOPE, Grain.DAILY, [lost])
    assert "I like figs." in again.key_facts
    assert of(agent.look(OVER + HOUR)).expired == {"2026-03-02": 4}


def test_invariant_6_a_day_of_an_older_version_is_summarized_per_user_before_it_goes() -> (
    None
):
    agent = Agent(configured=False)
    set_scope = partial(
        run_configure,
        "acme",
        "summaries.scope",
        objects=agent.sim.parts.objects,
    )
    set_scope("agent", MONDAY)
    agent.tell(MONDAY, "I like figs.", "c-b", "u-b")
    agent.sum_up(MONDAY + DAY)
    set_scope("user", MONDAY + DAY)
    assert of(agent.look(OVER)).unsealed == {"2026-03-02": 4}
    agent.sum_up(OVER + HOUR)
    found = agent.sim.parts.records.in_period(SCOPE, Grain.DAILY, "2026-03-02")
    assert {one.user_id for one in found} == {"u-42", "u-b"}
    assert of(agent.look(OVER + HOUR)).expired == {"2026-03-02": 4}


def test_a_workspace_with_one_summary_of_all_users_needs_no_users_own() -> (
    None
):
    agent = Agent(summaries={"scope": "agent"})
    agent.tell(MONDAY, "I like figs.", "c-b", "u-b")
    agent.sum_up(MONDAY + DAY)
    assert of(agent.look(OVER)).expired == {"2026-03-02": 4}


def test_what_waited_goes_at_the_first_pass_after_it_was_summed_up() -> None:
    agent = Agent(days=3, retention={"daily": "2 days"})
    at = datetime(2026, 3, 6, 1, tzinfo=UTC)
    agent.sum_up(at)
    agent.sim.clean(at)
    assert agent.kept(Grain.DAILY) == [
        "2026-03-02",
        "2026-03-03",
        "2026-03-04",
    ]
    closed = datetime(2026, 3, 9, 1, tzinfo=UTC)
    agent.sum_up(closed, Grain.WEEKLY)
    agent.sim.clean(closed)
    assert agent.kept(Grain.DAILY) == []


def test_periods_are_told_in_the_order_of_time_however_they_came() -> None:
    agent = Agent(days=0)
    for day in (3, 0, 2, 1):
        agent.tell(MONDAY + day * DAY)
    agent.sum_up(MONDAY + 3 * DAY)
    report = of(agent.look(OVER + 9 * DAY, dry_run=True))
    assert list(report.expired) == ["2026-03-02", "2026-03-03", "2026-03-04"]
    agent.tell(MONDAY + 2 * DAY, "I like late tea.", "c-late")
    agent.tell(MONDAY + DAY, "I like late tea.", "c-late-too")
    report = of(agent.look(OVER + 9 * DAY, dry_run=True))
    assert list(report.unsealed) == ["2026-03-03", "2026-03-04", "2026-03-05"]


def test_experience_is_kept_by_the_year_as_long_as_yearly_summaries_are() -> (
    None
):
    agent, rows = Agent(days=0), Store.EXPERIENCE
    for year in (2026, 2024, 2023, 2025):
        row = a_record(f"row of {year}", period=str(year))
        agent.sim.parts.records.upsert(
            SCOPE, rows, embedded(row), WordEmbedder.model
        )
    report = of(agent.look(MONDAY), rows)
    assert (report.limit, report.oldest_kept) == ("2 years", "2025")
    assert list(report.expired) == ["2023", "2024"]
    assert sorted(agent.sim.parts.records.periods(SCOPE, rows)) == [
        "2025",
        "2026",
    ]


def test_force_takes_what_is_not_summed_up_as_well() -> None:
    agent = Agent()
    assert of(agent.look(OVER, force=True, dry_run=True)).expired == {
        "2026-03-02": 2
    }
    report = of(agent.look(OVER, force=True))
    assert (report.expired, report.unsealed, agent.kept()) == (
        {"2026-03-02": 2},
        {},
        [],
    )


def test_a_parent_whose_own_time_is_over_keeps_its_children_from_nothing() -> (
    None
):
    """Days that a workspace keeps longer than weeks go all the same."""
    agent = Agent(retention={"weekly": "1 week", "daily": "30 days"})
    agent.sum_up(MONDAY + 8 * DAY, Grain.DAILY, Grain.WEEKLY)
    agent.sum_up(MONDAY + 28 * DAY, Grain.MONTHLY)
    agent.look(MONDAY + 28 * DAY)
    assert (agent.kept(Grain.WEEKLY), agent.kept(Grain.DAILY)) == (
        [],
        ["2026-03-02"],
    )
    agent.look(MONDAY + 30 * DAY)
    assert agent.kept(Grain.DAILY) == []


def test_the_pyramid_is_cleaned_from_working_upward_in_one_pass() -> None:
    agent = Agent()
    agent.sum_up(MONDAY + 400 * DAY, *SUMMARY_GRAINS)
    agent.look(MONDAY + 400 * DAY)
    assert [agent.kept(grain) for grain in Grain] == [
        [],
        [],
        [],
        [],
        [],
        ["2026"],
    ]
    agent.look(MONDAY + 900 * DAY)
    assert agent.kept(Grain.YEARLY) == []


# The timeline.


def test_the_timeline_follows_the_yearly_limit() -> None:
    agent = Agent()
    before = datetime(
        2028, 1, 2, 23, tzinfo=UTC
    )  # the last day of 2027, as the calendar has it
    assert agent.look(before).timeline == ()
    assert agent.look(before + HOUR).timeline == ("2026-03-02",)
    assert list(agent.sim.parts.objects.list("timeline")) == []


def test_a_workspace_may_keep_less_of_the_timeline() -> None:
    agent = Agent(days=3, retention={"timeline": "2 days"})
    at = MONDAY + 3 * DAY
    assert agent.look(at, dry_run=True).timeline == (
        "2026-03-02",
        "2026-03-03",
    )
    assert len(list(agent.sim.parts.objects.list("timeline"))) == 3
    agent.look(at)
    assert [
        info.key.split("/")[3]
        for info in agent.sim.parts.objects.list("timeline")
    ] == ["2026-03-04"]


def test_what_was_taken_in_of_a_conversation_is_known_until_all_of_its_days_are_over() -> (
    None
):
    agent = Agent(days=0, retention={"timeline": "2 days"})
    messages = [
        {
            "id": f"m{day}",
            "role": "user",
            "content": "I like tea.",
            "timestamp": iso(MONDAY + day * DAY),
        }
        for day in (0, 2)
    ]
    owner = {
        "workspaceId": "acme",
        "agentId": "support",
        "conversationId": "c",
        "userId": "u-42",
    }
    agent.sim.ingest([{**owner, "messages": messages}])
    agent.sim.drain()
    objects = agent.sim.parts.objects
    for days, left in ((3, 1), (9, 0)):
        agent.look(MONDAY + days * DAY)
        assert len(objects.folders(f"timeline/{SCOPE}")) == left
        assert len(list(objects.list(f"ledger/conversations/{SCOPE}"))) == left


@pytest.mark.parametrize(
    ("retention", "last"),
    [
        ({"timeline": "7 days"}, datetime(2026, 3, 9, tzinfo=UTC)),
        ({"timeline": "2 days"}, datetime(2026, 3, 4, tzinfo=UTC)),
        (
            {"yearly": "9 years", "daily": "9 years"},
            datetime(2028, 1, 3, tzinfo=UTC),
        ),
    ],
    ids=str,
)
def test_messages_go_when_their_own_time_is_over_though_nobody_has_spoken_since(
    retention: dict[str, str], last: datetime
) -> None:
    agent = Agent(retention=retention)
    agent.sum_up(MONDAY + DAY)
    for at, left in ((last - HOUR, 1), (last, 0)):
        agent.night(at)
        assert (
            len(agent.sim.parts.objects.folders(f"timeline/{SCOPE}")) == left
        )


def test_a_shorter_limit_that_is_set_later_is_kept_for_the_days_that_are_not_over_yet() -> (
    None
):
    agent = Agent(days=2, configured=False)
    agent.sum_up(MONDAY + 2 * DAY)
    sim, now = agent.sim, OVER + DAY
    run_configure(
        SCOPE.workspace,
        "retention.timeline",
        "5 days",
        now,
        objects=sim.parts.objects,
    )
    left = []
    for days in range(6):
        agent.night(now + HOUR + days * DAY)
        sim.drain()
        left.append(len(sim.parts.objects.folders(f"timeline/{SCOPE}")))
    assert left == [2, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("retention", "over"),
    [({}, datetime(2028, 1, 3, tzinfo=UTC)), ({"timeline": "3 days"}, OVER)],
    ids=str,
)
def test_messages_that_no_record_is_made_of_go_when_they_are_over(
    retention: dict[str, str], over: datetime
) -> None:
    agent = Agent(days=0, retention=retention)
    message = {
        "id": "m",
        "role": "tool",
        "content": "17 rows",
        "timestamp": iso(MONDAY),
    }
    owner = {
        "workspaceId": "acme",
        "agentId": "support",
        "conversationId": "c",
    }
    agent.sim.ingest([{**owner, "messages": [message]}])
    agent.sim.drain()
    for at, left in ((over - HOUR, 1), (over, 0)):
        agent.night(at)
        assert (
            len(agent.sim.parts.objects.folders(f"timeline/{SCOPE}")) == left
        )


def test_claim_checks_and_checkpoints_in_a_directory_go_after_a_month(
    tmp_path: Path,
) -> None:
    now = datetime.now(UTC)
    sim = Simulation({}, now, objects=local_objects(tmp_path))
    names = ("0123.json", "extractions/4567.json")
    for name in names:
        sim.parts.objects.put(f"payloads/{SCOPE}/{name}", b"what Dana said")
    for days, left in ((0, 2), (29, 2), (31, 0)):
        sim.app.cleanup(SCOPE, now + days * DAY, dry_run=True)
        sim.app.cleanup(SCOPE, now + days * DAY)
        assert (
            len(list(sim.parts.objects.list(f"payloads/{SCOPE}"))) == left
        ), days


# When to look.


def noted(agent: Agent) -> list[str]:
    return [
        info.key.removeprefix("ledger/expiry/")
        for info in agent.sim.parts.objects.list("ledger/expiry")
    ]


def test_a_pass_looks_at_agents_of_which_something_has_expired_and_at_no_other() -> (
    None
):
    agent = Agent()
    agent.sum_up(MONDAY + DAY)
    assert agent.night(OVER - HOUR) == WorkOutcome()
    assert agent.night(OVER) == WorkOutcome(cleaned=1, expired=1)
    agent.sim.drain()
    assert agent.night(OVER + HOUR) == WorkOutcome()


def test_a_note_is_settled_by_the_pass_and_the_next_expiry_is_noted() -> None:
    agent = Agent(days=3)
    agent.sum_up(MONDAY + 4 * DAY)
    agent.sim.clean(OVER)
    assert [note for note in noted(agent) if note.endswith("working")] == [
        "2026-03-06T00/acme/support/working",
        "2026-03-07T00/acme/support/working",
    ]
    agent.sim.clean(OVER + 2 * DAY)
    assert [note for note in noted(agent) if note.endswith("working")] == []


def test_notes_stay_until_the_deletion_is_done() -> None:
    agent = Agent()
    agent.sum_up(MONDAY + DAY)
    before = noted(agent)
    agent.night(OVER)
    assert noted(agent)[: len(before)] == before
    agent.sim.drain()
    assert "2026-03-05T00/acme/support/working" not in noted(agent)


def test_a_grains_notes_stay_while_another_grains_deletion_is_done() -> None:
    agent, at = Agent(retention={"daily": "2 days"}), MONDAY + 8 * DAY
    agent.sum_up(at, Grain.DAILY, Grain.WEEKLY)
    agent.night(at)
    (waiting,) = agent.sim.parts.write_queue.waiting[
        f"acme:support:{Grain.WORKING}"
    ]
    agent.sim.app.write([waiting])
    assert (agent.kept(), agent.kept(Grain.DAILY)) == ([], ["2026-03-02"])
    over = [note for note in noted(agent) if note < f"{at:%Y-%m-%dT%H}"]
    assert {note.rpartition("/")[2] for note in over} == {"daily"}


def test_a_longer_limit_that_is_set_later_ends_as_well() -> None:
    agent = Agent(days=2, configured=False)
    agent.sum_up(MONDAY + 2 * DAY)
    objects = agent.sim.parts.objects
    run_configure("acme", "plan", "starter", MONDAY + 2 * DAY, objects=objects)
    kept = []
    for days in range(5):
        agent.sim.clean(OVER + days * DAY)
        kept.append(agent.kept())
        if days == 1:  # the notes of the shorter limit are dealt with
            (note,) = (
                note for note in noted(agent) if note.endswith("working")
            )
            assert note == "2026-03-08T00/acme/support/working"
    monday, tuesday = "2026-03-02", "2026-03-03"
    assert kept == [[monday, tuesday]] * 3 + [[tuesday], []]


def test_what_waits_for_its_summary_is_looked_at_by_the_pass_of_the_next_day() -> (
    None
):
    agent = Agent(days=2)
    agent.sum_up(MONDAY + DAY + HOUR)
    late = OVER + timedelta(days=1, hours=5, minutes=10)
    assert agent.night(late).unsealed == 1
    agent.sim.drain()
    assert agent.night(late + DAY).unsealed == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plan", "free"),
        ("retention.working", "1 day"),
        ("timezone", "Asia/Tokyo"),
    ],
)
def test_a_change_of_configuration_makes_cleanup_look_again(
    name: str, value: str
) -> None:
    agent = Agent(days=2, configured=False)
    objects = agent.sim.parts.objects
    objects.put("vectordb/acme/support/working/some-file", b"")
    run_configure("acme", "plan", "pro", MONDAY, objects=objects)
    agent.sum_up(MONDAY + 3 * DAY)
    at = OVER + 2 * DAY
    agent.sim.clean(at)
    assert agent.kept() == ["2026-03-02", "2026-03-03"]
    run_configure("acme", name, value, at, objects=objects)
    outcome = agent.night(at + HOUR)
    agent.sim.drain()
    assert outcome.cleaned == 1
    assert agent.kept() == (
        [] if name != "timezone" else ["2026-03-02", "2026-03-03"]
    )


def test_an_agent_without_records_is_cleaned_to_no_effect() -> None:
    agent = Agent(days=0)
    report = agent.look(OVER)
    assert all(
        (grain.expired, grain.unsealed) == ({}, {}) for grain in report.grains
    )
    assert (
        of(report).oldest_kept
        == Period.of(
            OVER - 2 * DAY, Grain.WORKING, WorkspaceConfig().zone
        ).label
    )


@pytest.mark.parametrize("flag", [None, "", 0, "no"])
@pytest.mark.parametrize("name", ["dry_run", "force"])
def test_a_flag_that_is_no_flag_deletes_nothing(
    tmp_path: Path, name: str, flag: Any
) -> None:
    memory = Memory.open(tmp_path, now=MONDAY + 90 * DAY)
    memory.ingest(
        {
            "conversationId": "c-1",
            "startedAt": iso(MONDAY),
            "messages": [{"role": "user", "content": "I live in Leeds."}],
        }
    )
    memory.configure("plan", "free")
    with pytest.raises(Rejected) as error:
        memory.cleanup(**{name: flag})
    assert error.value.field == name
    assert memory.search().results
