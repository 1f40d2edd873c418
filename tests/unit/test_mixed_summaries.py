"""Forgetting one user from the summaries of several, when nothing is left to rebuild them from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.builders import ACME
from tests.support.forgetful import Forgetful
from varve.domain.attribution import attribute
from varve.domain.calendar import Grain, Period
from varve.domain.identity import digest
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.summary import (
    KeyFact,
    key_facts_as_json,
    key_facts_from_json,
)

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
DAY, WEEK, MONTH = "2026-04-15", "2026-W16", "2026-04"
NAMES = {"u-dana": "Danaqq", "u-marco": "Marcozz"}
PROSE = (
    "Danaqq moved to Kumquatville. Marcozz learnt chess. She also likes it there. "
    "Marcozz and Danaqq talked about chess. He won against Quentin in chess."
)
KEPT = ("Marcozz learnt chess.", "He won against Quentin in chess.")


def conversation(user: str, *texts: str) -> dict[str, object]:
    messages = [
        {
            "id": f"{user}-m{place}",
            "role": "user",
            "name": NAMES[user],
            "content": text,
            "timestamp": f"{DAY}T09:{place:02}:00Z",
        }
        for place, text in enumerate(texts)
    ]
    return {
        "conversationId": f"c-{user}",
        "userId": user,
        "messages": messages,
    }


DANA = conversation(
    "u-dana", "I moved to Kumquatville.", "I like gooseberries."
)
MARCO = conversation(
    "u-marco", "I learnt chess from Quentin.", "I like espresso."
)


def key_fact(user: str, text: str, place: int) -> KeyFact:
    at = datetime(2026, 4, 15, 9, place, tzinfo=UTC)
    message = f"{user}-m{place}"
    return KeyFact(
        f"fact-{message}", text, at, 0.9, user, f"c-{user}", (message,)
    )


def id_of_all(period: Period) -> str:
    """Return the id that a summary of all users had before summaries were per user."""
    return "summary-" + digest(period.grain, period.label, length=24)


def a_mixed_summary(
    memory: Forgetful, grain: Grain, label: str, *below: str
) -> Record:
    """Store a summary of all users, as it was made before summaries were per user."""
    facts = [
        key_fact("u-dana", "Danaqq lives in Kumquatville.", 0),
        key_fact("u-marco", "Marcozz learnt chess.", 0),
    ]
    record = Record(
        id=id_of_all(Period.parse(label)),
        memory_type=MemoryType.SUMMARY,
        content=f"{PROSE}\nKey facts:\n"
        + "\n".join(f"- {f.content}" for f in facts),
        period=label,
        event_time=NOW - timedelta(days=4),
        created_at=NOW - timedelta(days=2),
        source_ids=below,
        source_fingerprints=("f" * 16,) * len(below),
        people=("Danaqq", "Marcozz"),
        topics=("chess", "kumquatville"),
        open_questions=("Does Danaqq like Kumquatville?",),
        key_facts=key_facts_as_json(facts),
    )
    (vector,) = memory.embedder.embed([record.content])
    memory.records.upsert(
        ACME, grain, [EmbeddedRecord(record, vector)], memory.embedder.model
    )
    return record


def a_memory_of_two(timeline: bool = True) -> Forgetful:
    """Return a memory in which retention has deleted the facts and turns."""
    memory = Forgetful()
    memory.ingest(DANA, MARCO, now=NOW)
    memory.records.delete_periods(ACME, Grain.WORKING, [DAY])
    if not timeline:
        held = [info.key for info in memory.objects.list(f"timeline/{ACME}")]
        memory.objects.delete(held)
    return memory


SUMMARIES = [
    (Grain.DAILY, DAY, ("fact-u-dana-m0", "fact-u-marco-m0")),
    (Grain.WEEKLY, WEEK, (id_of_all(Period.parse(DAY)),)),
    (Grain.MONTHLY, MONTH, (id_of_all(Period.parse(WEEK)),)),
]


@pytest.mark.parametrize("timeline", [True, False])
@pytest.mark.parametrize(("grain", "label", "below"), SUMMARIES, ids=str)
def test_invariant_8_a_summary_of_all_keeps_the_others_sentences_and_key_facts(
    grain: Grain, label: str, below: tuple[str, ...], timeline: bool
) -> None:
    memory = a_memory_of_two(timeline)
    a_mixed_summary(memory, grain, label, *below)
    assert memory.forget(user="u-dana", now=NOW).complete
    (left,) = memory.all(grain)
    words = str(left)
    assert not [
        w for w in ("Kumquat", "Danaqq", "kumquat", "She also") if w in words
    ]
    assert [text for text in KEPT if text in left.content] == list(KEPT)
    facts = [fact.content for fact in key_facts_from_json(left.key_facts)]
    assert facts == ["Marcozz learnt chess."]
    assert (left.people, left.topics) == (("Marcozz",), ("chess",))
    assert left.open_questions == ()


def test_forgetting_both_leaves_nothing_of_a_summary_of_two() -> None:
    memory = a_memory_of_two()
    a_mixed_summary(memory, Grain.WEEKLY, WEEK, id_of_all(Period.parse(DAY)))
    memory.forget(user="u-dana", now=NOW)
    assert memory.all(Grain.WEEKLY)
    memory.forget(user="u-marco", now=NOW + timedelta(minutes=1))
    assert memory.all(Grain.WEEKLY) == []


def test_what_is_left_stays_when_the_period_is_summarized_again() -> None:
    memory = a_memory_of_two()
    old = a_mixed_summary(
        memory, Grain.WEEKLY, WEEK, id_of_all(Period.parse(DAY))
    )
    a_real_id = replace(
        old, id=the_id_of_this_code(memory, Period.parse(WEEK))
    )
    memory.records.delete(ACME, Grain.WEEKLY, [old.id])
    (vector,) = memory.embedder.embed([old.content])
    memory.records.upsert(
        ACME,
        Grain.WEEKLY,
        [EmbeddedRecord(a_real_id, vector)],
        memory.embedder.model,
    )
    memory.forget(user="u-dana", now=NOW)
    memory.summarize(NOW + timedelta(days=30))
    held = str(memory.held(Grain.WEEKLY))
    assert "Marcozz learnt chess." in held
    assert "Kumquat" not in held


def the_id_of_this_code(memory: Forgetful, week: Period) -> str:
    """Return the id that a summary of this week gets when it is made today."""
    other = Forgetful()
    other.ingest(MARCO, now=NOW)
    other.summarize(NOW + timedelta(days=30))
    (record,) = (r for r in other.all(Grain.WEEKLY) if r.period == week.label)
    return record.id


def test_a_summary_that_can_be_rebuilt_is_rebuilt() -> None:
    memory, control = Forgetful(), Forgetful()
    memory.ingest(DANA, MARCO, now=NOW)
    control.ingest(MARCO, now=NOW)
    memory.summarize(NOW)
    memory.forget(user="u-dana", now=NOW)
    memory.summarize(NOW)
    control.summarize(NOW)
    assert memory.held() == control.held()


def test_a_summary_of_another_user_is_not_touched() -> None:
    memory = a_memory_of_two()
    record = a_mixed_summary(
        memory, Grain.WEEKLY, WEEK, "summary-of-marco-2026-04-15"
    )
    own = replace(
        record,
        user_id="u-marco",
        content="He plays.",
        people=(),
        topics=(),
        open_questions=(),
        key_facts="",
    )
    (vector,) = memory.embedder.embed([own.content])
    memory.records.upsert(
        ACME,
        Grain.WEEKLY,
        [EmbeddedRecord(own, vector)],
        memory.embedder.model,
    )
    memory.forget(user="u-dana", now=NOW)
    assert [one.content for one in memory.all(Grain.WEEKLY)] == ["He plays."]


def test_words_that_both_said_tell_nothing_of_whose_a_sentence_is() -> None:
    told = attribute(["Danaqq likes espresso."], ["Marcozz likes espresso."])
    sentences = [
        "They like espresso.",
        "Marcozz likes espresso.",
        "Danaqq and Marcozz.",
    ]
    assert told.keep_texts(sentences) == ("Marcozz likes espresso.",)
