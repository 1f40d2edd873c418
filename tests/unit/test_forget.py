"""Forgetting: memory afterwards is the memory of somebody who has never heard of the forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders import ACME, RecordingQueue
from tests.support.forgetful import Conversation, Forgetful
from tests.support.usecase_drivers import run_bar, run_verify
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period
from varve.domain.erasure import (
    Selector,
    Tombstones,
    owners,
    tombstones_from_json,
)
from varve.domain.errors import Rejected, Retryable
from varve.domain.experience.outcomes import Outcome, Verdict
from varve.domain.experience.rows import (
    Episode,
    LessonVersion,
    episode_record,
    lesson_from,
    lesson_record,
)
from varve.domain.extraction import Batch, Extraction, Fact
from varve.domain.identity import Scope
from varve.domain.ledger import curation_key
from varve.domain.profile import ProfileEntry
from varve.domain.record import EmbeddedRecord, Store, StoreName
from varve.domain.rules import RuleExtractor
from varve.domain.search.query import Filter
from varve.domain.summary import key_facts_from_json
from varve.domain.triple import Op, TripleOperation
from varve.domain.workspace import WorkspaceConfig
from varve.messages.erasure import ERASED, forgotten_share, redact_body
from varve.messages.wire import MAX_BODY_BYTES
from varve.ports.erasure import Inspected
from varve.ports.objects import ObjectInfo
from varve.ports.queues import Delivery
from varve.usecases.erasure import receipts, tombstones
from varve.usecases.erasure.needles import collect_needles
from varve.usecases.erasure.unlearning import plan_unlearning
from varve.usecases.experience.rows import read_rows

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
NAMES = {"u-dana": "Danaqq", "u-marco": "Marcozz", "u-priya": "Priyaxx"}
THINGS = [
    "gooseberries",
    "espresso",
    "quinces",
    "sailing",
    "chess",
    "jazz",
    "old maps",
    "ferns",
]
SAYINGS = [
    "I like {thing}.", "I live in {thing}town.", "I moved to {thing}ville last week.", "Me too!",
    "What about {thing}?", "I work at {thing} Ltd and I love {thing}.", "My sister likes {thing}.",
]  # fmt: skip

messages = st.tuples(
    st.sampled_from([*NAMES, "assistant"]),
    st.sampled_from(SAYINGS),
    st.sampled_from(THINGS),
    st.integers(0, 2),
)
conversations = st.lists(
    st.lists(messages, min_size=1, max_size=7), min_size=1, max_size=4
)


def conversation(
    number: int,
    said: list[tuple[str, str, str, int]],
    without: str | None = None,
) -> Conversation:
    """A conversation; an answer counts as its asker's, and goes where the asker does."""
    kept: list[dict[str, Any]] = []
    last = None
    days = sorted(day for *_, day in said)
    for index, (who, saying, thing, _) in enumerate(said):
        at = (
            NOW
            - timedelta(days=3 - days[index], hours=3)
            + timedelta(minutes=index, seconds=number)
        )
        message = {
            "id": f"c{number}-m{index}",
            "content": saying.format(thing=thing),
            "timestamp": at.isoformat(),
        }
        if who == "assistant":
            message |= {"role": "assistant"}
        else:
            message |= {"role": "user", "userId": who, "name": NAMES[who]}
            last = who
        if without is None or last != without:
            kept.append(message)
    return {"conversationId": f"c-{number}", "messages": kept}


class Beside:
    """An Extractor that reads each message of a user beside the one before it, as a model does."""

    name = "beside"

    def extract(self, batch: Batch) -> Extraction:
        facts, operations = [], []
        for before, u in pairwise(
            (None, *batch.context[-1:], *batch.utterances)
        ):
            if u is None or u in batch.context or u.role != "user":
                continue
            words = f"{u.text} (after: {before.text if before else 'nothing'})"
            facts.append(
                Fact(
                    f"{u.speaker}: {words}",
                    u.speaker,
                    u.said_at,
                    (u.message_id,),
                )
            )
            said_in = (
                batch.created_at,
                batch.conversation_id,
                (u.message_id,),
                u.user_id,
            )
            operations.append(
                TripleOperation(
                    Op.ADD, u.speaker, "likes", words, u.said_at, *said_in
                )
            )
        return Extraction(tuple(facts), tuple(operations))


