"""Summaries without a model select: each grain is shorter than what it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import MORNING, WordEmbedder, a_record
from tests.support.summarized import (
    DAY,
    PYRAMID,
    WEEK,
    Agent,
    Saying,
    told,
    turn,
)
from tests.unit.test_told_last import talk
from varve import Memory
from varve.domain.calendar import Period
from varve.domain.extractive import chosen
from varve.domain.last_states import find_last_states
from varve.domain.lasting import (
    LEAST_DAYS,
    leave_out_passing,
    name_recurring,
    prefer_what_lasts,
)
from varve.domain.record import Record, as_span, span_of
from varve.domain.source_lines import SourceLine
from varve.domain.summary import KEY_FACTS_HEADING, RECURRING_HEADING
from varve.domain.text import estimated_tokens
from varve.domain.topics import choose_topics
from varve.usecases.summaries.condensing import (
    SELECTED_SHARE,
    ExtractiveSummarizer,
)

IDLE = (
    "The weather was much the same as before and the garden looked grey.",
    "I read a little and thought about lunch for a while.",
    "There is a cafe around the corner where people sit outside.",
    "My neighbour plays the piano on some evenings.",
    "The bus took longer than usual because of the traffic.",
    "I cleaned the kitchen and watered the plants on the balcony.",
)


DIAGNOSIS = (
    "I have type 2 diabetes, and Dr. Lindqvist put me on metformin 500 mg twice a day.",
    "> Metformin 500 mg twice a day is the usual first step; take it with food to avoid stomach upset. "
    "Typical HbA1c targets are below 7%. You might want to buy a glucose monitor such as the Accu-Chek.",
    "My father had it too.",
    "> Since your father had it too, the genetic component is strong. A low-GI diet and 150 minutes of "
    "walking a week will help. An HbA1c above 8% is above the target, but with metformin and diet many "
    "people get below 7%.",
    "I weigh 92 kilos and I want to get to 80.",
    "> Aim for half a kilo a week, which would get you there in about six months. Here is a sample day: "
    "oats with berries for breakfast, a lentil salad for lunch, grilled chicken for dinner.",
    "I sleep badly.",
    "> Many people with diabetes sleep badly at first. Keep regular hours, and avoid coffee after noon.",
)


def a_week(
    *special: str, facts: Sequence[Record] = (), moments: int = 18
) -> Agent:
    """An agent with five days of talk, all longer than is kept word for word."""
    said = list(facts)
    for day in range(5):
        for number in range(moments):
            words = f"{IDLE[number % 6]} That was moment {day}-{number}."
            said.append(_turn(words, day, number))
    for day, words in enumerate(special):
        said.append(_turn(words, day, 40))
    agent = told(*said)
    for day in range(5):
        agent.sum_up(DAY.shifted(day), ExtractiveSummarizer(WordEmbedder()))
    return agent


def _turn(words: str, day: int, minute: int) -> Record:
    at = MORNING + timedelta(days=day, minutes=minute)
    return turn(f"Elena: {words}", at=at, importance=0.5)


def above(agent: Agent, *periods: Period) -> None:
    for period in periods:
        agent.sum_up(period, ExtractiveSummarizer(WordEmbedder()))


def tokens(agent: Agent, period: Period) -> int:
    return estimated_tokens(agent.summary(period).content)


def test_item_8_a_summary_is_shorter_than_the_summaries_it_is_made_of() -> (
    None
):
    agent = a_week("I moved to Lisbon.", "We decided to sell the boat.")
    above(agent, *PYRAMID[1:])
    days = sum(tokens(agent, DAY.shifted(day)) for day in range(5))
    lengths = [days, *(tokens(agent, period) for period in PYRAMID[1:])]
    assert lengths == sorted(lengths, reverse=True)
    assert tokens(agent, WEEK) <= 0.7 * days
    # Under `LITTLE_TOKENS` the rest is kept word for word.
    texts = {agent.summary(period).content for period in PYRAMID[:3]}
    assert len(texts) == 3


def test_item_8_a_summary_with_its_key_facts_is_at_most_the_share() -> None:
    facts = [
        a_record(f"Elena likes the songs of band {n} from the north.")
        for n in range(12)
    ]
    agent = a_week(facts=facts, moments=6)
    below = 0
    for day in range(5):
        content = agent.summary(DAY.shifted(day)).content
        below += estimated_tokens(content.partition(KEY_FACTS_HEADING)[0])
    above(agent, WEEK)
    assert agent.summary(WEEK).content.count("\n- ") > 6
    assert tokens(agent, WEEK) <= SELECTED_SHARE * below


def test_item_8_a_day_names_the_date_and_the_speaker_once() -> None:
    content = a_week().summary(DAY).content
    assert content.count("2026-03-02") == 1
    assert content.count("Elena:") == 1
    assert content.count("moment") > 5


def test_item_8_changes_and_decisions_come_before_what_is_as_ever() -> None:
    agent = a_week("I moved to Lisbon.", "We decided to sell the boat.")
    above(agent, *PYRAMID[1:])
    for period in PYRAMID[1:]:
        content = agent.summary(period).content
        assert "2026-03-02: Elena: " in content
        assert "I moved to Lisbon." in content
        assert "We decided to sell the boat." in content


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("The council refused the licence.", "They granted the licence."),
        ("Our planning request was denied.", "They approved the request."),
        ("They postponed the concert.", "The concert has been cancelled."),
        ("El banco rechazó la hipoteca.", "El banco aprobó la hipoteca."),
        ("Me han denegado la beca.", "Me han concedido la beca."),
    ],
)
def test_item_8_a_higher_grain_prefers_the_last_state(
    first: str, last: str
) -> None:
    """The budget of the first line alone holds the last one instead."""
    lines = lines_of_days(first, *IDLE, last)
    vectors = list(WordEmbedder().embed([line.said for line in lines]))
    budget = max(
        estimated_tokens(f"{lines[at]}.\n") for at in (0, len(lines) - 1)
    )
    kept = chosen(lines, vectors, budget, recurring={"licence": 2})
    assert last in kept
    assert first not in kept


def test_item_8_what_is_only_thought_of_comes_after_a_decision() -> None:
    open_, signed = lines_of_days(
        "I'm thinking about moving, but nothing is decided yet.",
        "I signed the lease for the flat.",
    )
    weighed = prefer_what_lasts([open_, signed], np.full(2, 0.4), {})
    assert weighed[0] < weighed[1]


def test_item_8_a_date_that_a_later_line_changes_is_left_out() -> None:
    lines = lines_of_days(
        "The deadline is 30 June.", "We moved the deadline to 15 July."
    )
    assert leave_out_passing(lines) == lines[1:]


def test_item_8_an_agents_short_remark_is_left_out() -> None:
    lines = lines_of_days(
        "Sounds like a big one.", "It needs 20 hedges.", "It is a big one."
    )
    said = [replace(line, speaker="Assistant") for line in lines[:2]]
    told = leave_out_passing([*said, lines[2]])
    assert told == [said[1], lines[2]]
    assert leave_out_passing(said[:1]) == said[:1]


def test_item_8_what_a_person_told_comes_before_an_agents_advice(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=MORNING + timedelta(days=60))
    memory.ingest(talk(0, *DIAGNOSIS))
    memory.summarize()

    [month] = memory.search(grain="monthly").results

    said = [one for one in DIAGNOSIS if not one.startswith(">")]
    assert all(one in month.content for one in said)
    assert "Assistant: " in month.content


def test_item_8_three_lines_of_one_pattern_come_before_what_differs() -> None:
    """They differ in names and figures alone."""
    names = ("Ana", "Bo", "Cleo", "Dana", "Eva", "Finn")
    ordered = [
        f"{name} and I agreed to order {10 + number} kilos of flour."
        for number, name in enumerate(names)
    ]
    lines = lines_of_days(*ordered, *IDLE)
    vectors = list(WordEmbedder().embed([line.said for line in lines]))
    budget = sum(estimated_tokens(f"{line}.\n") for line in lines[3:])
    kept = chosen(lines, vectors, budget, recurring={"flour": 6})
    assert all(idle in kept for idle in IDLE)
    assert kept.count("kilos of flour") == 3


def lines_of_days(*said: str) -> list[SourceLine]:
    lines: list[SourceLine] = []
    for day, words in enumerate(said):
        at = MORNING + timedelta(days=day)
        label = at.date().isoformat()
        lines.append(SourceLine(label, words, at, 0.5, "Elena", heard=True))
    return lines


@pytest.mark.parametrize(
    ("first", "later", "pairs"),
    [
        ("We asked about the licence.", "They granted it.", []),
        ("They refused the licence.", "They approved the budget.", []),
        ("They refused the licence.", "Have they granted the licence?", []),
        ("They refused the licence.", "They almost granted the licence.", []),
        ("I bought a desk at Ikea.", "I bought a lamp at Ikea.", []),
        ("We sold the boat.", "We replaced the sail of the boat.", []),
        ("I moved to Lisbon.", "My sister moved to Porto.", []),
        ("Han denegado el permiso.", "Han aprobado el presupuesto.", []),
        ("I moved to Lisbon.", "I moved to Porto.", [(0, 1)]),
        ("Hemos aplazado la boda.", "Se ha cancelado la boda.", [(0, 1)]),
    ],
)
def test_item_8_the_last_state_is_one_of_the_same_matter(
    first: str, later: str, pairs: list[tuple[int, int]]
) -> None:
    assert list(find_last_states(lines_of_days(first, later))) == pairs


def test_item_8_a_pronoun_stands_for_what_was_named_just_before() -> None:
    first, asked, granted = lines_of_days(
        "They refused the licence.",
        "I asked about the licence again.",
        "They granted it after all.",
    )
    granted = replace(granted, day=asked.day)
    assert list(find_last_states([first, asked, granted])) == [(0, 2)]


def test_item_8_who_and_what_recurs_is_named_as_it_is_written() -> None:
    agent = a_week(
        *(f"I met Marco about invoice {n}." for n in range(LEAST_DAYS))
    )
    above(agent, WEEK)
    week = agent.summary(WEEK)
    recurring = week.content.partition(RECURRING_HEADING)[2].splitlines()[0]
    assert "Marco" in recurring
    assert not re.search(r"\d", recurring), (
        "a selection does not hold all days"
    )
    assert "Elena" not in recurring, "the speaker recurs on every day"
    above(agent, PYRAMID[2])
    assert "Recurring" not in agent.summary(PYRAMID[2]).people


def test_item_8_a_name_that_only_begins_sentences_recurs_with_its_capital() -> (
    None
):
    said = ("Dave and I ordered flour.", "Dave has the flour.", "Dave paid.")
    lines = lines_of_days(*said)
    assert name_recurring(lines, ["dave"]) == ["Dave"]


@pytest.mark.parametrize(
    ("said", "recur", "do_not"),
    [
        (
            "On Tuesday in March I ran {} km with Marco, {} minutes by the canal.",
            ("Marco", "canal"),
            ("Tuesday", "March", "km", "minutes", "ran"),
        ),
        (
            "El lunes de abril nadé {} largos con Rosa, {} euros la piscina.",
            ("Rosa", "piscina"),
            ("lunes", "abril", "largos", "euros"),
        ),
        (
            "The kiln needs {} kilos of clay, and {} litres of glaze.",
            ("kiln", "clay", "glaze"),
            ("kilos", "litres", "needs"),
        ),
    ],
)
def test_item_8_no_month_weekday_or_unit_recurs(
    said: str, recur: tuple[str, ...], do_not: tuple[str, ...]
) -> None:
    agent = a_week(*(said.format(5 + n, 30 + n) for n in range(LEAST_DAYS)))
    above(agent, WEEK)
    content = agent.summary(WEEK).content
    named = content.partition(RECURRING_HEADING)[2].splitlines()[0]
    assert set(recur) <= set(named.split(", "))
    assert not set(do_not) & set(re.split(r"\W+", named))


def test_item_8_what_is_counted_is_a_topic() -> None:
    """A unit has a figure before it almost always; "kayaks" has one at times."""
    said = ("We own 2 kayaks.", "The kayaks leak.", "I sold 3 kayaks.")
    assert "kayaks" in choose_topics(lines_of_days(*said), ())


def test_item_8_key_facts_repeat_no_line_above_them() -> None:
    tea = a_record("Elena likes green tea.", importance=0.9)
    figs = a_record("Elena likes figs.", importance=0.8)
    agent = told(tea, figs)
    agent.sum_up(
        summarizer=Saying("2026-03-02: Elena likes green tea, they say.")
    )
    above_facts, _, below = agent.summary().content.partition(
        KEY_FACTS_HEADING
    )
    assert "green tea" in above_facts
    assert below == "- 2026-03-02: Elena likes figs."


def test_item_8_key_facts_that_are_all_told_above_have_no_heading() -> None:
    agent = told(a_record("Elena likes green tea."))
    agent.sum_up(summarizer=Saying("2026-03-02: Elena likes green tea."))
    assert agent.summary().content == "2026-03-02: Elena likes green tea."
    assert "green tea" in agent.summary().key_facts


def test_item_8_key_facts_repeat_no_date_that_a_sentence_names() -> None:
    wedding = a_record(
        "The wedding will be on 12 December 2026 (2026-12-12).",
        at=datetime(2026, 12, 12, tzinfo=UTC),
        period="2026-03-02",
    )
    agent = told(wedding)
    agent.sum_up(
        summarizer=Saying(
            "2026-03-02: Tom: The wedding will be on 12 December 2026."
        )
    )
    assert KEY_FACTS_HEADING not in agent.summary().content


@pytest.mark.parametrize(
    ("later", "is_left"),
    [
        ("We decided to move the hospital deadline to 15 July.", False),
        ("I missed the deadline of the other client by 3 days.", True),
        ("We moved the kickoff to 15 July.", True),
    ],
)
def test_item_8_key_facts_keep_no_date_that_a_later_sentence_changes(
    later: str, is_left: bool
) -> None:
    deadline = a_record(
        "The deadline is 30 June 2026 (2026-06-30).",
        at=datetime(2026, 6, 30, tzinfo=UTC),
        period="2026-03-02",
    )
    agent = told(
        turn("Mira: The deadline is 30 June 2026."),
        turn(f"Mira: {later}", at=MORNING + timedelta(hours=1)),
        deadline,
    )
    agent.sum_up(summarizer=Saying("2026-03-02: Mira talked of her work."))
    summary = agent.summary()
    assert ("30 June" in summary.content) == is_left
    assert ("30 June" in summary.key_facts) == is_left


def test_item_8_a_summarys_days_are_those_of_its_sources() -> None:
    agent = told(
        a_record("Elena likes tea.", at=MORNING + timedelta(days=1)),
        a_record("Elena likes figs.", at=MORNING + timedelta(days=3)),
    )
    for day in (DAY.shifted(1), DAY.shifted(3)):
        agent.sum_up(day)
    for period in PYRAMID[1:]:
        agent.sum_up(period)
        made = agent.summary(period)
        assert span_of(made.about, made.period) == ("2026-03-03", "2026-03-05")


def test_a_summary_of_an_older_version_covers_its_period() -> None:
    assert span_of(None, "2026-W10") == ("2026-03-02", "2026-03-08")
    assert span_of(as_span("2026-03-03", "2026-03-05"), "2026-W10") == (
        "2026-03-03",
        "2026-03-05",
    )
