"""The one writer: one commit per store and batch, nothing lost, nobody held up by a poison message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import (
    ACME,
    MORNING,
    Failing,
    RecordingQueue,
    a_record,
    an_operation,
    embedded,
    stores_over,
)
from tests.support.usecase_drivers import run_write, run_write_now
from varve.adapters.in_memory import (
    InMemoryDeadLetters,
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.adapters.json_profiles import JsonProfiles
from varve.domain.calendar import Grain
from varve.domain.current_profile import select_current_entries
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.erasure import Selector, Tombstones
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.profile import ProfileEntry
from varve.domain.record import (
    STORES,
    EmbeddedRecord,
    Record,
    StoreName,
    Written,
)
from varve.domain.search.query import Filter
from varve.domain.triple import TripleOperation
from varve.messages.erasure import EraseProfiles, EraseTriples
from varve.messages.erasure_queue import send_erasure
from varve.messages.write import (
    DeleteRecords,
    ExpirePeriods,
    WriteProfile,
    WriteRecords,
    WriteTriples,
    send_deletion,
    send_expiry,
    send_profile,
    send_records,
    send_triples,
)
from varve.ports.queues import Delivery
from varve.usecases.erasure import tombstones
from varve.usecases.write.commits import WriteOutcome

RIVAL = Scope("rival", "support")


class CountingRecords(InMemoryRecords):
    """Counts its commits; fails at those told to."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[tuple[Scope, int]] = []
        self.failing: set[Scope] = set()

    def expect(self, scope: Scope, grain: StoreName) -> None:
        pass

    def upsert(
        self,
        scope: Scope,
        grain: Grain,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        if scope in self.failing:
            raise Retryable("storage: down")
        self.commits.append((scope, len(records)))
        return super().upsert(scope, grain, records, model)


class CountingGraph(InMemoryGraph):
    """Counts its commits."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[int] = []

    def apply(
        self, scope: Scope, operations: Sequence[TripleOperation]
    ) -> int:
        self.commits.append(len(operations))
        return super().apply(scope, operations)


class Writer:
    """The write stage over counting stores, and a queue to put messages on first."""

    def __init__(self) -> None:
        self.records, self.graph, self.objects = (
            CountingRecords(),
            CountingGraph(),
            InMemoryObjects(),
        )
        self.letters, self.queue = InMemoryDeadLetters(), RecordingQueue()
        self.stores = stores_over(self.records, self.graph, self.objects)

    def send(
        self, *records: Record, scope: Scope = ACME, model: str = "words:64"
    ) -> Delivery:
        message = WriteRecords(
            scope, Grain.WORKING, model, tuple(embedded(*records))
        )
        send_records(message, queue=self.queue, objects=self.objects)
        return self.queue.sent[-1]

    def send_triples(
        self, *operations: TripleOperation, scope: Scope = ACME
    ) -> Delivery:
        send_triples(
            WriteTriples(scope, operations),
            queue=self.queue,
            objects=self.objects,
        )
        return self.queue.sent[-1]

    def send_profile(
        self, *entries: ProfileEntry, scope: Scope = ACME
    ) -> Delivery:
        message = WriteProfile(scope, entries[0].user_id, entries)
        send_profile(message, queue=self.queue, objects=self.objects)
        return self.queue.sent[-1]

    def poison(self, group: str = "acme:support:working") -> Delivery:
        self.queue.send(
            '{"type": "records"}', group=group, deduplication_id="poison"
        )
        return self.queue.sent[-1]

    def write(self, *batch: Delivery, letters: Any = None) -> WriteOutcome:
        return run_write(
            batch, self.stores, dead_letters=letters or self.letters
        )

    def contents(self, scope: Scope = ACME) -> set[str]:
        found = self.records.browse(
            scope, Grain.WORKING, where=Filter(), limit=100_000
        )
        return {record.content for record in found}

    def held(
        self, scope: Scope
    ) -> tuple[set[str], list[Any], list[list[ProfileEntry]]]:
        """What the agent's stores hold."""
        profiles = JsonProfiles(self.objects)
        stated = [profiles.entries(scope, user) for user in ("u-42", "u-7")]
        return self.contents(scope), self.graph.triples(scope), stated

    @property
    def buried(self) -> list[Delivery]:
        return [delivery for delivery, _ in self.letters.letters]


def an_entry(value: str, day: int = 0, user_id: str = "u-42") -> ProfileEntry:
    at = MORNING + timedelta(days=day)
    return ProfileEntry(
        user_id, "location", value, at, at, "c-1", (f"m{day}",), "Dana"
    )


def test_a_batch_is_one_commit_for_each_store() -> None:
    writer = Writer()
    batch = [writer.send(a_record(f"fact {i}")) for i in range(10)]
    batch += [writer.send_triples(an_operation(day=i)) for i in range(3)]
    batch += [writer.send(a_record("theirs"), scope=RIVAL)]
    outcome = writer.write(*batch)
    assert (outcome.returned, outcome.records, outcome.operations) == (
        [],
        11,
        3,
    )
    assert sorted(writer.records.commits, key=str) == [(ACME, 10), (RIVAL, 1)]
    assert writer.graph.commits == [3]


def test_a_batch_puts_each_users_profile_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = Writer()
    put: list[str] = []
    put_if = writer.objects.put_if

    def count(key: str, data: bytes, etag: str | None) -> bool:
        put.append(key)
        return put_if(key, data, etag)

    monkeypatch.setattr(writer.objects, "put_if", count)
    batch = [
        writer.send_profile(an_entry(f"city {day}", day, user))
        for day in range(3)
        for user in ("u-42", "u-7")
    ]
    assert writer.write(*batch).attributes == 6
    assert len([key for key in put if key.startswith("profiles/")]) == 2


def test_a_profile_is_merged_by_the_writer_in_any_order_and_any_number_of_times() -> (
    None
):
    writer = Writer()
    batch = [
        writer.send_profile(an_entry("Porto", 9)),
        writer.send_profile(an_entry("Leeds")),
        writer.send_profile(an_entry("x", 1, "u-7")),
    ]
    assert writer.write(*batch).attributes == 3
    assert writer.write(*reversed(batch), *batch).attributes == 0
    profiles = JsonProfiles(writer.objects)
    assert [e.value for e in profiles.entries(ACME, "u-42")] == [
        "Leeds",
        "Porto",
    ]
    assert [
        e.value
        for e in select_current_entries(
            profiles.entries(ACME, "u-42"), MORNING + timedelta(10)
        )
    ] == ["Porto"]
    assert len(profiles.entries(ACME, "u-7")) == 1
    assert profiles.entries(RIVAL, "u-42") == []


def test_invariant_7_each_tenants_records_are_in_its_own_store_only() -> None:
    writer = Writer()
    writer.write(
        writer.send(a_record("ours")),
        writer.send(a_record("theirs"), scope=RIVAL),
    )
    assert (writer.contents(), writer.contents(RIVAL)) == (
        {"ours"},
        {"theirs"},
    )


def test_invariant_2_the_same_batch_any_number_of_times_leaves_the_same() -> (
    None
):
    writer = Writer()
    batch = [
        writer.send(a_record("a"), a_record("b")),
        writer.send_triples(an_operation()),
    ]
    first = writer.write(*batch)
    before = (
        writer.records.browse(ACME, Grain.WORKING, where=Filter(), limit=9),
        writer.graph.triples(ACME),
    )
    again = writer.write(*batch, *batch)
    assert (
        first.records,
        first.operations,
        again.records,
        again.operations,
    ) == (
        2,
        1,
        0,
        0,
    )
    after = (
        writer.records.browse(ACME, Grain.WORKING, where=Filter(), limit=9),
        writer.graph.triples(ACME),
    )
    assert after == before


def test_fault_a_record_of_a_known_id_replaces_and_is_not_appended() -> None:
    writer = Writer()
    writer.write(writer.send(a_record("Dana lives in Porto.", id="fact-1")))
    outcome = writer.write(
        writer.send(a_record("Dana lives in Lisbon.", id="fact-1"))
    )
    assert outcome.records == 1
    assert writer.contents() == {"Dana lives in Lisbon."}


def test_of_two_records_of_one_id_in_a_batch_the_later_stays() -> None:
    writer = Writer()
    writer.write(
        writer.send(a_record("old", id="fact-1")),
        writer.send(a_record("new", id="fact-1")),
    )
    assert writer.contents() == {"new"}


def test_invariant_1_a_poison_message_is_a_dead_letter_with_its_reason_and_its_group_is_written() -> (
    None
):
    writer = Writer()
    poison = writer.poison()
    outcome = writer.write(
        writer.send(a_record("a")), poison, writer.send(a_record("b"))
    )
    assert (outcome.returned, writer.contents()) == ([], {"a", "b"})
    ((letter, error),) = writer.letters.letters
    assert letter == poison
    assert isinstance(error, Rejected)
    assert "workspaceId: is missing" in str(error)
    assert writer.records.commits == [(ACME, 2)]


def test_invariant_3_a_payload_that_is_not_there_yet_stops_its_group_in_order() -> (
    None
):
    writer = Writer()
    body = '{"type": "records", "payload": "payloads/acme/support/x.json"}'
    missing = Delivery("late", body, "acme:support:working")
    first, last, other = (
        writer.send(a_record("a")),
        writer.send(a_record("c")),
        writer.send(a_record("b"), scope=RIVAL),
    )
    outcome = writer.write(first, missing, last, other)
    assert outcome.returned == [missing, last]
    assert (writer.contents(), writer.contents(RIVAL)) == ({"a"}, {"b"})


def test_invariant_3_a_failing_store_returns_its_whole_group_and_no_other() -> (
    None
):
    writer = Writer()
    writer.records.failing = {ACME}
    ours = [writer.send(a_record("a")), writer.send(a_record("b"))]
    theirs, graph = (
        writer.send(a_record("c"), scope=RIVAL),
        writer.send_triples(an_operation()),
    )
    outcome = writer.write(*ours, theirs, graph)
    assert outcome.returned == ours
    assert (outcome.records, outcome.operations, writer.buried) == (1, 1, [])
    writer.records.failing.clear()
    assert writer.write(*ours).returned == []
    assert writer.contents() == {"a", "b"}


def test_invariant_1_at_the_last_chance_an_outage_is_a_dead_letter_and_later_ones_are_returned() -> (
    None
):
    writer = Writer()
    writer.records.failing = {ACME}
    last, next_ = (
        replace(writer.send(a_record("a")), last_chance=True),
        writer.send(a_record("b")),
    )
    outcome = writer.write(last, next_)
    assert (outcome.returned, writer.buried) == ([next_], [last])
    assert str(writer.letters.letters[0][1]) == "storage: down"


def test_invariant_1_a_message_is_returned_while_the_dead_letters_cannot_take_it() -> (
    None
):
    writer = Writer()
    poison, innocent = writer.poison(), writer.send(a_record("a"))
    outcome = writer.write(
        poison,
        innocent,
        letters=Failing(writer.letters, Retryable("dlq: down"), 1),
    )
    assert outcome.returned == [poison, innocent]
    assert writer.contents() == set()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_invariant_10_a_message_of_another_model_is_refused_and_takes_no_innocents_with_it(
    place: int,
) -> None:
    writer = Writer()
    writer.write(writer.send(a_record("known")))
    batch = [writer.send(a_record("a")), writer.send(a_record("b"))]
    faulty = writer.send(a_record("c"), model="letters:64")
    batch.insert(place, faulty)
    outcome = writer.write(*batch)
    assert (outcome.returned, outcome.records, writer.buried) == (
        [],
        2,
        [faulty],
    )
    assert writer.contents() == {"known", "a", "b"}
    (error,) = (error for _, error in writer.letters.letters)
    assert isinstance(error, EmbeddingMismatch)
    assert "'words:64'" in str(error)
    assert "'letters:64'" in str(error)


def test_a_single_writer_knows_which_of_many_records_were_new() -> None:
    writer = Writer()
    writer.write(writer.send(a_record("a"), a_record("b")))
    assert (
        writer.write(
            writer.send(a_record("a"), a_record("b"), a_record("c"))
        ).records
        == 1
    )


def test_a_message_that_takes_the_claim_check_is_written_like_any_other() -> (
    None
):
    writer = Writer()
    delivery = writer.send(a_record("x" * 300_000))
    assert "payload" in delivery.body
    assert writer.write(delivery).records == 1


def test_a_sender_that_waits_is_told_what_is_wrong() -> None:
    writer = Writer()
    run_write_now([writer.send(a_record("a"))], writer.stores)
    with pytest.raises(Rejected, match="workspaceId"):
        run_write_now([writer.poison()], writer.stores)
    with pytest.raises(EmbeddingMismatch):
        run_write_now(
            [writer.send(a_record("b"), model="letters:64")],
            writer.stores,
        )
    writer.records.failing = {ACME}
    with pytest.raises(Retryable):
        run_write_now([writer.send(a_record("b"))], writer.stores)
    assert writer.contents() == {"a"}


SORTS = [
    "fact",
    "deletion",
    "expiry",
    "triple",
    "unsaid",
    "statement",
    "another's",
    "unstated",
]


def forged(writer: Writer, sort: str, scope: Scope, n: int) -> Delivery:
    """A message of the sort about the n-th thing, in a group that is not its own."""
    fact, said, stated = (
        a_record(f"fact {n}"),
        an_operation(f"place {n}", "likes", day=n),
        an_entry("x", n),
    )
    parts: dict[str, Any] = {"queue": writer.queue, "objects": writer.objects}
    match sort:
        case "fact":
            writer.send(fact, scope=scope)
        case "deletion":
            send_deletion(
                DeleteRecords(scope, Grain.WORKING, (fact.id,)), **parts
            )
        case "expiry":
            send_expiry(
                ExpirePeriods(
                    scope, Grain.WORKING, (fact.period,), force=True
                ),
                **parts,
            )
        case "triple":
            writer.send_triples(said, scope=scope)
        case "unsaid":
            send_erasure(EraseTriples(scope, (said.id,)), "pass", **parts)
        case "unstated":
            send_erasure(EraseProfiles(scope, (stated.id,)), "pass", **parts)
        case _:
            entry = stated if sort == "statement" else an_entry("x", n, "u-7")
            writer.send_profile(entry, scope=scope)
    return replace(writer.queue.sent[-1], group="one for all")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SORTS),
            st.sampled_from([ACME, RIVAL]),
            st.integers(0, 1),
        ),
        max_size=9,
    )
)
def test_invariant_7_a_group_leaves_what_its_messages_leave_one_by_one_whatever_they_are_and_whose(
    rows: list[tuple[str, Scope, int]],
) -> None:
    at_once, one_by_one = Writer(), Writer()
    assert (
        at_once.write(*(forged(at_once, *row) for row in rows)).returned == []
    )
    for row in rows:
        assert one_by_one.write(forged(one_by_one, *row)).returned == []
    assert at_once.buried == one_by_one.buried == []
    for scope in (ACME, RIVAL):
        assert at_once.held(scope) == one_by_one.held(scope)