LIKES = ("u-dana", "I like {thing}.", "quinces")
TOO = ("u-marco", "Me too!", "quinces")
MOVED = ("u-dana", "I moved to {thing}ville last week.", "gooseberries", 0)
LIKED = ("u-marco", "I like {thing}.", "gooseberries", 0)


@example([[(*LIKES, 0), (*TOO, 0)]], "u-dana", True, Beside)
@example([[(*LIKES, 0), (*TOO, 2)]], "u-dana", True, Beside)
@example([[MOVED], [LIKED, MOVED]], "u-marco", False, RuleExtractor)
@given(
    conversations,
    st.sampled_from([*NAMES]),
    st.booleans(),
    st.sampled_from([RuleExtractor, Beside]),
)
def test_invariant_8_forgetting_a_user_leaves_what_would_be_there_without_him(
    said: list[list[tuple[str, str, str, int]]],
    gone: str,
    summarized: bool,
    reading: Callable[[], Any],
) -> None:
    memory, control = Forgetful(reading()), Forgetful(reading())
    for number, messages_ in enumerate(said):
        memory.ingest(conversation(number, messages_), now=NOW)
        rest = conversation(number, messages_, without=gone)
        if rest["messages"]:
            control.ingest(rest, now=NOW)
    if summarized:
        memory.summarize(NOW)
    assert memory.forget(user=gone, now=NOW).complete
    assert memory.held(Grain.WORKING) == control.held(Grain.WORKING)
    assert memory.known() == control.known()
    assert memory.said() == control.said()
    assert [memory.profile(user) for user in NAMES] == [
        control.profile(user) for user in NAMES
    ]
    memory.summarize(NOW)
    control.summarize(NOW)
    assert memory.held() == control.held()
    assert NAMES[gone].encode() not in memory.bytes()


def test_invariant_8_what_is_left_of_a_summary_has_nothing_that_was_read_beside_forgotten_words() -> (
    None
):
    memory = Forgetful(Beside())
    memory.ingest(conversation(1, [(*LIKES, 0), (*TOO, 0)]), now=NOW)
    memory.ingest(
        conversation(2, [("u-priya", "I like {thing}.", "jazz", 0)]), now=NOW
    )
    memory.summarize(NOW)
    over = [
        record.id
        for record in memory.all(Grain.WORKING)
        if record.user_id == "u-priya"
    ]
    memory.records.delete(ACME, Grain.WORKING, over)  # retention has come by
    memory.forget(user="u-dana", now=NOW)
    assert "jazz" in str(memory.held(Grain.DAILY))
    assert "quinces" not in str(memory.held())


def test_a_night_between_two_passes_leaves_nothing_more_to_find() -> None:
    memory, control = a_memory(), Forgetful()
    control.ingest(MARCO, now=NOW)
    memory.summarize(NOW)
    memory.bar(user="u-dana", now=NOW)
    done = memory.erase(wait=lambda: memory.summarize(NOW) is None)
    control.summarize(NOW)
    assert (done.complete, done.passes) == (
        True,
        3,
    )  # what is over, the messages, nothing
    assert memory.held() == control.held()


def said(
    *texts: str,
    name: str = "c-1",
    user: str = "u-dana",
    day: int = 19,
    **given: Any,
) -> Conversation:
    """A conversation of one user's messages."""
    messages_ = [
        {
            "id": f"{name}-m{index}",
            "role": "user",
            "name": NAMES[user],
            "content": text,
            "timestamp": f"2026-04-{day}T09:{index:02}:00Z",
        }
        for index, text in enumerate(texts)
    ]
    return {
        "conversationId": name,
        "userId": user,
        "messages": messages_,
        **given,
    }


DANA = said("I live in Kumquatville.", "I like gooseberries.")
MARCO = said("I like espresso.", name="c-2", user="u-marco")


