"""The schedules, fired by hand: days become summaries, weeks are made of days, and what is over goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.conversations import SCRIPT, Conversation, conversation
from tests.e2e.snapshot import ASKED, LEARNT, list_ids, snapshot, without
from tests.support.deployment import Deploy, Deployment, deployed
from tests.support.install import Image
from tests.support.model_replies import extraction
from tests.support.model_server import (
    SERVER_ERROR,
    ModelServer,
    Request,
    prompt,
)
from tests.support.moto_template import Template

pytestmark = pytest.mark.e2e

WEEK, DAYS = "2026-W10", ["2026-03-02", "2026-03-03", "2026-03-05"]
FRIDAY_NIGHT, MONDAY_NIGHT = "2026-03-06T01:10:00Z", "2026-03-09T02:40:00Z"
CLEANUP = "CleanupFunctionNightly"
MUCH = "The boxes are still packed and the landlord has not called. " * 20
"""More words than are kept without a call of the model."""
GRAINS = ["daily", "weekly", "monthly", "quarterly", "yearly"]


def week(workspace: str = "acme") -> list[Conversation]:
    """Three days of one week, two users."""
    moved = ("I moved to Lisbon last Friday.", "The boxes are still packed.")
    error = "It says error code KX-4471 again."
    marco = {"user": "u-7", "speaker": "Marco"}
    return [
        conversation("c-monday", *moved, workspace=workspace, day=DAYS[0]),
        conversation(
            "c-tuesday",
            "I adore gooseberries.",
            workspace=workspace,
            day=DAYS[1],
        ),
        conversation(
            "c-thursday", error, workspace=workspace, day=DAYS[2], **marco
        ),
    ]


def narrator(request: Request) -> dict[str, Any]:
    """A model that extracts by the script, and sums up by saying again what it reads."""
    sources = re.search(
        r"<sources>\n(.*?)\n</sources>", prompt(request), re.DOTALL
    )
    if sources is None:
        return extraction(SCRIPT)(request)
    lines = [json.loads(line)["text"] for line in sources[1].splitlines()]
    return {
        "summary": "\n".join(lines),
        "people": ["Dana"],
        "topics": ["moving"],
        "open_questions": [],
    }


@pytest.fixture(scope="module")
def narrating() -> Iterator[ModelServer]:
    with ModelServer(narrator) as server:
        yield server


@pytest.fixture(scope="module")
def told(
    template: Template, image: Image, narrating: ModelServer
) -> Iterator[Deployment]:
    """A deployment of the module's own, for a schedule plans for every workspace there is."""
    given: dict[str, Any] = {
        "parameters": {"Llm": "openai:test-model"},
        "overrides": narrating.environment,
    }
    with deployed(template, image, **given) as deployment:
        deployment.ingest_all(*week())
        deployment.run()
        yield deployment


@pytest.fixture(scope="module")
def working(told: Deployment) -> list[dict[str, Any]]:
    """The working records, from before any schedule fired."""
    return found(told, "working")


