"""Queue messages: each arrives as it was sent, or is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders import (
    ACME,
    DIMENSIONS,
    MORNING,
    RecordingQueue,
    a_conversation,
    a_record,
    an_operation,
    embedded,
    raw_message,
)
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import Grain
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key
from varve.domain.profile import ProfileEntry
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.messages.ingest import IngestMessage, read_ingest, send_ingest
from varve.messages.wire import MAX_BODY_BYTES, group_of
from varve.messages.work import CleanAgent, read_work, send_cleaning
from varve.messages.write import (
    ExpirePeriods,
    WriteProfile,
    WriteRecords,
    WriteTriples,
    read_write,
    records_in_bounds,
    send_expiry,
    send_profile,
    send_records,
    send_triples,
)
from varve.ports.queues import Delivery

LONG = "w" * 128
TEXT = st.text(max_size=20)
INSTANTS = st.datetimes(timezones=st.just(MORNING.tzinfo))
UNIT = st.floats(0, 1)
RECORDS = st.builds(
    Record,
    id=TEXT,
    memory_type=st.sampled_from(MemoryType),
    content=st.text(max_size=60),
    period=TEXT,
    event_time=INSTANTS,
    created_at=INSTANTS,
    source_ids=st.lists(TEXT, max_size=3).map(tuple),
    conversation_id=st.none() | TEXT,
    user_id=st.none() | TEXT,
    about=st.none() | TEXT,
    importance=UNIT,
    confidence=UNIT,
    position=st.integers(0, 10_000),
)
VECTORS = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=8).map(
    lambda v: np.array(v, np.float32)
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
)


class Wire:
    """A queue and the objects beside it, and what the last message on them says."""

    def __init__(self) -> None:
        self.queue, self.objects = RecordingQueue(), InMemoryObjects()

    def records(self, message: WriteRecords) -> Any:
        send_records(message, queue=self.queue, objects=self.objects)
        return read_write(self.queue.sent[-1], objects=self.objects)

    def triples(self, message: WriteTriples) -> Any:
        send_triples(message, queue=self.queue, objects=self.objects)
        return read_write(self.queue.sent[-1], objects=self.objects)

    def profile(self, message: WriteProfile) -> Any:
        send_profile(message, queue=self.queue, objects=self.objects)
        return read_write(self.queue.sent[-1], objects=self.objects)

    def ingest(self, message: IngestMessage) -> IngestMessage:
        send_ingest(message, queue=self.queue, objects=self.objects)
        return read_ingest(self.queue.sent[-1], objects=self.objects)

    @property
    def body(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.queue.sent[-1].body)
        return value

    @property
    def keys(self) -> list[str]:
        return [info.key for info in self.objects.list("payloads")]


def records_message(*records: Record) -> WriteRecords:
    return WriteRecords(
        ACME, Grain.WORKING, f"words:{DIMENSIONS}", tuple(embedded(*records))
    )


@given(st.lists(st.tuples(RECORDS, VECTORS), max_size=4))
def test_records_arrive_as_they_were_sent(
    pairs: list[tuple[Record, Any]],
) -> None:
    sent = WriteRecords(
        ACME,
        Grain.WORKING,
        "words:64",
        tuple(EmbeddedRecord(r, v) for r, v in pairs),
    )
    received = Wire().records(sent)
    assert received == sent
    for one, other in zip(received.records, sent.records, strict=True):
        assert one.vector.dtype == np.float32
        assert np.allclose(one.vector, other.vector, atol=2**-11)
        assert np.array_equal(
            one.vector, other.vector.astype(np.float16).astype(np.float32)
        )


def test_operations_arrive_as_they_were_sent() -> None:
    sent = WriteTriples(
        ACME,
        (
            an_operation(),
            an_operation(
                "São Tomé", op="UPDATE", replaces="Porto", user_id="u"
            ),
        ),
    )
    assert Wire().triples(sent) == sent


def profile_message(user_id: str = "u-42") -> WriteProfile:
    entry = ProfileEntry(
        user_id,
        "location",
        "São Tomé",
        MORNING,
        MORNING,
        "c-1",
        ("m1",),
        "Dana",
    )
    return WriteProfile(ACME, user_id, (entry,))


def test_statements_about_a_user_arrive_as_they_were_sent() -> None:
    assert Wire().profile(profile_message()) == profile_message()


def test_statements_about_another_user_than_the_messages_are_refused() -> None:
    wire = Wire()
    wire.profile(profile_message())
    forged = json.dumps({**wire.body, "userId": "u-7"})
    with pytest.raises(Rejected, match="another user"):
        read_write(Delivery("1", forged, "g"), objects=InMemoryObjects())


def test_a_conversation_arrives_as_it_was_sent() -> None:
    conversation = a_conversation(
        raw_message(
            "I moved.",
            timestamp="2026-03-02T09:15:00.5Z",
            extra={"a": [1, None]},
        ),
        raw_message([{"type": "text", "text": "olá"}], name="Dana"),
        startedAt="2026-03-02T09:00:00+01:00",
    )
    context = a_conversation("before").messages
    received = Wire().ingest(
        IngestMessage(conversation, tuple(context), MORNING)
    )
    assert received.conversation.as_json() == conversation.as_json()
    assert [m.id for m in received.context] == [m.id for m in context]
    assert received.received_at == MORNING


def test_fault_the_deduplication_id_does_not_depend_on_the_time() -> None:
    wire, conversation = Wire(), a_conversation("hi")
    wire.ingest(IngestMessage(conversation, (), MORNING))
    wire.ingest(IngestMessage(conversation, (), MORNING + timedelta(hours=1)))
    wire.ingest(IngestMessage(a_conversation("hello"), (), MORNING))
    wire.ingest(
        IngestMessage(
            conversation, tuple(a_conversation("before").messages), MORNING
        )
    )
    first, again, other, after = wire.queue.deduplication_ids
    assert first == again
    assert len({first, other, after}) == 3


def test_invariant_4_each_store_and_each_conversation_has_a_group_of_its_own() -> (
    None
):
    wire = Wire()
    wire.records(records_message(a_record()))
    wire.triples(WriteTriples(ACME, (an_operation(),)))
    wire.profile(profile_message())
    wire.ingest(IngestMessage(a_conversation("hi"), (), MORNING))
    groups = [
        group.removeprefix("acme:support:") for group in wire.queue.groups
    ]
    assert groups == ["working", "graph", "profile", "c-1"]


def test_a_group_too_long_for_the_queue_is_hashed_to_a_stable_name() -> None:
    wire, scope = Wire(), Scope(LONG, LONG)
    for _ in range(2):
        wire.triples(WriteTriples(scope, (an_operation(),)))
    wire.records(WriteRecords(scope, Grain.WORKING, "words:64", ()))
    graph, again, working = wire.queue.groups
    assert graph == again != working
    assert max(map(len, wire.queue.groups)) <= 128
    assert max(map(len, wire.queue.deduplication_ids)) <= 128


SQS_BODY = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")
"""What a body may hold, by SendMessage's reference; others are refused as InvalidMessageContents."""
SQS_GROUP = re.compile("[!-~]{1,128}")
ODD = st.sampled_from(
    "\x00\x08\x0b\x1f\x7f\u2028\ufeff\ufffe\uffff\U0001ffff"
) | st.characters(codec="utf-8")