def a_memory() -> Forgetful:
    memory = Forgetful()
    memory.ingest(DANA, MARCO, now=NOW)
    return memory


SELECTORS = [{"user": "u-dana"}, {"conversation": "c-1"}]


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_invariant_8_nothing_of_the_forgotten_is_left_under_the_root(
    selector: dict[str, str],
) -> None:
    memory = a_memory()
    memory.summarize(NOW)
    assert memory.forget(now=NOW, **selector).complete
    held = str(memory.held()) + str(memory.known()) + memory.bytes().decode()
    assert not [
        word
        for word in ("Kumquat", "gooseberries", "Danaqq", "u-dana", "c-1")
        if word in held
    ]
    assert "Marcozz likes espresso." in held


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_invariant_8_a_replay_brings_nothing_back_and_a_redelivery_neither(
    selector: dict[str, str],
) -> None:
    memory = a_memory()
    memory.forget(now=NOW, **selector)
    before = memory.held(), memory.known(), memory.said()
    memory.ingest(DANA, now=NOW + timedelta(days=1))
    for delivery in list(memory.parts):
        memory.read(delivery)
    assert (memory.held(), memory.known(), memory.said()) == before


def test_invariant_8_a_replay_whose_messages_name_no_time_brings_nothing_back() -> (
    None
):
    memory = Forgetful()
    timeless = {
        "conversationId": "c-1",
        "userId": "u-dana",
        "messages": [{"role": "user", "content": "I like figs."}],
    }
    memory.ingest(timeless, now=NOW)
    memory.forget(user="u-dana", now=NOW)
    memory.ingest(timeless, now=NOW + timedelta(days=1))
    assert memory.held(Grain.WORKING) == {"working": []}


def test_a_user_who_comes_back_is_remembered_from_then_on() -> None:
    memory = a_memory()
    memory.forget(user="u-dana", now=NOW)
    later = NOW + timedelta(hours=1)
    memory.ingest(
        said("I like figs.", name="c-9", day=20, startedAt=later.isoformat()),
        now=later,
    )
    assert not memory.find(user="u-dana"), (
        "said at nine, before the forgetting, whenever it arrives"
    )
    message = {
        "role": "user",
        "name": "Danaqq",
        "content": "I like figs.",
        "timestamp": later.isoformat(),
    }
    memory.ingest(
        {"conversationId": "c-1", "userId": "u-dana", "messages": [message]},
        now=later,
    )
    assert "Danaqq likes figs." in {
        record.content for record in memory.all(Grain.WORKING)
    }


def test_records_take_their_messages_and_all_that_was_made_of_them() -> None:
    memory = a_memory()
    (fact,) = (
        r
        for r in memory.all(Grain.WORKING)
        if r.content == "Danaqq likes gooseberries."
    )
    memory.forget(ids=(fact.id,), now=NOW)
    assert (
        "gooseberries"
        not in str(memory.held())
        + str(memory.known())
        + memory.bytes().decode()
    )
    assert "Danaqq lives in Kumquatville." in str(memory.held())
    memory.ingest(DANA, now=NOW + timedelta(days=1))
    assert "gooseberries" not in str(memory.held())


def test_where_the_timeline_is_over_turns_tell_whose_the_messages_were() -> (
    None
):
    memory = a_memory()
    memory.objects.delete(
        [info.key for info in memory.objects.list("timeline")]
    )
    assert memory.find(user="u-dana").messages == {
        ("c-1", "c-1-m0"),
        ("c-1", "c-1-m1"),
    }
    memory.forget(user="u-dana", now=NOW)
    assert {record.user_id for record in memory.all(Grain.WORKING)} == {
        "u-marco"
    }


