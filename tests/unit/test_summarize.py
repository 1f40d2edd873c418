"""One agent's period: its one summary, made of what lies below, rebuilt only where that has changed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.builders import (
    ACME,
    MORNING,
    Failing,
    WordEmbedder,
    a_record,
)
from tests.support.summarized import (
    DAY,
    NOW,
    PYRAMID,
    WEEK,
    Agent,
    Saying,
    told,
    turn,
)
from tests.support.usecase_drivers import run_gather
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.ledger import failed_key
from varve.domain.record import MemoryType, Vector
from varve.domain.summary import (
    BUDGET_TOKENS,
    KEY_FACTS,
    Summary,
    agent_summary_id,
    key_facts_from_json,
    summary_id,
)
from varve.domain.text import estimated_tokens
from varve.domain.workspace import WorkspaceConfig
from varve.messages.write import WriteRecords, read_write
from varve.usecases.summaries.condensing import ExtractiveSummarizer
from varve.usecases.summaries.summarize import SummaryOutcome


class Strict(WordEmbedder):
    """An Embedder that refuses blank texts, as those behind an API do."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if not all(text.strip() for text in texts):
            raise ValueError("blank texts have no vector")
        return super().embed(texts)


# What a summary is.


def test_invariant_5_a_period_has_one_summary_with_an_id_of_its_own() -> None:
    agent = told()
    assert agent.sum_up() is SummaryOutcome.BUILT
    agent.tell(a_record("Dana likes tea."))
    assert agent.sum_up() is SummaryOutcome.BUILT
    assert agent.summary().id == summary_id(DAY, "u-42")
    periods = [*PYRAMID, DAY.next()]
    ids = {
        summary_id(one, user)
        for one in periods
        for user in ("u-42", "u-1", None)
    }
    assert len(ids | {agent_summary_id(one) for one in periods}) == 24


def test_a_summary_says_what_it_is_of_and_from() -> None:
    facts = [
        a_record("Dana likes tea."),
        turn(at=MORNING + timedelta(minutes=1)),
    ]
    agent = told(*facts)
    summarizer = Saying(
        "A day.", people=("Dana",), topics=("tea",), open_questions=("Why?",)
    )
    agent.sum_up(summarizer=summarizer)
    made = agent.summary()
    assert (made.memory_type, made.period, made.created_at) == (
        MemoryType.SUMMARY,
        DAY.label,
        NOW,
    )
    assert (made.people, made.topics, made.open_questions) == (
        ("Dana",),
        ("tea",),
        ("Why?",),
    )
    assert made.source_ids == tuple(fact.id for fact in facts)
    assert made.source_fingerprints == tuple(
        fact.fingerprint[:16] for fact in facts
    )
    assert made.event_time == datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_the_middle_of_a_local_day_is_a_local_time() -> None:
    agent = told(timezone="Asia/Tokyo")
    agent.sum_up()
    assert agent.summary().event_time == datetime(2026, 3, 2, 3, tzinfo=UTC)


def test_sources_come_oldest_first_with_their_times() -> None:
    late, early = (
        a_record("late", at=MORNING + timedelta(hours=2)),
        a_record("early"),
    )
    agent = told(late, early)
    agent.sum_up()
    (task,) = agent.summarizer.tasks
    assert [(source.text, source.at) for source in task.sources] == [
        ("early", early.event_time),
        ("late", late.event_time),
    ]
    assert (task.period, task.zone) == (DAY, agent.config.zone)


def test_a_week_is_made_of_its_days_without_their_lists_of_facts() -> None:
    agent = told(
        a_record(), a_record("Dana likes tea.", at=MORNING + timedelta(days=2))
    )
    for day in (DAY, DAY.shifted(2)):
        agent.sum_up(day, Saying(f"The {day.label}."))
    agent.sum_up(WEEK)
    (task,) = agent.summarizer.tasks
    assert [(s.label, s.text) for s in task.sources] == [
        ("2026-03-02", "The 2026-03-02."),
        ("2026-03-04", "The 2026-03-04."),
    ]
    assert agent.summary(WEEK).source_ids == (
        summary_id(DAY, "u-42"),
        summary_id(DAY.shifted(2), "u-42"),
    )


# Rebuilding.


def test_unchanged_sources_ask_no_model_and_write_nothing() -> None:
    agent = told()
    agent.sum_up()
    agent.tell(a_record())  # the same again: the period is due once more
    assert agent.is_due()
    before = agent.summary()
    assert agent.sum_up(commit=False) is SummaryOutcome.UNCHANGED
    assert (
        len(agent.summarizer.tasks),
        agent.queue.sent,
        agent.summary(),
    ) == (
        1,
        [],
        before,
    )
    assert not agent.is_due()