@given(st.text(ODD, min_size=1))
@example("\ufffe and \uffff")
def test_invariant_1_the_queue_accepts_and_delivers_any_text(
    words: str,
) -> None:
    wire, conversation = Wire(), a_conversation(words)
    received = wire.ingest(IngestMessage(conversation, (), MORNING))
    assert SQS_BODY.fullmatch(wire.queue.sent[-1].body)
    assert received.conversation.as_json() == conversation.as_json()


def test_a_group_has_only_characters_that_the_queue_accepts() -> None:
    groups = {
        group_of("acme", "support", target)
        for target in ("\u00e9pisode", "e\u0301pisode", "c-1")
    }
    assert len(groups) == 3
    assert all(SQS_GROUP.fullmatch(group) for group in groups)


def test_a_body_too_large_for_a_message_is_sent_as_a_claim_check() -> None:
    wire = Wire()
    text = "x" * (MAX_BODY_BYTES + 1)
    received = wire.ingest(IngestMessage(a_conversation(text), (), MORNING))
    assert received.conversation.messages[0].text == text
    assert set(wire.body) == {"type", "payload", "correlationId"}
    assert len(wire.queue.sent[-1].body) < 300
    assert wire.keys == [wire.body["payload"]]
    assert wire.keys[0].startswith("payloads/acme/support/")