@pytest.mark.parametrize("by", ["user", "conversation", "ids"])
def test_of_what_a_summary_alone_still_says_the_forgotten_facts_go(
    by: str,
) -> None:
    memory = a_memory()
    memory.summarize(NOW)
    facts = tuple(
        r.id for r in memory.all(Grain.WORKING) if r.conversation_id == "c-1"
    )
    selector: dict[str, Any] = {
        "user": "u-dana",
        "conversation": "c-1",
        "ids": facts,
    }
    memory.records.delete(
        ACME, Grain.WORKING, [r.id for r in memory.all(Grain.WORKING)]
    )
    memory.objects.delete(
        [info.key for info in memory.objects.list("timeline")]
    )
    assert "Kumquat" in str(memory.held())
    memory.forget(**{by: selector[by]}, now=NOW)
    assert (
        "Kumquat"
        not in str(memory.held())
        + str(memory.known())
        + memory.bytes().decode()
    )
    assert "espresso" in str(memory.held(Grain.DAILY))


def test_profiles_lose_what_the_messages_said_and_a_forgotten_users_all() -> (
    None
):
    memory = a_memory()
    assert [entry.value for entry in memory.profile("u-dana")] == [
        "Kumquatville"
    ]
    memory.forget(conversation="c-1", now=NOW)
    assert memory.profile("u-dana") == []
    memory.ingest(said("I live in Figtown.", name="c-7"), now=NOW)
    by_hand = ProfileEntry("u-dana", "diet", "vegan", NOW, NOW)
    memory.stores.profiles.apply(ACME, "u-dana", [by_hand])
    memory.forget(user="u-dana", now=NOW)
    assert list(memory.objects.list("profiles/acme/support")) == []


def test_a_summarys_id_is_refused() -> None:
    memory = a_memory()
    memory.summarize(NOW)
    with pytest.raises(Rejected, match="summary"):
        memory.find(ids=(memory.all(Grain.DAILY)[0].id,))


def test_an_answer_goes_with_the_words_it_answers() -> None:
    answered = said("I like figs.", "I like tea.", userId="u-marco")
    answered["messages"][0]["userId"] = "u-dana"
    answered["messages"].insert(
        1, {"id": "a", "role": "assistant", "content": "Figs, then."}
    )
    answered["messages"].append(
        {"id": "b", "role": "assistant", "content": "Tea, then."}
    )
    memory = Forgetful()
    memory.ingest(answered, now=NOW)
    memory.forget(user="u-dana", now=NOW)
    assert [
        line.partition("'content': ")[2][:8] for line in memory.said()
    ] == [
        "'I like ",
        "'Tea, th",
    ]


def test_forgetting_somebody_unknown_finds_nothing_and_changes_nothing() -> (
    None
):
    memory = a_memory()
    before = memory.held(), memory.known(), memory.said()
    done = memory.forget(user="u-nobody", now=NOW)
    assert (done.complete, set(done.counts.values())) == (True, {0})
    assert (memory.held(), memory.known(), memory.said()) == before


def test_forgetting_twice_finds_nothing_the_second_time() -> None:
    memory = a_memory()
    assert sum(memory.forget(user="u-dana", now=NOW).counts.values())
    assert not sum(memory.forget(user="u-dana", now=NOW).counts.values())