def test_a_period_with_nothing_below_is_settled_without_a_summary() -> None:
    agent = Agent()
    agent.ledger.mark(ACME, [DAY], "a")
    assert agent.sum_up() is SummaryOutcome.EMPTY
    assert agent.records.periods(ACME, Grain.DAILY) == {}
    assert not agent.is_due()


@pytest.mark.parametrize(
    "also",
    [{}, {"id": "fact-1"}],
    ids=["a new source", "a known one in other words"],
)
def test_a_changed_source_builds_the_summary_anew(
    also: dict[str, str],
) -> None:
    agent = told(a_record("Dana lives in Porto.", id="fact-1"))
    agent.sum_up()
    before = agent.summary()
    agent.tell(a_record("Dana lives in Lisbon.", **also))
    assert agent.sum_up() is SummaryOutcome.BUILT
    assert agent.summary().content != before.content
    assert set(agent.summary().source_ids) == {
        "fact-1",
        a_record("Dana lives in Lisbon.", **also).id,
    }


def test_of_words_taken_back_before_their_time_was_over_no_summary_keeps_any() -> (
    None
):
    agent = Agent()
    for home in ("Porto", "Lisbon"):
        agent.tell(a_record(f"Dana lives in {home}.", id="fact-1"))
        agent.sum_up(DAY, now=MORNING + timedelta(days=1))
        agent.sum_up(WEEK, now=MORNING + timedelta(days=8))
    for period in (DAY, WEEK):
        made = agent.summary(period)
        assert [
            fact.content for fact in key_facts_from_json(made.key_facts)
        ] == ["Dana lives in Lisbon."]
    assert [len(task.sources) for task in agent.summarizer.tasks] == [
        1,
        1,
        1,
        1,
    ]


def test_what_is_written_while_it_is_being_made_keeps_the_period_due() -> None:
    agent = told()
    assert agent.sum_up(commit=False) is SummaryOutcome.BUILT
    (waiting,) = agent.queue.sent
    agent.queue.sent.clear()
    agent.tell(a_record("Dana likes tea."))
    agent.queue.sent.append(waiting)
    agent.commit()
    assert agent.is_due()
    assert agent.sum_up() is SummaryOutcome.BUILT
    assert len(agent.summary().source_ids) == 2
    assert not agent.is_due()


def test_a_period_in_which_nobody_said_a_word_is_summed_up_and_holds_up_no_other() -> (
    None
):
    agent = told(turn("Dana: \U0001f642\U0001f642"))
    agent.embedder = Strict()
    assert (
        agent.sum_up(summarizer=ExtractiveSummarizer(agent.embedder))
        is SummaryOutcome.BUILT
    )
    assert agent.summary().content.strip()
    assert not agent.is_due()


def test_marks_go_only_when_the_summary_is_written_and_then_the_period_above_is_due() -> (
    None
):
    agent = told()
    agent.sum_up(commit=False)
    assert (agent.is_due(), agent.is_due(WEEK)) == (True, False)
    agent.commit()
    assert (agent.is_due(), agent.is_due(WEEK)) == (False, True)


def test_invariant_2_a_delivery_repeated_before_the_write_changes_nothing() -> (
    None
):
    once, twice = told(), told()
    once.sum_up()
    for _ in range(2):
        twice.sum_up(commit=False)
    twice.commit()
    assert twice.summary() == once.summary()
    assert twice.is_due() is once.is_due() is False


def test_invariant_2_a_summary_that_was_held_up_does_not_take_a_newer_ones_place() -> (
    None
):
    """As a dead letter that is sent again; the late fact would be in no summary, and none be due."""
    agent = told()
    agent.sum_up(commit=False)
    late, agent.queue.sent = agent.queue.sent, []
    agent.tell(a_record("Dana likes tea."))
    agent.sum_up(now=NOW + timedelta(hours=1))
    newer = agent.summary()
    agent.queue.sent = late
    agent.commit()
    assert agent.summary() == newer
    assert len(newer.source_ids) == 2


def test_a_summary_made_anew_while_the_clock_is_behind_takes_the_old_ones_place() -> (
    None
):
    agent = told()
    agent.sum_up()
    agent.tell(a_record("Dana likes tea."))
    assert agent.sum_up(now=NOW - timedelta(hours=9)) is SummaryOutcome.BUILT
    assert len(agent.summary().source_ids) == 2


def test_a_late_source_is_summed_up_with_the_summary_that_alone_knows_the_lost_ones() -> (
    None
):
    agent = told(a_record("Dana lives in Porto."))
    agent.sum_up(summarizer=Saying("She moved."))
    agent.lose(Period(Grain.WORKING, DAY.label))
    late = a_record("Dana likes tea.")
    agent.tell(late)
    assert agent.sum_up() is SummaryOutcome.BUILT
    (task,) = agent.summarizer.tasks
    assert [source.text for source in task.sources] == [
        "She moved.",
        "Dana likes tea.",
    ]
    made = agent.summary()
    assert set(made.source_ids) == {
        a_record("Dana lives in Porto.").id,
        late.id,
    }
    assert len(made.source_fingerprints) == 2
    assert {fact.content for fact in key_facts_from_json(made.key_facts)} == {
        "Dana lives in Porto.",
        "Dana likes tea.",
    }
    agent.tell(late)
    assert agent.sum_up() is SummaryOutcome.UNCHANGED