@pytest.fixture(scope="module")
def days(
    told: Deployment, working: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The daily summaries after the night in which the last of the days was over."""
    told.fire("daily", FRIDAY_NIGHT)
    told.run()
    return found(told, "daily")


@pytest.fixture(scope="module")
def weeks(
    told: Deployment, days: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The weekly summaries after the night in which the week was over."""
    told.fire("weekly", MONDAY_NIGHT)
    told.run()
    return found(told, "weekly")


def found(
    deployment: Deployment,
    grain: str,
    workspace: str = "acme",
    agent: str = "support",
) -> list[dict[str, Any]]:
    """The records of one grain, newest first, without what depends on the time of asking."""
    answer = deployment.search(workspace, agent, grain=grain, maxResults=100)
    return [
        without(each, LEARNT | ASKED)
        for each in answer["results"]
        if each["grain"] == grain
    ]


def periods(
    deployment: Deployment, grain: str, workspace: str = "acme"
) -> list[str]:
    return sorted(
        {each["period"] for each in found(deployment, grain, workspace)}
    )


def narrated(
    deploy: Deploy, other_model: ModelServer, **options: Any
) -> Deployment:
    """A deployment of a test's own that has heard of the week."""
    other_model.reply = narrator
    deployment = deploy(**options)
    deployment.ingest_all(*week())
    deployment.run()
    return deployment


def test_every_grain_has_a_schedule_and_cleanup_one(told: Deployment) -> None:
    fired = {
        (each.function, each.grain) for each in told.stack.schedules.values()
    }
    assert fired == {
        *(("SummarizeFunction", grain) for grain in GRAINS),
        ("CleanupFunction", None),
    }


def test_a_day_that_is_over_gets_one_summary_made_of_its_records(
    working: list[dict[str, Any]], days: list[dict[str, Any]]
) -> None:
    assert sorted(day["period"] for day in days) == DAYS
    for day in days:
        of_day = [one for one in working if one["period"] == day["period"]]
        records = list_ids(of_day)
        assert len(records) == len(set(records)) > 1
        assert set(day["sourceIds"]) == set(records)


def test_a_week_that_is_over_gets_one_summary_of_each_user_made_of_that_users_days(
    days: list[dict[str, Any]], weeks: list[dict[str, Any]]
) -> None:
    assert [one["period"] for one in weeks] == [WEEK, WEEK]
    made = {one["userId"]: set(one["sourceIds"]) for one in weeks}
    assert made == {
        user: {day["id"] for day in days if day["userId"] == user}
        for user in ("u-42", "u-7")
    }
    content = {one["userId"]: one["content"] for one in weeks}
    assert ("Lisbon" in content["u-42"], "Lisbon" in content["u-7"]) == (
        True,
        False,
    )


def test_a_schedule_that_fires_again_for_the_same_time_builds_nothing_anew(
    told: Deployment,
    days: list[dict[str, Any]],
    weeks: list[dict[str, Any]],
    narrating: ModelServer,
) -> None:
    asked = len(narrating.chats)
    fired = [
        told.fire("daily", FRIDAY_NIGHT),
        told.fire("weekly", MONDAY_NIGHT),
    ]
    told.run()
    assert fired == [{"planned": 0, "left": 0, "waiting": 0}] * 2
    assert len(narrating.chats) == asked
    assert (found(told, "daily"), found(told, "weekly")) == (days, weeks)


def test_a_late_conversation_rebuilds_its_day_and_only_its_day(
    told: Deployment, days: list[dict[str, Any]], weeks: list[dict[str, Any]]
) -> None:
    at = {"workspace": "late"}
    told.ingest_all(*week("late"))
    told.run()
    told.fire("daily", FRIDAY_NIGHT)
    told.run()
    before = {day["period"]: day for day in found(told, "daily", "late")}
    told.ingest(
        conversation("c-after", "Oh, and quinces as well!", day=DAYS[1], **at)
    )
    told.run()
    assert told.fire("daily", FRIDAY_NIGHT)["planned"] == 1
    told.run()
    after = {day["period"]: day for day in found(told, "daily", "late")}
    assert [period for period in DAYS if after[period] != before[period]] == [
        DAYS[1]
    ]
    assert "quinces" in after[DAYS[1]]["content"]
    assert found(told, "daily") == days


def test_doubled_schedules_and_messages_change_nothing(
    days: list[dict[str, Any]],
    weeks: list[dict[str, Any]],
    deploy: Deploy,
    other_model: ModelServer,
) -> None:
    doubled = narrated(
        deploy, other_model, deliver_twice=True, deduplication_seconds=0
    )
    for grain, night in (("daily", FRIDAY_NIGHT), ("weekly", MONDAY_NIGHT)):
        planned = [doubled.fire(grain, night)["planned"] for _ in range(2)]
        assert planned[0] == planned[1] > 0
        doubled.run()
    assert (found(doubled, "daily"), found(doubled, "weekly")) == (days, weeks)
    assert not any(
        delivery.broken_groups for delivery in doubled.poller.deliveries
    )


def settle(deployment: Deployment) -> None:
    """Build what other tests left due, so that a test counts its own periods alone."""
    for grain, night in (("daily", FRIDAY_NIGHT), ("weekly", MONDAY_NIGHT)):
        deployment.fire(grain, night)
        deployment.run()


def count_summaries(deployment: Deployment) -> tuple[float, float]:
    """Return how many periods failed and how many summaries were built so far."""
    failed = deployment.metric("SummarizeFunction", "FailedPeriods")
    return failed, deployment.metric("SummarizeFunction", "BuiltSummaries")


def test_a_day_whose_model_fails_waits_is_counted_and_comes_later(
    told: Deployment, narrating: ModelServer
) -> None:
    settle(told)
    told.ingest_all(*week("failing"))
    told.ingest(conversation("c-long", MUCH, workspace="failing", day=DAYS[0]))
    told.run()
    failed = f"{told.root}ledger/failed/"
    failures, built = count_summaries(told)
    narrating.fail_next(SERVER_ERROR)
    assert told.fire("daily", FRIDAY_NIGHT)["planned"] == 3
    told.run()
    assert periods(told, "daily", "failing") == DAYS[1:]
    assert count_summaries(told) == (failures + 1, built + 2)
    (noted,) = told.keys(failed)
    assert DAYS[0] in noted
    assert json.loads(told.read(noted))["reason"]
    # It waits, and the week waits for it.
    assert told.fire("daily", FRIDAY_NIGHT)["planned"] == 0
    assert told.fire("weekly", MONDAY_NIGHT)["planned"] == 0
    later = datetime.now(UTC) + timedelta(minutes=90)
    assert (
        told.fire("daily", later.strftime("%Y-%m-%dT%H:%M:%SZ"))["planned"]
        == 1
    )
    told.run()
    assert periods(told, "daily", "failing") == DAYS
    assert told.keys(failed) == []
    assert count_summaries(told) == (failures + 1, built + 3)
    assert told.fire("weekly", MONDAY_NIGHT)["planned"] == 1
    told.run()
    assert told.poller.dead_letters("WorkQueue") == []


def test_poison_on_the_work_queue_is_a_dead_letter_and_its_group_goes_on(
    told: Deployment,
) -> None:
    told.ingest_all(*week("poisoned"))
    told.run()
    told.poller.send(
        "WorkQueue", "not JSON, but a heron", "poisoned:support", "poison-1"
    )
    told.fire("daily", FRIDAY_NIGHT)
    told.run()
    (letter,) = told.poller.dead_letters("WorkQueue")
    assert letter["body"] == "not JSON, but a heron"
    assert (
        letter["messageAttributes"]["errorType"]["stringValue"] == "Rejected"
    )
    assert periods(told, "daily", "poisoned") == DAYS
    told.poller.take("WorkDeadLetterQueue")


def test_a_day_is_over_when_it_is_over_in_the_workspaces_time_zone(
    told: Deployment,
) -> None:
    told.stack.client("s3").put_object(
        Bucket=told.stack.bucket,
        Key=f"{told.root}workspaces/auckland/config.json",
        Body=b'{"timezone": "Pacific/Auckland"}',
    )
    for workspace in ("auckland", "greenwich"):
        told.ingest(
            conversation(
                "c-1",
                "I adore gooseberries.",
                workspace=workspace,
                day=DAYS[0],
            )
        )
    told.run()
    # Midnight in Auckland is 11:00 here, and an hour of grace comes after it.
    planned = [
        told.fire("daily", f"{DAYS[0]}T{hour}:10:00Z")["planned"]
        for hour in (11, 12)
    ]
    told.run()
    assert planned == [0, 1]
    assert periods(told, "daily", "auckland") == DAYS[:1]
    assert periods(told, "daily", "greenwich") == []
    settle(told)


def test_cleanup_takes_the_working_records_of_sealed_days_over_48_hours_old_and_nothing_else(
    deploy: Deploy, other_model: ModelServer
) -> None:
    deployment = narrated(deploy, other_model)
    deployment.fire("daily", FRIDAY_NIGHT)
    deployment.run()
    late = "2026-02-26"
    deployment.ingest(
        conversation(
            "c-late", "The heating of my flat in Porto is broken.", day=late
        )
    )
    deployment.run()
    before = remembered(deployment)
    old = [
        record for record in before["working"] if record["period"] in DAYS[:2]
    ]
    assert deployment.fire(CLEANUP, "2026-03-06T05:10:00Z") == {
        "planned": 1,
        "left": 0,
    }
    deployment.run()
    kept = [record for record in before["working"] if record not in old]
    assert {record["period"] for record in kept} == {late, DAYS[2]}
    assert remembered(deployment) == {**before, "working": kept}
    assert deployment.metric("CleanupFunction", "PlannedAgents") == 1
    assert deployment.metric("SummarizeFunction", "CleanedAgents") == 1
    assert deployment.metric("SummarizeFunction", "ExpiredPeriods") == 2
    assert deployment.metric("SummarizeFunction", "UnsealedPeriods") == 1
    # What could not go for want of a summary goes once it has one.
    deployment.fire("daily", "2026-03-07T01:10:00Z")
    deployment.run()
    assert deployment.fire(CLEANUP, "2026-03-07T05:10:00Z") == {
        "planned": 1,
        "left": 0,
    }
    deployment.run()
    assert deployment.metric("SummarizeFunction", "ExpiredPeriods") == 3
    assert deployment.metric("SummarizeFunction", "UnsealedPeriods") == 1
    assert periods(deployment, "working") == [DAYS[2]]
    assert periods(deployment, "daily") == [late, *DAYS]


def remembered(deployment: Deployment) -> dict[str, Any]:
    """All that memory holds: the records by grain, the triples and the timeline."""
    held = snapshot(deployment, "acme", "support")["support"]
    grains = {
        grain: found(deployment, grain) for grain in ("working", *GRAINS)
    }
    return {**grains, "triples": held["triples"], "timeline": held["timeline"]}


def test_no_schedule_leaves_content_or_keys_in_a_log(
    told: Deployment, narrating: ModelServer
) -> None:
    told.fire("daily", FRIDAY_NIGHT)
    told.fire(CLEANUP, MONDAY_NIGHT)
    said = {
        *told.sent,
        *(knowledge.content for knowledge in SCRIPT.values()),
        narrating.api_key,
    }
    for name in ("SummarizeFunction", "CleanupFunction"):
        assert told.logs[name].strip()
        assert [text for text in said if text in told.logs[name]] == []