def test_a_claim_check_is_sent_from_one_byte_over_the_limit() -> None:
    wire = Wire()
    wire.ingest(IngestMessage(a_conversation("é"), (), MORNING))
    room = MAX_BODY_BYTES - len(wire.queue.sent[-1].body.encode())
    wire.ingest(
        IngestMessage(
            a_conversation("é" + "é" * (room // 2) + "x" * (room % 2)),
            (),
            MORNING,
        )
    )
    assert len(wire.queue.sent[-1].body.encode()) == MAX_BODY_BYTES
    assert wire.keys == []
    wire.ingest(
        IngestMessage(
            a_conversation("é" + "é" * (room // 2) + "x" * (room % 2 + 1)),
            (),
            MORNING,
        )
    )
    assert len(wire.keys) == 1


def test_a_large_conversation_sent_twice_makes_one_payload_and_one_deduplication_id() -> (
    None
):
    wire = Wire()
    for hours in (0, 1):
        wire.ingest(
            IngestMessage(
                a_conversation("x" * 300_000),
                (),
                MORNING + timedelta(hours=hours),
            )
        )
    assert len(wire.keys) == 1
    assert len(set(wire.queue.deduplication_ids)) == 1


def test_many_records_are_split_into_messages_that_fit_in_order() -> None:
    records = [a_record(f"{i} " + "é" * 3_000, id=f"r{i}") for i in range(100)]
    message = records_message(*records)
    pieces = records_in_bounds(message)
    assert [e.record.id for piece in pieces for e in piece.records] == [
        r.id for r in records
    ]
    wire = Wire()
    for piece in pieces:
        assert wire.records(piece) == piece
    assert wire.keys == []
    assert len(pieces) < 5


def test_a_record_too_large_for_any_message_still_arrives() -> None:
    wire, message = (
        Wire(),
        records_message(a_record("x" * 400_000, id="a"), a_record(id="b")),
    )
    assert [
        wire.records(piece) for piece in records_in_bounds(message)
    ] == list(records_in_bounds(message))
    assert len(wire.keys) == 1


def test_no_records_are_no_messages() -> None:
    assert list(records_in_bounds(records_message())) == []


@given(JSON.map(lambda value: json.dumps(value)) | st.text(max_size=30))
def test_an_invalid_body_is_rejected_on_every_queue(body: str) -> None:
    for read in (read_ingest, read_write):
        with pytest.raises(Rejected):
            read(Delivery("1", body, "g"), objects=InMemoryObjects())  # type: ignore[operator]


def bodies() -> list[dict[str, Any]]:
    wire = Wire()
    wire.records(records_message(a_record()))
    records = wire.body
    wire.triples(WriteTriples(ACME, (an_operation(),)))
    triples = wire.body
    wire.ingest(
        IngestMessage(
            a_conversation("hi"), tuple(a_conversation("a").messages), MORNING
        )
    )
    ingest = wire.body
    wire.profile(profile_message())
    return [records, triples, ingest, wire.body]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path,
        *(
            place
            for key, item in inner
            for place in places(item, (*path, key))
        ),
    ]


PLACES = [
    (i, place)
    for i, body in enumerate(bodies())
    for place in places(body)
    if place
]


@given(
    st.sampled_from(PLACES),
    JSON
    | st.sampled_from(
        [
            10**400,
            float("inf"),
            float("nan"),
            "",
            [],
            {},
            "../x",
            "AA=",
            "9999-12-31T23:59:59-10:00",
        ]
    ),
)
def test_a_message_with_any_value_in_any_field_is_read_or_rejected(
    place: tuple[int, tuple[Any, ...]], value: Any
) -> None:
    which, path = place
    body: Any = bodies()[which]
    target = body
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    delivery = Delivery("1", json.dumps(body), "g")
    try:
        message: Any = (read_ingest if which == 2 else read_write)(
            delivery, objects=InMemoryObjects()
        )
    except (Rejected, Retryable):
        return
    wire = Wire()
    verbs = {
        WriteRecords: wire.records,
        WriteTriples: wire.triples,
        WriteProfile: wire.profile,
    }
    verb: Any = {**verbs, IngestMessage: wire.ingest}[type(message)]
    assert type(verb(message)) is type(message)


@pytest.mark.parametrize("which", [0, 1, 2, 3])
def test_a_message_with_a_missing_field_is_refused_by_field(
    which: int,
) -> None:
    for name in bodies()[which].keys() - {"type", "grain", "correlationId"}:
        body = bodies()[which]
        del body[name]
        with pytest.raises(Rejected) as refused:
            (read_ingest if which == 2 else read_write)(
                Delivery("1", json.dumps(body), "g"), objects=InMemoryObjects()
            )
        assert refused.value.field == name


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "content",
        "period",
        "source_ids",
        "userId",
        "importance",
        "position",
    ],
)
def test_a_record_with_a_field_of_the_wrong_type_never_reaches_a_store(
    name: str,
) -> None:
    body = bodies()[0]
    body["records"][0][name if name != "source_ids" else "sourceIds"] = (
        {"not": "this"} if name != "source_ids" else [5]
    )
    with pytest.raises(Rejected):
        read_write(
            Delivery("1", json.dumps(body), "g"), objects=InMemoryObjects()
        )


def test_a_message_of_the_other_queue_is_rejected() -> None:
    records, _, ingest, _ = bodies()
    with pytest.raises(Rejected, match="type"):
        read_ingest(
            Delivery("1", json.dumps(records), "g"), objects=InMemoryObjects()
        )
    with pytest.raises(Rejected, match="type"):
        read_write(
            Delivery("1", json.dumps(ingest), "g"), objects=InMemoryObjects()
        )


@pytest.mark.parametrize(
    "body", ['{"type": "write", "type": "ingest"}', '[{"a": 1, "a": 1}]']
)
def test_a_key_that_appears_twice_is_rejected(body: str) -> None:
    with pytest.raises(Rejected, match="not valid JSON"):
        read_write(Delivery("1", body, "g"), objects=InMemoryObjects())


def test_deeply_nested_json_is_rejected() -> None:
    with pytest.raises(Rejected, match="not valid JSON"):
        read_write(
            Delivery("1", "[" * 100_000, "g"), objects=InMemoryObjects()
        )


@pytest.mark.parametrize(
    "path",
    ["secrets/acme/support/x", "payloads/../acme/x.json", "payloads/acme/support",
     "payloads/acme/support/a/b",
     "/payloads/acme/x", "payloads/acme/../x.json", 5, None, ["payloads", "a", "b", "c"]],
)  # fmt: skip
def test_invariant_7_a_claim_check_reads_nothing_but_payloads(
    path: Any,
) -> None:
    objects = InMemoryObjects()
    objects.put("secrets/acme/support/x", b"{}")
    with pytest.raises(Rejected):
        read_write(
            Delivery(
                "1", json.dumps({"type": "records", "payload": path}), "g"
            ),
            objects=objects,
        )


FOREIGN = expiry_key(MORNING, Scope("rival", "support"), Grain.WORKING)
CHANGES = [
    LedgerChanges(settles=(FOREIGN,)),
    LedgerChanges(expiries=(FOREIGN,)),
]


@pytest.mark.parametrize("changes", CHANGES, ids=["settled", "left"])
def test_invariant_7_a_message_that_changes_another_agents_ledger_is_refused(
    changes: LedgerChanges,
) -> None:
    wire = Wire()
    with pytest.raises(Rejected, match="ledger"):
        wire.records(replace(records_message(a_record()), ledger=changes))
    send_expiry(
        ExpirePeriods(ACME, Grain.WORKING, (), changes),
        queue=wire.queue,
        objects=wire.objects,
    )
    with pytest.raises(Rejected, match="ledger"):
        read_write(wire.queue.sent[-1], objects=wire.objects)
    send_cleaning(CleanAgent(ACME, (FOREIGN,), MORNING), queue=wire.queue)
    with pytest.raises(Rejected, match="ledger"):
        read_work(wire.queue.sent[-1])


@pytest.mark.parametrize("name", ["content", "vector"])
def test_text_that_no_store_can_hold_is_refused_in_every_field(
    name: str,
) -> None:
    """Half a surrogate pair is valid JSON and no text; a vector is base64 and nothing beside it."""
    body = bodies()[0]
    body["records"][0][name] = {
        "content": "\ud800",
        "vector": body["records"][0]["vector"] + "\n\n!",
    }[name]
    with pytest.raises(Rejected):
        read_write(
            Delivery("1", json.dumps(body), "g"), objects=InMemoryObjects()
        )


@pytest.mark.parametrize("name", ["workspaceId", "agentId"])
def test_a_conversation_that_names_no_owner_is_refused(name: str) -> None:
    body = bodies()[2]
    del body["conversation"][name]
    with pytest.raises(Rejected, match=name):
        read_ingest(
            Delivery("1", json.dumps(body), "g"), objects=InMemoryObjects()
        )


def test_a_claim_check_with_a_missing_payload_is_retryable() -> None:
    body = json.dumps(
        {"type": "records", "payload": "payloads/acme/support/x.json"}
    )
    with pytest.raises(Retryable, match="no such object"):
        read_write(Delivery("1", body, "g"), objects=InMemoryObjects())


@pytest.mark.parametrize(
    "payload",
    [
        b"\xff\xfe\x00",
        b"not json",
        b"[]",
        b'{"type": "records", "payload": "x"}',
        b"",
    ],
)
def test_an_invalid_payload_is_rejected(payload: bytes) -> None:
    objects = InMemoryObjects()
    objects.put("payloads/acme/support/x.json", payload)
    body = json.dumps(
        {"type": "records", "payload": "payloads/acme/support/x.json"}
    )
    with pytest.raises(Rejected):
        read_write(Delivery("1", body, "g"), objects=objects)


def test_invariant_9_a_refusal_does_not_repeat_the_message() -> None:
    body = bodies()[0]
    body["records"][0]["importance"] = "Dana's secret"
    with pytest.raises(Rejected) as refused:
        read_write(
            Delivery("1", json.dumps(body), "g"), objects=InMemoryObjects()
        )
    assert "secret" not in str(refused.value)