def test_what_waits_on_a_queue_is_taken_and_dropped() -> None:
    """Accepted before the forgetting, handled after it; in a claim check too, which loses its content."""
    memory = Forgetful()
    waiting, long = (
        RecordingQueue(),
        "I like gooseberries. " * (MAX_BODY_BYTES // 20),
    )
    memory.conversations, handle = waiting, memory.read  # type: ignore[assignment]
    memory.ingest(said("I like figs."), said(long, name="c-3"), MARCO, now=NOW)
    memory.forget(user="u-dana", now=NOW + timedelta(seconds=1))
    assert b"gooseberries" not in memory.bytes()
    assert json.dumps(ERASED).replace(" ", "").encode() in memory.bytes()
    for delivery in waiting.sent:
        handle(delivery)
    assert {record.user_id for record in memory.all(Grain.WORKING)} == {
        "u-marco"
    }


def test_a_write_on_its_way_is_dropped_and_what_it_carries_of_others_is_not() -> (
    None
):
    memory, waiting = Forgetful(), RecordingQueue()
    memory.writes, handle = waiting, memory.write  # type: ignore[assignment]
    memory.ingest(DANA, MARCO, now=NOW)
    memory.bar(user="u-dana", now=NOW)
    for delivery in waiting.sent:
        handle(delivery)
    assert {record.user_id for record in memory.all(Grain.WORKING)} == {
        "u-marco"
    }
    assert {triple["source_id"] for triple in memory.known()} == {"marcozz"}


def test_a_summary_on_its_way_is_dropped_and_its_period_stays_due() -> None:
    memory, waiting = a_memory(), RecordingQueue()
    memory.writes, handle = waiting, memory.write  # type: ignore[assignment]
    memory.summarize(NOW)
    memory.writes = _Direct(handle)  # type: ignore[assignment]
    memory.forget(user="u-dana", now=NOW)
    for delivery in waiting.sent:
        handle(delivery)
    assert {one.user_id for one in memory.all(Grain.DAILY)} == {"u-marco"}
    assert memory.ledger.marks(ACME, Period.parse("2026-04-19"))
    memory.summarize(NOW)
    assert "Kumquat" not in str(memory.held(Grain.DAILY))
    assert "espresso" in str(memory.held(Grain.DAILY))


def test_an_erasure_redriven_days_later_takes_no_summary_that_was_built_since() -> (
    None
):
    memory = a_memory()
    memory.summarize(NOW)
    letters: list[Delivery] = []

    def write(delivery: Delivery) -> None:
        letters.append(delivery)
        memory.write(delivery)

    memory.writes = _Direct(write)  # type: ignore[assignment]
    memory.forget(user="u-dana", now=NOW)
    erasures = list(letters)
    memory.summarize(NOW + timedelta(hours=1))
    rebuilt = memory.held()
    assert "espresso" in str(rebuilt[Grain.DAILY])
    for delivery in erasures:
        memory.write(delivery)
    assert memory.held() == rebuilt


def test_an_erasure_that_does_not_tell_that_time_as_none_did_once_takes_what_it_names() -> (
    None
):
    memory = a_memory()

    def write(delivery: Delivery) -> None:
        body = json.loads(delivery.body)
        body.pop("knownBy", None)
        memory.write(replace(delivery, body=json.dumps(body)))

    memory.writes = _Direct(write)  # type: ignore[assignment]
    assert memory.forget(user="u-dana", now=NOW).complete
    assert "gooseberries" not in str(memory.held())


class _Direct:
    """A queue that hands on at once."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self._handle(Delivery(deduplication_id, body, group))


def test_somebody_forgotten_while_the_model_reads_leaves_no_trace_of_it() -> (
    None
):
    class Slow:
        """Reads as the rules do; meanwhile somebody forgets the user."""

        name = "slow"

        def extract(self, batch: Any) -> Any:
            if (
                not memory.find(user="u-nobody")
                and batch.conversation_id == "c-1"
            ):
                memory.forget(user="u-dana", now=NOW)
            return inner.extract(batch)

    memory, inner = Forgetful(), Forgetful().extractor
    memory.extractor = Slow()
    memory.ingest(DANA, MARCO, now=NOW)
    assert {record.user_id for record in memory.all(Grain.WORKING)} == {
        "u-marco"
    }
    assert "Kumquat" not in str(memory.known()) + memory.bytes().decode()


@pytest.mark.parametrize("failing", range(1, 4))
def test_a_run_that_ends_half_way_is_finished_by_the_next(
    failing: int,
) -> None:
    memory, control = a_memory(), Forgetful()
    control.ingest(MARCO, now=NOW)
    memory.summarize(NOW)
    calls = 0

    def write(delivery: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise Retryable("storage: down")
        memory.write(delivery)

    queue, memory.writes = memory.writes, _Direct(write)  # type: ignore[assignment]
    with pytest.raises(Retryable):
        memory.forget(user="u-dana", now=NOW)
    memory.writes = queue
    assert memory.forget(user="u-dana", now=NOW).complete
    memory.summarize(NOW)
    control.summarize(NOW)
    assert memory.held() == control.held()
    assert b"Kumquat" not in memory.bytes()


def test_a_run_that_finds_nothing_has_each_store_give_up_old_versions_if_told_to() -> (
    None
):
    memory = a_memory()
    for prune, groups in (
        (False, []),
        (True, sorted(f"acme:support:{grain}" for grain in Grain)),
    ):
        waiting = RecordingQueue()
        done = memory.erase(writes=waiting, prune=prune)
        assert (done.complete, sorted(waiting.groups)) == (True, groups)


def test_of_a_summary_whose_sources_are_gone_others_facts_stay_word_for_word() -> (
    None
):
    """Retention has taken the day's facts and turns: what one summary said of all in prose goes."""
    memory = a_memory()
    memory.config = WorkspaceConfig.model_validate(
        {"summaries": {"scope": "agent"}}
    )
    memory.summarize(NOW)
    memory.records.delete_periods(ACME, Grain.WORKING, ["2026-04-19"])
    memory.forget(user="u-dana", now=NOW)
    for grain in (Grain.DAILY,):
        (summary,) = memory.all(grain)
        assert [
            fact.content for fact in key_facts_from_json(summary.key_facts)
        ] == ["Marcozz likes espresso."]
        assert "Kumquat" not in summary.content
        assert summary.content.strip().endswith("Marcozz likes espresso.")
    memory.summarize(NOW)
    assert "espresso" in str(memory.held(Grain.DAILY))
    assert "Kumquat" not in str(memory.held())


def test_invariant_8_why_a_summary_failed_goes_with_it_for_it_may_quote_what_a_model_answered() -> (
    None
):
    memory, day = a_memory(), Period.parse("2026-04-19")
    memory.summarize(NOW)
    memory.ledger.fail(
        ACME, day, "model reply: 'Kumquatville' is no time", NOW
    )
    memory.forget(user="u-dana", now=NOW)
    assert memory.ledger.failure(ACME, day) is None
    assert b"Kumquat" not in memory.bytes()


@pytest.mark.parametrize(
    "expired", [False, True], ids=["all there", "days expired"]
)
def test_a_users_summaries_go_at_every_grain_and_no_other_users_is_rebuilt(
    expired: bool,
) -> None:
    later = datetime(2027, 2, 1, tzinfo=UTC)
    memory = a_memory()
    memory.summarize(later)
    if expired:
        for grain in (Grain.WORKING, Grain.DAILY):
            memory.records.delete_periods(ACME, grain, ["2026-04-19"])
    assert "Kumquat" in str(memory.held(Grain.YEARLY))
    summaries = [
        record for grain in SUMMARY_GRAINS for record in memory.all(grain)
    ]
    memory.forget(user="u-dana", now=later)
    memory.summarize(later + timedelta(days=1))
    left = [record for grain in SUMMARY_GRAINS for record in memory.all(grain)]
    assert left == [one for one in summaries if one.user_id == "u-marco"]
    assert len(left) == (4 if expired else 5)


def test_summaries_of_all_users_go_too_and_are_rebuilt() -> None:
    later = datetime(2027, 2, 1, tzinfo=UTC)
    memory, control = a_memory(), Forgetful()
    for one in (memory, control):
        one.config = WorkspaceConfig.model_validate(
            {"summaries": {"scope": "agent"}}
        )
    control.ingest(MARCO, now=NOW)
    memory.summarize(later)
    assert "Kumquat" in str(memory.held(Grain.YEARLY))
    memory.forget(user="u-dana", now=later)
    assert not [
        record for grain in SUMMARY_GRAINS for record in memory.all(grain)
    ]
    memory.summarize(later)
    control.summarize(later)
    assert memory.held() == control.held()
    assert "espresso" in str(memory.held(Grain.YEARLY))


def test_invariant_7_another_agents_memory_is_not_touched() -> None:
    memory = a_memory()
    key = "timeline/acme/other/2026-04-19/c-1/x.jsonl"
    memory.objects.put(key, b"theirs")
    memory.forget(user="u-dana", now=NOW)
    stored = memory.objects.get(key)
    assert stored is not None
    assert stored.data == b"theirs"


def test_tombstones_hold_hashes_and_no_content() -> None:
    memory = a_memory()
    memory.forget(user="u-dana", now=NOW)
    stored = memory.objects.get("audit/acme/tombstones/support.json")
    assert stored is not None
    text = stored.data.decode()
    assert not [
        word
        for word in ("u-dana", "c-1", "gooseberries", "turn-", "fact-")
        if word in text
    ]
    assert tombstones_from_json(json.loads(text)) == tombstones.load(
        ACME, objects=memory.objects
    )


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"key": "k", "users": [], "conversations": {}, "messages": [], "records": []}',
        b"[" * 9_999,
    ],
    ids=lambda data: data[:20],
)
def test_tombstones_that_cannot_be_read_let_nothing_in(data: bytes) -> None:
    memory = Forgetful()
    memory.objects.put("audit/acme/tombstones/support.json", data)
    with pytest.raises(Retryable, match="tombstones"):
        memory.ingest(DANA, now=NOW)


