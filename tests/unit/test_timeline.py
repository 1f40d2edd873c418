"""The timeline keeps messages as they came; the ledger knows which have been taken in."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.builders import ACME, MORNING, a_message, raw_message
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.conversation import Message
from varve.domain.damage import Damaged
from varve.domain.identity import Scope
from varve.usecases.ingest.taken_in import (
    Said,
    TakenIn,
    read_taken_in,
    take_in,
)
from varve.usecases.timeline import keep, messages_on, read_lines

UTC_ZONE, LISBON = ZoneInfo("UTC"), ZoneInfo("Europe/Lisbon")


def said(message: Message, at: datetime = MORNING, position: int = 0) -> Said:
    return Said(message, at, position)


def keys(objects: InMemoryObjects, prefix: str = "timeline") -> list[str]:
    return [info.key for info in objects.list(prefix)]


def test_messages_are_kept_as_they_came() -> None:
    objects = InMemoryObjects()
    call = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    message = a_message(None, "assistant", tool_calls=call, id="m1")
    keep([said(message)], ACME, "c-1", UTC_ZONE, objects=objects)
    (line,) = messages_on("2026-03-02", ACME, "c-1", objects=objects)
    assert line == {
        "position": 0,
        "at": "2026-03-02T09:15:00Z",
        "message": {
            "role": "assistant",
            "content": None,
            "tool_calls": call,
            "id": "m1",
        },
    }


def test_messages_lie_under_their_agent_their_local_day_and_their_conversation() -> (
    None
):
    objects = InMemoryObjects()
    late = datetime(2026, 7, 1, 23, 30, tzinfo=MORNING.tzinfo)
    keep([said(a_message(), late)], ACME, "c-1", LISBON, objects=objects)
    (key,) = keys(objects)
    assert key.startswith("timeline/acme/support/2026-07-02/c-1/")
    assert list(messages_on("2026-07-01", ACME, "c-1", objects=objects)) == []


def test_one_object_holds_a_conversations_day_and_keeping_it_again_adds_none() -> (
    None
):
    objects = InMemoryObjects()
    day = [
        said(a_message(f"{i}"), MORNING + timedelta(minutes=i), i)
        for i in range(5)
    ]
    next_day = [said(a_message("6"), MORNING + timedelta(days=1), 5)]
    for _ in range(3):
        keep([*day, *next_day], ACME, "c-1", UTC_ZONE, objects=objects)
    assert len(keys(objects)) == 2


def test_messages_are_read_in_the_order_they_were_said_and_only_of_their_conversation() -> (
    None
):
    objects = InMemoryObjects()
    keep(
        [said(a_message("b"), position=2)],
        ACME,
        "c-1",
        UTC_ZONE,
        objects=objects,
    )
    keep(
        [said(a_message("a"), position=1)],
        ACME,
        "c-1",
        UTC_ZONE,
        objects=objects,
    )
    keep([said(a_message("x"))], ACME, "c-10", UTC_ZONE, objects=objects)
    keep(
        [said(a_message("y"))],
        Scope("acme", "sales"),
        "c-1",
        UTC_ZONE,
        objects=objects,
    )
    found = messages_on("2026-03-02", ACME, "c-1", objects=objects)
    assert [line["message"]["content"] for line in found] == ["a", "b"]


def test_line_separators_within_a_message_do_not_break_its_line() -> None:
    objects = InMemoryObjects()
    words = "one\u2028two\x85three\r\nfour\x0b\x1c"
    keep([said(a_message(words))], ACME, "c-1", UTC_ZONE, objects=objects)
    (line,) = messages_on("2026-03-02", ACME, "c-1", objects=objects)
    assert line["message"]["content"] == words


def taken_in(objects: InMemoryObjects, conversation: str = "c-1") -> TakenIn:
    return TakenIn(ACME, conversation, objects)


def test_a_message_is_taken_in_once_it_is_recorded() -> None:
    objects, message = InMemoryObjects(), a_message()
    ledger = taken_in(objects)
    assert message not in ledger
    ledger.add([said(message)])
    assert message in ledger
    assert message in taken_in(objects)
    assert message not in taken_in(objects, "c-2")
    assert len(taken_in(objects)) == 1


def test_a_message_of_a_known_id_with_other_words_or_another_role_differs() -> (
    None
):
    objects = InMemoryObjects()
    ledger = taken_in(objects)
    ledger.add([said(a_message("I moved.", id="m1"))])
    assert not ledger.differs(a_message("I moved.", id="m1", name="Dana"))
    assert ledger.differs(a_message("I stayed.", id="m1"))
    assert ledger.differs(a_message("I moved.", "assistant", id="m1"))
    assert not ledger.differs(a_message("I stayed.", id="m2"))


def test_invariant_10_two_writers_of_the_ledger_both_take_in_their_messages() -> (
    None
):
    objects = InMemoryObjects()
    one, other = taken_in(objects), taken_in(objects)
    one.add([said(a_message("a"))])
    other.add([said(a_message("b"))])
    for words in ("a", "b"):
        assert a_message(words) in taken_in(objects)


def test_a_message_keeps_the_time_and_place_of_its_first_arrival() -> None:
    objects = InMemoryObjects()
    first = taken_in(objects).arrive([(a_message("a"), MORNING)])
    later = [
        (a_message(words), MORNING + timedelta(days=1)) for words in "xab"
    ]
    again = taken_in(objects).arrive(later)
    assert [one.message.text for one in again] == ["x", "a", "b"]
    assert again[1] == first[0]
    assert [one.position for one in again] == [1, 0, 2]


def test_invariant_10_writers_that_race_for_a_conversation_get_different_places() -> (
    None
):
    objects = InMemoryObjects()
    one, other = taken_in(objects), taken_in(objects)
    ones = one.arrive([(a_message("a"), MORNING), (a_message("b"), MORNING)])
    others = other.arrive(
        [(a_message("b"), MORNING), (a_message("c"), MORNING)]
    )
    assert [said.position for said in ones] == [0, 1]
    assert [said.position for said in others] == [1, 2]


def test_a_message_forgotten_between_arrival_and_end_is_not_taken_in() -> None:
    objects, message = InMemoryObjects(), a_message("gone", id="m1")
    writer = taken_in(objects)
    arrived = writer.arrive([(message, MORNING)])
    taken_in(objects).forget(["m1"], whole=False)
    writer.add(arrived)
    assert message not in taken_in(objects)


def test_a_message_lies_once_however_the_repeated_ingest_is_cut() -> None:
    objects = InMemoryObjects()
    cuts = ("ab", "b", "abc", "cab")
    for hours, cut in enumerate(cuts):
        at = MORNING + timedelta(hours=hours)
        timed = [(a_message(words, id=words), at) for words in cut]
        said = taken_in(objects).arrive(timed)
        keep(said, ACME, "c-1", UTC_ZONE, objects=objects)
    lines = [
        line for key in keys(objects) for line in stored_lines(objects, key)
    ]
    assert sorted(line["message"]["id"] for line in lines) == ["a", "b", "c"]


def stored_lines(objects: InMemoryObjects, key: str) -> list[dict[str, Any]]:
    stored = objects.get(key)
    assert stored
    return read_lines(key, stored.data)


def test_a_double_of_an_older_store_is_read_once() -> None:
    objects = InMemoryObjects()
    keep(
        [said(a_message("a", id="m1"))], ACME, "c-1", UTC_ZONE, objects=objects
    )
    (key,) = keys(objects)
    stored = objects.get(key)
    assert stored
    objects.put(
        f"timeline/{ACME}/2026-03-02/c-1/0123456789abcdef.jsonl", stored.data
    )
    assert (
        len(list(messages_on("2026-03-02", ACME, "c-1", objects=objects))) == 1
    )


def test_the_ledger_holds_no_words_and_little_of_each_message() -> None:
    objects = InMemoryObjects()
    messages = [
        a_message(**raw_message("Dana's secret", id=f"m{i}"))
        for i in range(1_000)
    ]
    taken_in(objects).add(map(said, messages))
    (info,) = objects.list("ledger")
    assert info.key.startswith("ledger/")
    assert info.key.endswith("acme/support/c-1.json")
    assert info.size < 40 * 1_000
    stored = objects.get(info.key)
    assert stored is not None
    assert b"secret" not in stored.data
    assert len(json.loads(stored.data)["messages"]) == 1_000


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"messages": 3}'])
def test_a_damaged_note_of_what_was_taken_in_is_named(data: bytes) -> None:
    objects = InMemoryObjects()
    objects.put(key := f"ledger/conversations/{ACME}/c-1.json", data)
    for verb in (
        lambda: TakenIn(ACME, "c-1", objects),
        lambda: list(read_taken_in(ACME, objects=objects)),
        lambda: take_in(ACME, "c-1", {"0" * 16: "0" * 8}, 0, objects=objects),
    ):
        with pytest.raises(Damaged, match=key):
            verb()


def test_messages_that_were_forgotten_are_counted_and_no_more() -> None:
    objects, messages = (
        InMemoryObjects(),
        [a_message(text, id=text) for text in ("gone", "kept")],
    )
    TakenIn(ACME, "c-1", objects).add(map(said, messages))
    TakenIn(ACME, "c-1", objects).forget(["gone"], whole=False)
    left = TakenIn(ACME, "c-1", objects)
    assert ([message in left for message in messages], len(left)) == (
        [False, True],
        2,
    )
    TakenIn(ACME, "c-1", objects).forget(["kept"], whole=True)
    assert keys(objects, "ledger") == []