def test_losing_sources_alone_is_no_reason_to_build_anew() -> None:
    agent = told(a_record("a"), a_record("b", at=MORNING + timedelta(days=1)))
    for period in (DAY, DAY.next(), WEEK):
        agent.sum_up(period)
    before = agent.summary(WEEK)
    agent.lose(DAY)
    agent.ledger.mark(ACME, [WEEK], "again")
    assert agent.sum_up(WEEK) is SummaryOutcome.UNCHANGED
    assert agent.summary(WEEK) == before


def test_a_stale_listing_of_what_is_summed_up_builds_nothing_and_settles_nothing() -> (
    None
):
    agent = told()
    agent.sum_up()
    before = deepcopy(agent.records)
    agent.tell(a_record("Dana likes tea.", at=MORNING + timedelta(days=1)))
    agent.sum_up(DAY.next())
    now, agent.records = agent.records, before
    with pytest.raises(Retryable):
        agent.sum_up(WEEK)
    assert agent.is_due(WEEK)
    agent.records = now
    assert agent.sum_up(WEEK) is SummaryOutcome.BUILT
    assert len(agent.summary(WEEK).source_ids) == 2
    assert not agent.is_due(WEEK)


# Key facts.


def test_key_facts_survive_to_the_year_word_for_word() -> None:
    agent = told(a_record("Dana's ticket is KX-4471.", importance=0.9), turn())
    for period in PYRAMID:
        assert (
            agent.sum_up(period, Saying("Nothing much."))
            is SummaryOutcome.BUILT
        )
    year = agent.summary(PYRAMID[-1])
    assert (
        year.content
        == "Nothing much.\nKey facts:\n- 2026-03-02: Dana's ticket is KX-4471."
    )
    (fact,) = key_facts_from_json(year.key_facts)
    assert (fact.content, fact.importance, fact.event_time) == (
        "Dana's ticket is KX-4471.",
        0.9,
        MORNING,
    )


def test_key_facts_are_the_most_important_and_the_same_through_every_grain() -> (
    None
):
    facts = [
        a_record(
            f"fact {i}",
            at=MORNING + timedelta(days=i),
            importance=(i * 37 % 50) / 100,
        )
        for i in range(50)
    ]
    agent = told(*facts)
    for grain in SUMMARY_GRAINS:
        for day in facts:
            agent.sum_up(
                Period.of(day.event_time, grain, agent.config.zone),
                Saying("-"),
            )
    best = sorted(facts, key=lambda f: -f.importance)
    year = agent.summary(PYRAMID[-1])
    kept = {fact.id for fact in key_facts_from_json(year.key_facts)}
    assert KEY_FACTS == len(kept) == 12
    assert (
        min(f.importance for f in facts if f.id in kept)
        >= best[KEY_FACTS].importance
    )


def test_a_summary_without_key_facts_has_no_heading_for_any() -> None:
    agent = told(turn())
    agent.sum_up(summarizer=Saying("She said hello."))
    assert agent.summary().content == "She said hello."


def test_where_not_all_key_facts_find_room_the_most_important_are_told_oldest_first() -> (
    None
):
    facts = [
        a_record(
            f"{i:02} " + "tea " * 90,
            at=MORNING + timedelta(hours=i),
            importance=(i * 5 % 12) / 12,
        )
        for i in range(12)
    ]
    agent = told(*facts)
    agent.sum_up(summarizer=Saying("-"))
    lines = agent.summary().content.partition("Key facts:\n")[2].splitlines()
    numbers = [int(line.split()[2]) for line in lines]
    best = sorted(facts, key=lambda fact: -fact.importance)[: len(lines)]
    assert 1 < len(lines) < 12
    assert numbers == sorted(int(fact.content[:2]) for fact in best)


def test_gathering_reads_a_fact_told_twice_once() -> None:
    agent = told(
        a_record("Dana likes tea."),
        a_record("Dana  likes Tea.", at=MORNING + timedelta(hours=1)),
    )
    found = run_gather(
        ACME, DAY, MORNING, WorkspaceConfig(), reader=agent.records
    )
    assert [len(one.key_facts) for one in found.users] == [1]


# The budget.