def test_a_dead_letters_body_belongs_to_the_forgotten_or_does_not() -> None:
    memory, waiting = Forgetful(), RecordingQueue()
    memory.conversations = waiting  # type: ignore[assignment]
    memory.ingest(DANA, MARCO, now=NOW)
    barred = Tombstones(key="k").with_subject(Selector(user="u-dana"), NOW)
    theirs, others = (delivery.body for delivery in waiting.sent)
    told = [
        forgotten_share(body, ACME, barred)
        for body in (theirs, others, "{", "[]", "{}")
    ]
    assert told == ["all", "none", "none", "none", "none"]
    assert forgotten_share(theirs, Scope("acme", "other"), barred) == "none"
    assert redact_body(json.loads(others), barred) == json.loads(others)


def test_whose_a_message_is() -> None:
    roles = [
        ("system", "u"),
        ("user", "a"),
        ("assistant", "u"),
        ("tool", None),
        ("user", None),
        ("assistant", None),
    ]
    assert owners(roles) == [{"u"}, {"a"}, {"u", "a"}, {"a"}, set(), set()]


def test_what_is_looked_for_is_what_nobody_else_has_said() -> None:
    memory = a_memory()
    memory.ingest(
        said("I like gooseberries.", name="c-4", user="u-marco"), now=NOW
    )
    wanted = collect_needles(
        Selector(user="u-dana"), memory.find(user="u-dana")
    ).texts
    assert {"kumquatville", "u-dana", "danaqq"} <= wanted
    assert "gooseberries" not in wanted


