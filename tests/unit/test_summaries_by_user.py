"""Summaries are made per user: of one user's words alone, and rebuilt when those change."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.builders import ACME, MORNING, Failing, a_record
from tests.support.summarized import DAY, WEEK, Agent, Saying, told, turn
from varve.domain.calendar import Grain, Period
from varve.domain.conversation import Message, owner_of_each
from varve.domain.erasure import Selector, Tombstones
from varve.domain.errors import Rejected
from varve.domain.record import Record
from varve.domain.summary import (
    agent_summary_id,
    key_facts_from_json,
    summary_id,
)
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.erasure import tombstones
from varve.usecases.ingest.taken_in import Said
from varve.usecases.summaries.summarize import SummaryOutcome
from varve.usecases.timeline import keep

PORTO = a_record("Ana lives in Porto.", user_id="u-a")
BREMEN = a_record("Bo lives in Bremen.", user_id="u-b")
RAIN = a_record("It rains.", user_id=None)
AGENT_WIDE = {"summaries": {"scope": "agent"}}
WORKING_DAY = Period(Grain.WORKING, DAY.label)


def by_user(agent: Agent, period: Period = DAY) -> dict[str | None, Record]:
    """The summaries of a period by user; no user has two."""
    found = agent.records.in_period(ACME, period.grain, period.label)
    users = {record.user_id: record for record in found}
    assert len(users) == len(found)
    return users


def of_an_older_version(*records: Record) -> Agent:
    """An agent whose day has one summary of all users, as older versions made it."""
    agent = told(*records, **AGENT_WIDE)
    agent.sum_up(summarizer=Saying("Ana and Bo live somewhere."))
    agent.config = WorkspaceConfig()
    return agent


def say(agent: Agent, *said: tuple[str, str | None]) -> list[Record]:
    """Tell turns of users, and keep their messages on the timeline."""
    messages: list[Said] = []
    turns: list[Record] = []
    for number, (words, user_id) in enumerate(said):
        at = MORNING + timedelta(minutes=number)
        message = Message(
            role="user", content=words, id=f"m{number}", userId=user_id
        )
        messages.append(Said(message, at, number))
        turns.append(turn(f"{user_id}: {words}", at=at, user_id=user_id))
    keep(messages, ACME, "c-1", agent.config.zone, objects=agent.objects)
    agent.tell(*turns)
    return turns


# One summary per user.


def test_invariant_5_each_user_has_one_summary_that_cites_its_own_records_alone() -> (
    None
):
    agent = told(PORTO, BREMEN, RAIN)
    assert agent.sum_up() is SummaryOutcome.BUILT
    agent.sum_up(WEEK)
    days = by_user(agent)
    assert {user: record.source_ids for user, record in days.items()} == {
        "u-a": (PORTO.id,),
        "u-b": (BREMEN.id,),
        None: (RAIN.id,),
    }
    assert {user: record.id for user, record in days.items()} == {
        user: summary_id(DAY, user) for user in days
    }
    for user, week in by_user(agent, WEEK).items():
        assert week.source_ids == (days[user].id,)


def test_no_prompt_holds_two_users_words() -> None:
    agent = told(PORTO, BREMEN, RAIN)
    for period in (DAY, WEEK):
        agent.sum_up(period)
    assert len(agent.summarizer.tasks) == 6
    for task in agent.summarizer.tasks:
        assert len({source.user_id for source in task.sources}) == 1


def test_a_workspace_may_have_one_summary_of_all_users() -> None:
    agent = told(PORTO, BREMEN, **AGENT_WIDE)
    agent.sum_up()
    made = agent.summary()
    assert (made.id, made.user_id) == (agent_summary_id(DAY), None)
    assert set(made.source_ids) == {PORTO.id, BREMEN.id}


def test_only_the_users_whose_sources_changed_are_summarized_again() -> None:
    agent = told(PORTO, BREMEN)
    agent.sum_up()
    before = by_user(agent)
    agent.summarizer.tasks.clear()
    agent.tell(a_record("Bo likes tea.", user_id="u-b"))
    agent.sum_up()
    (task,) = agent.summarizer.tasks
    assert {source.user_id for source in task.sources} == {"u-b"}
    assert by_user(agent)["u-a"] == before["u-a"]
    assert len(by_user(agent)["u-b"].source_ids) == 2


def test_an_answer_belongs_to_the_user_that_it_answers() -> None:
    said = [
        ("assistant", None, "u-a"),
        ("user", "u-b", "u-a"),
        ("assistant", None, "u-a"),
        ("user", None, "u-a"),
        ("assistant", None, "u-a"),
        ("assistant", "u-b", "u-a"),
        ("tool", None, None),
    ]
    assert owner_of_each(said) == [
        "u-a",
        "u-b",
        "u-b",
        "u-a",
        "u-a",
        "u-b",
        "u-a",
    ]


# Failures, and many users.


def test_a_users_failure_keeps_no_other_user_and_the_period_stays_due() -> (
    None
):
    agent = told(PORTO, BREMEN)
    failing = Failing(agent.summarizer, Rejected("model reply", "is blank"), 1)
    assert agent.sum_up(summarizer=failing) is SummaryOutcome.FAILED
    assert set(by_user(agent)) == {"u-b"}
    assert agent.is_due()
    reason = agent.ledger.failures(DAY)[ACME].reason
    assert reason == "1 of 2 users: model reply: is blank"
    agent.sum_up()
    assert set(by_user(agent)) == {"u-a", "u-b"}
    assert not agent.is_due()
    assert len(agent.summarizer.tasks) == 2


def crowd(count: int, words: int) -> list[Record]:
    return [
        a_record(f"{n} " + "tea " * words, user_id=f"u-{n:04}")
        for n in range(count)
    ]


def test_many_users_are_summarized_in_parts_and_settled_with_the_last() -> (
    None
):
    agent = told(*crowd(5, words=300))
    parts = []
    done = agent.run(most_calls=2)
    while done.rest:
        assert agent.is_due()
        parts.append((done.built, done.rest.after))
        done = agent.run(most_calls=2, part=done.rest)
    assert parts == [(2, "u-0001"), (2, "u-0003")]
    assert done.built == 1
    assert len(by_user(agent)) == 5
    assert len(agent.summarizer.tasks) == 5
    assert not agent.is_due()


def test_words_that_come_between_two_parts_keep_the_period_due() -> None:
    agent = told(*crowd(4, words=300))
    first = agent.run(most_calls=2)
    agent.tell(a_record("late", user_id="u-0000"))
    assert agent.run(most_calls=2, part=first.rest).rest is None
    assert agent.is_due()
    agent.run(most_calls=2)
    assert len(by_user(agent)["u-0000"].source_ids) == 2
    assert len(agent.summarizer.tasks) == 5
    assert not agent.is_due()


def test_a_failure_in_an_early_part_keeps_the_period_due_after_the_last() -> (
    None
):
    agent = told(*crowd(4, words=300))
    failing = Failing(agent.summarizer, Rejected("model reply", "is blank"), 1)
    first = agent.run(most_calls=2, summarizer=failing)
    assert (
        agent.run(most_calls=2, part=first.rest, summarizer=failing).rest
        is None
    )
    assert len(by_user(agent)) == 3
    assert agent.is_due()
    assert agent.ledger.failures(DAY)[ACME].attempts == 1


def test_users_with_few_words_take_no_place_among_the_model_calls() -> None:
    agent = told(*crowd(9, words=3))
    assert agent.run(most_calls=2).rest is None
    assert len(by_user(agent)) == 9


def test_a_summary_of_something_forgotten_meanwhile_leaves_the_period_due() -> (
    None
):
    agent = told(PORTO, BREMEN)
    agent.sum_up(commit=False)
    barred = Tombstones("key").with_subject(
        Selector(user="u-a"), MORNING, records=[(PORTO.id,)]
    )
    tombstones.extend(ACME, lambda _: barred, objects=agent.objects)
    agent.commit()
    assert set(by_user(agent)) == {"u-b"}
    assert agent.is_due()


# Stores of older versions.


def test_a_summary_of_several_users_is_replaced_by_each_users_own_when_next_due() -> (
    None
):
    agent = of_an_older_version(PORTO, BREMEN)
    assert set(by_user(agent)) == {None}
    agent.tell(a_record("Bo likes tea.", user_id="u-b"))
    assert agent.sum_up() is SummaryOutcome.BUILT
    assert {user: record.id for user, record in by_user(agent).items()} == {
        "u-a": summary_id(DAY, "u-a"),
        "u-b": summary_id(DAY, "u-b"),
    }
    for task in agent.summarizer.tasks:
        assert "somewhere" not in " ".join(
            source.text for source in task.sources
        )
    assert not agent.is_due()


def test_words_that_only_the_timeline_still_has_go_to_their_users() -> None:
    agent = Agent(**AGENT_WIDE)
    agent.tell(PORTO, BREMEN)
    say(agent, ("I like figs.", "u-a"), ("I like tea.", "u-b"), ("Hm.", None))
    agent.sum_up(summarizer=Saying("They like things."))
    agent.config = WorkspaceConfig()
    agent.lose(WORKING_DAY)
    agent.tell(a_record("late", user_id="u-b"))
    agent.sum_up()
    texts = {
        task.sources[0].user_id: {source.text for source in task.sources}
        for task in agent.summarizer.tasks
    }
    assert texts == {
        "u-a": {"u-a: I like figs.", PORTO.content},
        "u-b": {"u-b: I like tea.", BREMEN.content, "late"},
        None: {"User: Hm."},
    }
    kept = {
        user: {fact.content for fact in key_facts_from_json(record.key_facts)}
        for user, record in by_user(agent).items()
    }
    assert kept == {
        "u-a": {PORTO.content},
        "u-b": {BREMEN.content, "late"},
        None: set(),
    }
    agent.ledger.mark(ACME, [DAY], "again")
    assert agent.sum_up() is SummaryOutcome.UNCHANGED


def test_a_week_above_an_older_day_is_made_of_each_users_words_alone() -> None:
    agent = of_an_older_version(PORTO, BREMEN)
    agent.lose(WORKING_DAY)
    agent.ledger.mark(ACME, [WEEK], "closed")
    agent.sum_up(WEEK)
    assert set(by_user(agent, WEEK)) == {"u-a", "u-b"}
    for task in agent.summarizer.tasks:
        assert len({source.user_id for source in task.sources}) == 1
    agent.ledger.mark(ACME, [WEEK], "again")
    assert agent.sum_up(WEEK) is SummaryOutcome.UNCHANGED


@pytest.mark.parametrize("user_id", ["u-a", None])
def test_an_older_summary_of_one_user_stays_while_nothing_changes(
    user_id: str | None,
) -> None:
    fact = a_record("Figs are ripe.", user_id=user_id)
    agent = of_an_older_version(fact)
    before = agent.summary()
    agent.ledger.mark(ACME, [DAY], "again")
    assert agent.sum_up() is SummaryOutcome.UNCHANGED
    assert agent.summary() == before
    agent.lose(WORKING_DAY)
    agent.tell(a_record("late", user_id=user_id))
    agent.sum_up()
    made = agent.summary()
    assert made.id == summary_id(DAY, user_id)
    assert fact.id in made.source_ids
    (task,) = agent.summarizer.tasks
    assert task.sources[0].text == "Ana and Bo live somewhere."


def test_one_summary_of_all_takes_the_place_of_each_users_if_the_scope_is_agent() -> (
    None
):
    agent = told(PORTO, BREMEN)
    agent.sum_up()
    agent.config = WorkspaceConfig.model_validate(AGENT_WIDE)
    agent.ledger.mark(ACME, [DAY], "again")
    agent.sum_up()
    assert agent.summary().id == agent_summary_id(DAY)
    assert set(agent.summary().source_ids) == {PORTO.id, BREMEN.id}
