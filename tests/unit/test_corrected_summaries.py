"""The summary of a day tells what its corrections say, and cites them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.support.builders import MORNING, a_record
from tests.support.summarized import DAY, WEEK, Agent, told, turn
from varve.domain.calendar import Grain, Period
from varve.domain.record import Record, turn_id
from varve.domain.statements.standings.corrected import correct_records
from varve.domain.statements.texts.telling import build_correction
from varve.domain.summary import key_facts_from_json
from varve.usecases.summaries.summarize import SummaryOutcome

NEXT_WEEK = MORNING + timedelta(days=7)
AFTER = MORNING + timedelta(days=9)


def said(
    text: str, at: datetime = MORNING, user: str = "u-42", position: int = 0
) -> Record:
    """Return the turn of a message."""
    message = f"m-{at:%d}-{position}"
    return turn(
        f"Dana: {text}",
        id=turn_id("c-1", message),
        at=at,
        user_id=user,
        source_ids=(message,),
        position=position,
    )


def correct(record: Record, text: str, at: datetime = NEXT_WEEK) -> Record:
    """Return the turn of a correction of a record."""
    given = build_correction(record, text, at, "Dana")
    message = str(given.messages[0].id)
    return turn(
        f"Dana: {text}",
        id=turn_id(given.conversation_id, message),
        at=at,
        user_id=record.user_id,
        conversation_id=given.conversation_id,
        source_ids=(message,),
    )


LISBON = said("I live in Lisbon.")
BIKE = said("My bike has a puncture.", position=4)
HOME = a_record(
    "Dana lives in Lisbon.", source_ids=LISBON.source_ids, importance=0.9
)
PORTO = correct(LISBON, "I live in Porto.")


def told_texts(agent: Agent) -> list[str]:
    """Return the texts that the summarizer was given last."""
    return [one.text for one in agent.summarizer.tasks[-1].sources]


def told_at_first() -> Agent:
    """Return an agent whose day and week are up to date, before any correction."""
    agent = told(LISBON, BIKE, HOME)
    agent.sum_up()
    agent.sum_up(WEEK)
    assert not agent.is_due()
    return agent


def test_a_correction_makes_the_corrected_day_due_and_then_its_week() -> None:
    agent = told_at_first()
    agent.tell(PORTO)
    assert agent.is_due()
    assert agent.is_due(Period.parse(PORTO.period))
    assert not agent.is_due(WEEK)
    assert agent.sum_up() is SummaryOutcome.BUILT
    assert agent.is_due(WEEK)


def test_the_rebuilt_day_tells_the_correction_and_cites_it() -> None:
    agent = told_at_first()
    agent.tell(PORTO)
    agent.sum_up()
    assert told_texts(agent) == [BIKE.content, PORTO.content]
    summary = agent.summary()
    assert set(summary.source_ids) == {LISBON.id, BIKE.id, HOME.id, PORTO.id}
    assert "Lisbon" not in summary.content
    assert key_facts_from_json(summary.key_facts) == ()
    assert summary.about == f"{DAY.label}/{PORTO.period}"


def test_the_day_of_the_correction_keeps_it() -> None:
    agent = told_at_first()
    agent.tell(PORTO)
    agent.sum_up(Period.parse(PORTO.period))
    assert told_texts(agent) == [PORTO.content]


def test_a_rebuild_with_the_same_correction_calls_no_model() -> None:
    agent = told_at_first()
    agent.tell(PORTO)
    agent.sum_up()
    calls = len(agent.summarizer.tasks)
    agent.tell(PORTO)
    assert agent.sum_up() is SummaryOutcome.UNCHANGED
    assert len(agent.summarizer.tasks) == calls


def test_a_correction_before_its_record_arrives_is_told_all_the_same() -> None:
    agent = told(PORTO)
    assert not agent.is_due()
    agent.tell(BIKE, LISBON)
    agent.sum_up()
    assert told_texts(agent) == [BIKE.content, PORTO.content]


def test_another_users_message_corrects_nothing() -> None:
    agent = told_at_first()
    agent.tell(replace(PORTO, user_id="u-9"))
    assert agent.sum_up() is SummaryOutcome.UNCHANGED


def test_a_summary_of_all_users_has_the_corrections_of_all() -> None:
    agent = told(
        LISBON,
        said("It rains.", user="u-9", position=8),
        summaries={"scope": "agent"},
    )
    agent.tell(PORTO)
    agent.sum_up()
    assert LISBON.content not in told_texts(agent)
    assert PORTO.content in told_texts(agent)


def test_a_correction_of_a_correction_reaches_the_first_day() -> None:
    braga = correct(PORTO, "I live in Braga.", AFTER)
    agent = told_at_first()
    agent.tell(PORTO)
    agent.sum_up()
    agent.tell(braga)
    assert agent.is_due()
    agent.sum_up()
    assert told_texts(agent) == [BIKE.content, braga.content]
    assert {PORTO.id, braga.id} <= set(agent.summary().source_ids)


def test_the_last_of_two_corrections_is_told() -> None:
    braga = correct(LISBON, "I live in Braga.", AFTER)
    agent = told_at_first()
    agent.tell(PORTO)
    agent.sum_up()
    agent.tell(braga)
    agent.sum_up()
    assert told_texts(agent) == [BIKE.content, braga.content]


def test_a_correction_that_expired_leaves_the_summary_as_it_is() -> None:
    """The corrected day has expired by then as well."""
    agent = told_at_first()
    agent.tell(PORTO)
    agent.sum_up()
    before = agent.summary()
    agent.lose(Period(Grain.WORKING, DAY.label))
    agent.lose(Period(Grain.WORKING, PORTO.period))
    assert agent.sum_up() is SummaryOutcome.UNCHANGED
    assert agent.summary() == before


def test_a_correction_of_an_expired_record_marks_no_period() -> None:
    agent = told_at_first()
    before = agent.summary()
    agent.lose(Period(Grain.WORKING, DAY.label))
    agent.tell(PORTO)
    assert not agent.is_due()
    assert agent.is_due(Period.parse(PORTO.period))
    assert agent.summary() == before


@pytest.mark.parametrize("corrected", [LISBON, HOME])
def test_a_fact_and_its_turn_are_corrected_together(corrected: Record) -> None:
    found = correct_records(
        [LISBON, HOME, BIKE], [correct(corrected, "I live in Porto.")]
    )
    assert {one.id for one in found.replaced} == {LISBON.id, HOME.id}


def test_the_assistants_echo_is_not_told_either() -> None:
    echo = turn(
        "Assistant: Noted, you live in Lisbon.",
        id=turn_id("c-1", "m-answer"),
        source_ids=("m-answer",),
        about="Assistant",
        position=1,
    )
    found = correct_records([LISBON, echo, BIKE], [PORTO])
    assert [one.id for one in found.told] == [BIKE.id, PORTO.id]