@pytest.mark.parametrize("agent", ["gooseberries", "u-dana"])
def test_a_proof_takes_no_other_agents_name_for_words_of_the_forgotten(
    agent: str,
) -> None:
    memory, other = Forgetful(), Scope("acme", agent)
    memory.ingest(said("I like gooseberries."), MARCO, now=NOW)
    wanted = collect_needles(
        Selector(user="u-dana"), memory.find(user="u-dana")
    )
    assert agent in wanted.texts
    memory.forget(user="u-dana", now=NOW)
    run_bar(
        other,
        Selector(user="u-priya"),
        memory.find(user="u-priya"),
        NOW,
        objects=memory.objects,
    )
    receipts.put(other, NOW, {}, objects=memory.objects)
    assert agent in memory.bytes().decode()
    assert run_verify(
        ACME, wanted, objects=memory.objects, stores=_Plain()
    ).proved
    memory.objects.put(
        f"audit/acme/receipts/{agent}/told.json", b'"gooseberries by u-dana"'
    )
    assert (
        len(
            run_verify(
                ACME, wanted, objects=memory.objects, stores=_Plain()
            ).found_in
        )
        == 1
    )


class _Empty(InMemoryObjects):
    """Objects whose listings are stale: they are still of the time before the first of them."""

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return iter(())


class _Plain:
    """A StoreInspector to which objects are text, and stores empty."""

    def forms(self, data: bytes) -> Iterable[str]:
        return [data.decode()]

    def inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        return Inspected()