@pytest.mark.parametrize("period", PYRAMID, ids=str)
def test_text_and_key_facts_together_keep_the_budget(period: Period) -> None:
    facts = [
        a_record(f"{i} " + "tea " * 60, importance=0.5 + i / 100)
        for i in range(40)
    ]
    agent = told(*facts)
    for below in PYRAMID[: PYRAMID.index(period) + 1]:
        agent.sum_up(below, Wordy())
    made = agent.summary(period)
    assert "Key facts:" in made.content
    assert (
        0.8 < estimated_tokens(made.content) / BUDGET_TOKENS[period.grain] <= 1
    )


class Wordy:
    """A Summarizer that uses up all it may."""

    name = "wordy"

    def summarize(self, task: Any) -> Summary:
        return Summary("word" * task.budget)


# Failures.


@pytest.mark.parametrize(
    "error",
    [Retryable("model: overloaded"), Rejected("model reply", "is blank")],
)
def test_a_failing_model_is_noted_with_its_reason_and_the_period_stays_due(
    error: Exception,
) -> None:
    agent = told()
    failing = Failing(agent.summarizer, error, 1)
    assert agent.sum_up(summarizer=failing) is SummaryOutcome.FAILED
    failure = agent.ledger.failures(DAY)[ACME]
    assert (failure.attempts, failure.reason) == (1, str(error))
    assert failure.next_try == NOW + timedelta(hours=1)
    assert agent.is_due()
    assert agent.records.periods(ACME, Grain.DAILY) == {}


def test_other_periods_go_on_and_success_forgets_the_failure() -> None:
    agent = told(a_record(), a_record("b", at=MORNING + timedelta(days=1)))
    failing = Failing(agent.summarizer, Retryable("model: down"), 1)
    outcomes = [agent.sum_up(day, failing) for day in (DAY, DAY.next(), DAY)]
    assert outcomes == [
        SummaryOutcome.FAILED,
        SummaryOutcome.BUILT,
        SummaryOutcome.BUILT,
    ]
    assert agent.ledger.failures(DAY) == {}


def test_a_period_that_fails_for_the_fifth_time_is_given_up_and_built_all_the_same_when_it_can_be() -> (
    None
):
    agent = told()
    failing = Failing(
        agent.summarizer, Retryable("model: overloaded"), *range(1, 7)
    )
    outcomes = [agent.sum_up(summarizer=failing) for _ in range(7)]
    assert outcomes == [
        *[SummaryOutcome.FAILED] * 4,
        *[SummaryOutcome.GIVEN_UP] * 2,
        SummaryOutcome.BUILT,
    ]
    assert not agent.is_due()


def test_a_failing_embedder_is_noted_as_well() -> None:
    agent = told()
    agent.embedder = Failing(WordEmbedder(), Retryable("embeddings: down"), 1)
    assert agent.sum_up() is SummaryOutcome.FAILED
    assert agent.ledger.failures(DAY)[ACME].reason == "embeddings: down"
    assert agent.sum_up() is SummaryOutcome.BUILT


def test_a_repeated_delivery_that_fails_leaves_no_failure_once_the_first_is_written() -> (
    None
):
    agent = told()
    agent.sum_up(commit=False)
    agent.sum_up(
        summarizer=Failing(agent.summarizer, Retryable("model: down"), 1),
        commit=False,
    )
    assert agent.objects.get(failed_key(ACME, DAY))
    agent.commit()
    assert agent.ledger.failures(DAY) == {}


def test_a_wrong_setting_is_the_operators_business_and_no_failure_of_the_period() -> (
    None
):
    agent = told()
    failing = Failing(
        agent.summarizer, Misconfigured("OPENAI_API_KEY: is not set"), 1
    )
    with pytest.raises(Misconfigured):
        agent.sum_up(summarizer=failing)
    assert agent.ledger.failures(DAY) == {}
    assert agent.is_due()


# When cleanup is to look.


def test_a_written_summary_notes_when_it_and_what_it_sums_up_expire() -> None:
    agent = told(plan="free")
    agent.sum_up(commit=False)
    message = read_write(agent.queue.sent[0], objects=agent.objects)
    assert isinstance(message, WriteRecords)
    assert set(message.ledger.expiries) == {
        "ledger/expiry/2026-03-05T00/acme/support/working",
        "ledger/expiry/2026-04-01T00/acme/support/daily",
    }


def test_records_that_come_back_after_their_time_are_noted_for_cleanup_again() -> (
    None
):
    """A message delivered once more when its day had long been cleaned up."""
    agent = told()
    agent.sum_up()
    agent.lose(Period(Grain.WORKING, DAY.label))
    agent.objects.delete(
        [info.key for info in agent.objects.list("ledger/expiry")]
    )
    agent.tell(a_record())
    assert agent.sum_up() is SummaryOutcome.UNCHANGED
    assert ACME in agent.ledger.expiring(datetime(2026, 3, 5, tzinfo=UTC))
