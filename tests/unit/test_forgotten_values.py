"""Which sentences of a summary name a value that its user asked to forget."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.support.builders import ACME, MORNING, a_record, an_operation
from tests.support.summarized import Agent, Saying
from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.domain.record import MemoryType, turn_id
from varve.domain.statements.forgetting.forgetting import (
    ForgottenValue,
    leave_out,
)
from varve.domain.summary import (
    KEY_FACTS_HEADING,
    KeyFact,
    key_facts_as_json,
    key_facts_from_json,
)
from varve.domain.triple import fold
from varve.usecases.forget.asked_to_forget import without_values
from varve.usecases.summaries.summarize import SummaryOutcome
from varve.usecases.summaries.summary_records import NO_WORDS


def forgotten(value: str) -> ForgottenValue:
    [triple] = fold([an_operation(value, "phone")])
    return ForgottenValue(
        value=value,
        triple=triple,
        request=("c-2", "m-2"),
        at=MORNING + timedelta(days=2),
        user="u-42",
        messages=frozenset({("c-1", "m-1")}),
    )


PHONE = forgotten("+351 912 345 678")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "2026-03-02: Dana: My number is +351 912 345 678. It rains.\nA new kiln.",
            "It rains.\nA new kiln.",
        ),
        ("Call +351912345678 at ten.", ""),
        ("Call (351) 912-345-678 at ten.", ""),
        ("It rains on 912 days.", "It rains on 912 days."),
        (
            f"It rains.{KEY_FACTS_HEADING}- Phone: +351 912 345 678",
            "It rains.",
        ),
        (
            f"A kiln.{KEY_FACTS_HEADING}- Phone: +351 912 345 678\n- It rains.",
            f"A kiln.{KEY_FACTS_HEADING}- It rains.",
        ),
    ],
)
def test_the_sentences_that_name_a_value_are_left_out(
    text: str, left: str
) -> None:
    assert leave_out(text, [PHONE]) == left


def test_a_key_fact_without_room_in_the_content_goes_too() -> None:
    key_facts = key_facts_as_json(
        [
            KeyFact("fact-1", f"Phone: {PHONE.value}", MORNING, 0.9, "u-42"),
            KeyFact("fact-2", "A kiln is hot.", MORNING, 0.5, "u-42"),
        ]
    )
    summary = a_record(
        "It rains.", memory_type=MemoryType.SUMMARY, key_facts=key_facts
    )
    left = without_values(summary, [PHONE], ZoneInfo("UTC"))
    assert left.content == "It rains."
    assert [one.id for one in key_facts_from_json(left.key_facts)] == [
        "fact-2"
    ]
    assert without_values(left, [PHONE], ZoneInfo("UTC")) is left


def test_a_summary_of_a_forgotten_value_alone_has_no_words() -> None:
    agent = Agent()
    said = a_record(f"Phone: {PHONE.value}", conversation_id="c-1")
    asks = a_record(
        "Dana: Please forget my phone number.",
        id=turn_id("c-1", "m-9"),
        memory_type=MemoryType.TURN,
        at=MORNING + timedelta(hours=1),
        source_ids=("m-9",),
    )
    agent.tell(said, asks)
    states = an_operation(
        PHONE.value, "phone", conversation_id="c-1", user_id="u-42",
        message_ids=said.source_ids,
    )  # fmt: skip
    ends = an_operation(
        "", "phone", op="DELETE", conversation_id="c-1", user_id="u-42",
        event_time=asks.event_time, message_ids=("m-9",),
    )  # fmt: skip
    agent.graph.apply(ACME, [states, ends])
    agent.sum_up(summarizer=Saying(f"Reach her at {PHONE.value}."))
    assert agent.summary().content == NO_WORDS
    assert said.id in agent.summary().source_ids
    assert agent.sum_up() is SummaryOutcome.UNCHANGED


def test_a_value_is_compared_in_whole_words() -> None:
    text = "Dana turns 34. The lot has 1934 bricks."
    assert leave_out(text, [forgotten("34")]) == "The lot has 1934 bricks."


def test_a_value_that_spans_sentences_takes_the_line() -> None:
    text = "It is 4 Main Sq. Old Town, she says.\nIt rains."
    assert leave_out(text, [forgotten("4 Main Sq. Old Town")]) == "It rains."


@pytest.mark.parametrize(
    ("user", "days", "concerned"),
    [
        ("u-42", 0, True),
        (None, 0, True),
        ("u-9", 0, False),
        ("u-42", 3, False),
    ],
)
def test_a_value_concerns_its_users_summaries_up_to_the_request(
    user: str | None, days: int, concerned: bool
) -> None:
    start = MORNING + timedelta(days=days)
    assert PHONE.concerns_summary(user, start) is concerned


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ("Please forget my phone number.", False),
        ("Olvida mi número de teléfono.", False),
        ("Forget that my number is 555 0199.", True),
    ],
)
def test_a_request_for_an_attribute_hides_its_former_values(
    tmp_path: Path, request_: str, told: bool
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    numbers = ("My number is 555 0300.", "My number is now 555 0199.")
    for number, text in enumerate((*numbers, request_)):
        memory.ingest(talk(number, text))
    for question in ("What is my phone number?", "What was my number before?"):
        results = memory.search(question, user_id="u-1").results
        block = memory.context(question, user_id="u-1").text
        words = f"{block} {[one.content for one in results]}"
        assert "555 0199" not in words
        assert ("555 0300" in words) is told


@pytest.mark.parametrize(
    "request_",
    [
        "Get rid of my address.",
        "Wipe my address.",
        "Please don't keep my address.",
        "I don't want you to remember my address.",
    ],
)
def test_a_request_is_found_among_the_turns_by_its_words(
    tmp_path: Path, request_: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for number, text in enumerate(("My address is 4 Moon Street.", request_)):
        memory.ingest(talk(number, text))
    results = memory.search("What is my address?", user_id="u-1").results
    assert not [one for one in results if "Moon" in one.content]


@pytest.mark.parametrize(
    ("names", "hidden"),
    [
        (("Ana", None), True),
        ((None, "Ana"), True),
        (("Ana", None, "Bo"), False),
        (("Ana", "Bo"), False),
    ],
)
def test_a_request_without_a_name_reaches_what_its_user_told_by_name(
    tmp_path: Path, names: tuple[str | None, ...], hidden: bool
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    told = (
        "I live in Leeds.",
        "Please forget where I live.",
        "Hi, I play chess.",
    )
    for number, (name, text) in enumerate(zip(names, told, strict=False)):
        conversation = talk(number, text)
        if name is not None:
            conversation["messages"][0]["name"] = name
        memory.ingest(conversation)
    results = memory.search("Where do I live?", user_id="u-1").results
    words = [one.content for one in results if "forget" not in one.content]
    assert any("Leeds" in one for one in words) is not hidden