def test_a_stale_listing_does_not_prove_that_the_messages_are_gone() -> None:
    memory = a_memory()
    wanted = collect_needles(
        Selector(user="u-dana"), memory.find(user="u-dana")
    )
    stale = _Empty()
    for key in wanted.erased_keys:
        stale.put(key, memory.objects.get(key).data)
    assert not run_verify(ACME, wanted, objects=stale, stores=_Plain()).proved
    stale.delete(wanted.erased_keys)
    assert run_verify(ACME, wanted, objects=stale, stores=_Plain()).proved


def test_positions_go_on_after_what_was_forgotten() -> None:
    memory = Forgetful()
    mixed = said(
        "I like figs.", "I like tea.", "I like jam.", userId="u-marco"
    )
    mixed["messages"][0]["userId"] = "u-dana"
    memory.ingest(mixed, now=NOW)
    memory.forget(user="u-dana", now=NOW)
    grown = {
        **mixed,
        "messages": [
            *mixed["messages"],
            *said("I like rye.", name="c-8", day=19)["messages"],
        ],
    }
    memory.ingest(grown, now=NOW + timedelta(days=1))
    turns = memory.records.browse(
        ACME, Grain.WORKING, where=Filter(conversation_id="c-1"), limit=99
    )
    assert {record.position for record in turns} == {1, 2, 3}


def test_passes_end_where_the_writer_never_comes() -> None:
    memory = a_memory()
    memory.bar(user="u-dana", now=NOW)
    done = memory.erase(writes=RecordingQueue(), wait=lambda: False)
    assert (done.complete, done.passes) == (False, 1)
    assert memory.said() != [], (
        "the timeline, which names the days, waits for the stores"
    )


def an_episode(name: str, user: str, *ids: str, at: datetime = NOW) -> Episode:
    verdict = Verdict(Outcome.UNKNOWN, "none", "nobody said")
    return Episode(
        f"episode-{name}",
        name,
        ids,
        at,
        at,
        f"The {name} situation",
        "start",
        verdict,
        at,
        user_id=user,
    )


def test_experience_loses_episodes_and_what_rests_on_them() -> None:
    hers, his = (
        an_episode("c-1", "u-dana", "c-1-m0"),
        an_episode("c-2", "u-marco", "c-2-m0"),
    )
    lesson = LessonVersion(
        "lesson-1", "Tea helps.", "always", "offer tea", NOW, NOW,
        supporting=(hers.id, his.id), user_ids=("u-dana", "u-marco"), conversation_ids=("c-1", "c-2"),
    )  # fmt: skip
    rows = [
        *(episode_record(e, "2026") for e in (hers, his)),
        lesson_record(lesson, "2026"),
    ]
    barred = Tombstones(key="k").with_subject(Selector(user="u-dana"), NOW)
    gone = plan_unlearning(rows, barred)
    assert gone.deleted == {hers.id, lesson.id}
    (kept,) = map(lesson_from, gone.rewritten)
    assert (kept.claim, kept.supporting, kept.user_ids) == (
        "Tea helps.",
        (his.id,),
        ("u-marco",),
    )
    memory = a_memory()
    vectors = memory.embedder.embed([row.content for row in rows])
    embedded = [
        EmbeddedRecord(row, vector)
        for row, vector in zip(rows, vectors, strict=True)
    ]
    memory.records.upsert(
        ACME, Store.EXPERIENCE, embedded, memory.embedder.model
    )
    memory.objects.put(curation_key(ACME), b'{"stale": ["lesson-1"]}')
    assert memory.forget(user="u-dana", now=NOW).complete
    left = read_rows(ACME, reader=memory.records)
    assert {row.id for row in left} == {his.id, kept.id}
    assert "u-dana" not in str(left)
    assert memory.objects.get(curation_key(ACME)) is None, (
        "it names a lesson of the forgotten"
    )


def test_experience_of_a_user_who_has_come_back_stays() -> None:
    old, new = (
        an_episode("c-1", "u-dana", "m0"),
        an_episode("c-3", "u-dana", "m1", at=NOW + timedelta(days=1)),
    )
    barred = Tombstones(key="k").with_subject(Selector(user="u-dana"), NOW)
    assert plan_unlearning(
        [episode_record(e, "2026") for e in (old, new)], barred
    ).deleted == {old.id}