@pytest.mark.parametrize("store", STORES)
def test_a_message_without_records_is_written_like_any_other(
    store: StoreName,
) -> None:
    writer = Writer()
    message = WriteRecords(ACME, store, "words:64", ())
    send_records(message, queue=writer.queue, objects=writer.objects)
    outcome = writer.write(*writer.queue.sent)
    assert (outcome.returned, outcome.records, writer.buried) == ([], 0, [])


@pytest.mark.parametrize("sort", ["records", "triples", "profile"])
def test_invariant_8_of_a_write_on_its_way_nothing_stays_of_what_was_forgotten_meanwhile(
    sort: str,
) -> None:
    writer, gone = (
        Writer(),
        "quinces " * 40_000,
    )  # over a queue's size: it takes the claim check
    match sort:
        case "records":
            records = (
                a_record(gone, source_ids=("m0",)),
                a_record("figs", source_ids=("m1",)),
            )
            waiting = writer.send(*records)
        case "triples":
            waiting = writer.send_triples(
                an_operation(gone, "likes"),
                an_operation("figs", "likes", day=1),
            )
        case _:
            waiting = writer.send_profile(an_entry(gone), an_entry("figs", 1))
    assert "payload" in waiting.body

    def forget(known: Tombstones) -> Tombstones:
        return known.with_subject(
            Selector(), MORNING, messages=[("c-1", "m0")]
        )

    tombstones.extend(ACME, forget, objects=writer.objects)
    outcome = writer.write(waiting)
    assert (
        outcome.returned,
        outcome.records + outcome.operations + outcome.attributes,
    ) == ([], 1)
    held = str(writer.held(ACME))
    kept = [
        writer.objects.get(info.key).data.decode()
        for info in writer.objects.list("payloads")
    ]
    assert "figs" in held
    assert "quinces" not in held + "".join(kept)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([ACME, RIVAL]),
            st.sampled_from(["a", "b", "poison", "triple"]),
        ),
        max_size=10,
    ),
    st.data(),
)
def test_invariant_2_any_batching_and_repetition_ends_in_the_same_stores(
    rows: list[tuple[Scope, str]], data: st.DataObject
) -> None:
    one, other = Writer(), Writer()

    def deliveries(writer: Writer) -> list[Delivery]:
        def send(scope: Scope, what: str, day: int) -> Delivery:
            if what == "poison":
                return writer.poison(f"{scope.workspace}:support:working")
            if what == "triple":
                return writer.send_triples(
                    an_operation(f"place {day}", day=day), scope=scope
                )
            return writer.send(a_record(what, at=MORNING), scope=scope)

        return [
            send(scope, what, day) for day, (scope, what) in enumerate(rows)
        ]

    one.write(*deliveries(one))
    batch = deliveries(other)
    for cut in range(0, len(batch), size := data.draw(st.integers(1, 4))):
        for _ in range(data.draw(st.integers(1, 2))):
            assert other.write(*batch[cut : cut + size]).returned == []
    for scope in (ACME, RIVAL):
        assert other.contents(scope) == one.contents(scope)
        assert other.graph.triples(scope) == one.graph.triples(scope)
