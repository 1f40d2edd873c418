"""A conversation becomes turns, facts and operations once, however often and in whatever pieces it comes."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import (
    ACME,
    MORNING,
    Failing,
    RecordingQueue,
    UtteranceExtractor,
    WordEmbedder,
    a_conversation,
    raw_message,
    stores_over,
)
from tests.support.usecase_drivers import (
    run_extract,
    run_ingest,
    run_write_now,
)
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.adapters.json_profiles import JsonProfiles
from varve.domain.calendar import Grain, parse_instant
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected, Retryable
from varve.domain.extraction import Batch, Extraction
from varve.domain.record import MemoryType, Record
from varve.domain.rules import RuleExtractor
from varve.domain.search.query import Filter
from varve.domain.text import MAX_PASSAGE_CHARACTERS, estimated_tokens
from varve.domain.triple import Triple
from varve.messages.ingest import IngestMessage, read_ingest
from varve.messages.wire import MAX_BODY_BYTES
from varve.messages.write import WriteRecords, read_write
from varve.usecases.ingest.batching import (
    CONTEXT_CHARACTERS,
    CONTEXT_UTTERANCES,
    MAX_BATCH_TOKENS,
)
from varve.usecases.ingest.extract import ExtractOutcome
from varve.usecases.ingest.taken_in import read_taken_in
from varve.usecases.timeline import messages_on

UTC_ZONE, LISBON = ZoneInfo("UTC"), ZoneInfo("Europe/Lisbon")
NOTHING = ExtractOutcome()
LONGEST = 10_000 if "VARVE_NIGHTLY" in os.environ else 2_000
"""Messages; the most that a conversation may have, by night."""


class Stage:
    """The extraction stage over memory: what came in, what was extracted, what is on the write queue."""

    def __init__(self, zone: ZoneInfo = UTC_ZONE) -> None:
        self.zone = zone
        self.objects, self.queue = InMemoryObjects(), RecordingQueue()
        self.extractor = UtteranceExtractor()

    def take(
        self, conversation: Conversation, hours: float = 0, **ports: Any
    ) -> ExtractOutcome:
        """Deliver the conversation as one message that arrived so many hours after `MORNING`."""
        return self.handle(
            IngestMessage(conversation, (), MORNING + timedelta(hours=hours)),
            **ports,
        )

    def handle(self, message: IngestMessage, **ports: Any) -> ExtractOutcome:
        given = {
            "extractor": self.extractor,
            "embedder": WordEmbedder(),
            "queue": self.queue,
            "objects": self.objects,
        }
        return run_extract(message, self.zone, **{**given, **ports})

    def take_all(self, conversation: Conversation) -> list[ExtractOutcome]:
        """Deliver the conversation in the parts that ingest makes of it."""
        sent = RecordingQueue()
        run_ingest([conversation], MORNING, queue=sent, objects=self.objects)
        return [
            self.handle(read_ingest(delivery, objects=self.objects))
            for delivery in sent.sent
        ]

    @property
    def written(self) -> tuple[list[Record], list[Triple]]:
        """Everything on the write queue, written, in order of ids."""
        records, graph = InMemoryRecords(), InMemoryGraph()
        for delivery in self.queue.sent:
            run_write_now(
                [delivery], stores_over(records, graph, self.objects)
            )
        found = records.browse(
            ACME, Grain.WORKING, where=Filter(), limit=100_000
        )
        return sorted(found, key=lambda record: record.id), graph.triples(ACME)

    def contents(self, kind: MemoryType = MemoryType.TURN) -> list[str]:
        """The records of one sort, in the order they were said."""
        found = [
            record for record in self.written[0] if record.memory_type is kind
        ]
        return [
            record.content
            for record in sorted(
                found, key=lambda r: (r.position, r.event_time)
            )
        ]

    def timeline(self, day: str = "2026-03-02") -> list[dict[str, Any]]:
        return [
            line["message"]
            for line in messages_on(day, ACME, "c-1", objects=self.objects)
        ]


def test_words_and_facts_are_kept_with_who_said_them_and_when() -> None:
    stage = Stage()
    message = raw_message(
        "I like tea", name="Dana", id="m1", timestamp="2026-03-01T23:30:00Z"
    )
    outcome = stage.take(a_conversation(message), hours=5)
    assert outcome == ExtractOutcome(
        messages=1, turns=1, facts=1, operations=1, ignored=0
    )
    records, (triple,) = stage.written
    fact, turn = sorted(records, key=lambda record: record.memory_type)
    assert (turn.content, fact.content) == (
        "Dana: I like tea",
        "Dana said: I like tea",
    )
    for record in (fact, turn):
        assert record.event_time == parse_instant("2026-03-01T23:30:00Z")
        assert record.created_at == MORNING + timedelta(hours=5)
        assert (record.period, record.source_ids) == ("2026-03-01", ("m1",))
        assert (record.conversation_id, record.user_id, record.about) == (
            "c-1",
            "u-42",
            "Dana",
        )
    assert (triple.source_id, triple.label, triple.target_id) == (
        "dana",
        "likes",
        "tea",
    )


def test_what_a_user_says_of_themselves_goes_into_their_own_profile() -> None:
    stage = Stage()
    dana = raw_message(
        "I live in Lisbon. My sister Hannah lives in Leeds.",
        name="Dana",
        id="m1",
    )
    marco = raw_message(
        "I live in Valencia.", name="Marco", id="m2", userId="u-7"
    )
    stage.take(a_conversation(dana, marco), extractor=RuleExtractor())
    stage.take(a_conversation(dana, marco), extractor=RuleExtractor())
    _ = stage.written
    profiles = JsonProfiles(stage.objects)
    held = {
        user: profiles.entries(ACME, user)
        for user in ("u-42", "u-7", "default")
    }
    assert {user: [(e.key, e.value) for e in entries] for user, entries in held.items()} == {
        "u-42": [("location", "Lisbon")], "u-7": [("location", "Valencia")], "default": [],
    }  # fmt: skip
    assert (held["u-42"][0].conversation_id, held["u-42"][0].message_ids) == (
        "c-1",
        ("m1",),
    )


def test_a_period_is_a_day_of_the_workspaces_zone() -> None:
    stage = Stage(LISBON)
    stage.take(a_conversation(raw_message(timestamp="2026-07-01T23:30:00Z")))
    assert {record.period for record in stage.written[0]} == {"2026-07-02"}


def test_without_a_time_of_its_own_a_message_has_the_conversations_beginning_or_its_arrival() -> (
    None
):
    stage = Stage()
    stage.take(
        a_conversation(
            "a",
            raw_message("b", timestamp="2026-03-01T00:00:00Z"),
            startedAt="2026-02-01T08:00:00Z",
        )
    )
    stage.take(a_conversation("c", conversationId="c-2"), hours=2)
    times = {record.content: record.event_time for record in stage.written[0]}
    assert times["u-42: a"] == parse_instant("2026-02-01T08:00:00Z")
    assert times["u-42: b"] == parse_instant("2026-03-01T00:00:00Z")
    assert times["u-42: c"] == MORNING + timedelta(hours=2)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
)
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_messages_from_the_ends_of_the_calendar_are_kept_too(
    at: str, zone: str
) -> None:
    stage = Stage(ZoneInfo(zone))
    assert stage.take(a_conversation(raw_message(timestamp=at))).turns == 1


def test_the_speaker_is_the_name_or_the_user_or_the_role() -> None:
    stage = Stage()
    stage.take(
        a_conversation(
            raw_message("a", name="Dana"),
            "b",
            raw_message("c", "assistant"),
            raw_message("d", userId="u-7"),
        )
    )
    stage.take(a_conversation("e", conversationId="c-2", userId=None))
    assert {"Dana: a", "u-42: b", "Assistant: c", "u-7: d", "User: e"} == set(
        stage.contents()
    )
    assert {r.content: r.user_id for r in stage.written[0]}["u-7: d"] == "u-7"


def test_the_speakers_of_a_transcript_are_those_its_texts_name() -> None:
    said = [("Dana", "I like tea"), ("Mel", "I like: coffee")]
    pasted, named = Stage(), Stage()
    pasted.take(
        a_conversation(
            *(raw_message(f"{name}: {text}", id=name) for name, text in said)
        )
    )
    named.take(
        a_conversation(
            *(raw_message(text, name=name, id=name) for name, text in said)
        )
    )
    assert pasted.contents() == ["Dana: I like tea", "Mel: I like: coffee"]
    assert pasted.written == named.written
    assert [message["content"] for message in pasted.timeline()] == [
        "Dana: I like tea",
        "Mel: I like: coffee",
    ]


def test_invariant_2_a_message_sent_again_is_not_extracted_again() -> None:
    stage, conversation = (
        Stage(),
        a_conversation("I moved to Lisbon.", "I like tea"),
    )
    first = stage.take(conversation)
    before = stage.written
    assert first.messages == 2
    assert [stage.take(conversation, hours=hours) for hours in (1, 100)] == [
        NOTHING,
        NOTHING,
    ]
    assert stage.extractor.read == ["I moved to Lisbon.", "I like tea"]
    assert stage.written == before


def test_a_grown_conversation_adds_only_what_is_new() -> None:
    stage = Stage()
    stage.take(a_conversation("one", "two"))
    assert (
        stage.take(a_conversation("one", "two", "three"), hours=1).messages
        == 1
    )
    assert stage.extractor.read == ["one", "two", "three"]
    assert [
        utterance.text for utterance in stage.extractor.batches[-1].context
    ] == [
        "one",
        "two",
    ]
    assert stage.contents() == ["u-42: one", "u-42: two", "u-42: three"]


def test_a_tail_sent_alone_follows_what_came_before() -> None:
    stage = Stage()
    stage.take(a_conversation("one", "two"))
    stage.take(a_conversation("three", "four"))
    positions = {
        record.content: record.position for record in stage.written[0]
    }
    assert [
        positions[f"u-42: {word}"] for word in ("one", "two", "three", "four")
    ] == [
        0,
        1,
        2,
        3,
    ]


def test_a_message_put_between_known_ones_is_new() -> None:
    stage = Stage()
    stage.take(a_conversation("one", "three"))
    assert stage.take(a_conversation("one", "two", "three")).messages == 1
    assert stage.extractor.read == ["one", "three", "two"]


def test_other_words_under_a_known_id_are_ignored_and_counted() -> None:
    stage = Stage()
    stage.take(a_conversation(raw_message("I moved.", id="m1")))
    changed = a_conversation(
        raw_message("I stayed.", id="m1"), raw_message("I love it.", id="m2")
    )
    assert stage.take(changed) == ExtractOutcome(
        messages=1, turns=1, facts=1, operations=0, ignored=1
    )
    assert stage.take(changed) == ExtractOutcome(ignored=1)
    assert stage.contents() == ["u-42: I moved.", "u-42: I love it."]


def test_tool_and_system_messages_stay_on_the_timeline_and_are_not_extracted() -> (
    None
):
    stage = Stage()
    roles = ["system", "developer", "tool", "function", "user", "assistant"]
    outcome = stage.take(
        a_conversation(
            *(raw_message(f"the {role}'s words", role) for role in roles)
        )
    )
    assert (outcome.messages, outcome.turns, outcome.facts) == (6, 2, 1)
    assert [message["role"] for message in stage.timeline()] == roles
    assert stage.extractor.read == [
        "the user's words",
        "the assistant's words",
    ]


def test_messages_without_words_make_no_record_and_count_as_taken_in() -> None:
    stage = Stage()
    silent = a_conversation(
        raw_message(None, "assistant", tool_calls=[]),
        raw_message(" \n"),
        raw_message([]),
    )
    assert stage.take(silent) == ExtractOutcome(messages=3)
    assert stage.take(silent) == NOTHING
    assert (stage.queue.sent, stage.extractor.batches) == ([], [])
    assert len(stage.timeline()) == 3


def test_recalled_memory_in_a_prompt_is_not_learnt() -> None:
    stage = Stage()
    stage.take(
        a_conversation(
            "<varve-memory>\nDana lives in Porto.\n</varve-memory>\nI like tea"
        )
    )
    assert stage.contents() == ["u-42: I like tea"]
    assert stage.extractor.read == ["I like tea"]
    assert "Porto" in stage.timeline()[0]["content"], (
        "the timeline keeps messages as they came"
    )


def test_memory_fed_back_fifty_times_does_not_snowball() -> None:
    stage, memory = Stage(), ""
    for turn in range(50):
        stage.take(
            a_conversation(
                f"<varve-memory>\n{memory}\n</varve-memory>\nTurn {turn}."
            )
        )
        memory = "\n".join(
            f"<entry>{record.content}</entry>" for record in stage.written[0]
        )
    assert sorted(stage.contents()) == sorted(
        f"u-42: Turn {turn}." for turn in range(50)
    )
    assert len(stage.written[0]) == 100
    assert max(len(record.content) for record in stage.written[0]) < 30


def test_recalled_memory_alone_is_silence() -> None:
    stage = Stage()
    assert stage.take(
        a_conversation("<memory>Dana lives in Porto.</memory>")
    ) == ExtractOutcome(messages=1)


FAILURES = {
    "extractor": lambda stage, call: {
        "extractor": Failing(stage.extractor, Retryable("model: down"), call)
    },
    "embedder": lambda _, call: {"embedder": FailingEmbedder(call)},
    "queue": lambda stage, call: {
        "queue": Failing(stage.queue, Retryable("queue: down"), call)
    },
    "objects": lambda stage, call: {
        "objects": Failing(stage.objects, Retryable("storage: down"), call)
    },
}


class FailingEmbedder(WordEmbedder):
    """Fails at the given call."""

    def __init__(self, at: int) -> None:
        self._left = at

    def embed(self, texts: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            raise Retryable("embedding: down")
        return super().embed(texts)


@pytest.mark.parametrize(
    ("port", "call"),
    [
        (port, call)
        for port in FAILURES
        for call in (1, 2, 3)
        if (port, call) not in {("extractor", 3), ("embedder", 3)}
    ],
)
def test_invariant_2_a_failure_anywhere_takes_nothing_in_and_the_retry_gives_the_same(
    port: str, call: int
) -> None:
    long = "I walked along the river. " * (4 * MAX_BATCH_TOKENS // 26)
    conversation = a_conversation(raw_message("I like tea"), raw_message(long))
    undisturbed, stage = Stage(), Stage()
    undisturbed.take(conversation)
    with pytest.raises(Retryable, match="down"):
        stage.take(conversation, **FAILURES[port](stage, call))
    noted = dict(read_taken_in(ACME, objects=stage.objects))
    assert not any(one["messages"] for one in noted.values())
    assert stage.take(conversation).messages == 2
    assert stage.written == undisturbed.written
    assert stage.take(conversation, hours=1) == NOTHING
    assert (
        len(list(stage.objects.list("timeline")))
        == len(list(undisturbed.objects.list("timeline")))
        == 1
    )


def test_invariant_2_a_killed_ingest_that_is_repeated_leaves_no_double_on_the_timeline() -> (
    None
):
    stage = Stage()
    messages = [raw_message("I like tea"), raw_message("I like rye")]
    dying = Failing(stage.queue, Retryable("queue: down"), 1)
    with pytest.raises(Retryable, match="down"):
        stage.take(a_conversation(*messages), queue=dying)
    grown = a_conversation(*messages, raw_message("I like figs"))
    stage.take(grown, hours=26)
    first_day, next_day = (
        [message["content"] for message in stage.timeline(day)]
        for day in ("2026-03-02", "2026-03-03")
    )
    assert first_day == ["I like tea", "I like rye"]
    assert next_day == ["I like figs"]
    turns = [
        one for one in stage.written[0] if one.memory_type is MemoryType.TURN
    ]
    days = {turn.content.partition(": ")[2]: turn.period for turn in turns}
    assert days["I like tea"] == "2026-03-02"


def test_fault_facts_are_not_dropped_when_an_embedding_call_fails() -> None:
    stage, conversation = Stage(), a_conversation("I like tea")
    with pytest.raises(Retryable):
        stage.take(conversation, embedder=FailingEmbedder(2))
    assert stage.contents(MemoryType.FACT) == []
    stage.take(conversation)
    assert stage.contents(MemoryType.FACT) == ["u-42 said: I like tea"]


def test_invariant_1_words_are_searchable_even_when_their_extraction_is_refused() -> (
    None
):
    stage = Stage()
    with pytest.raises(Rejected):
        stage.take(
            a_conversation("I like tea"),
            extractor=Failing(
                stage.extractor, Rejected("reply", "no JSON"), 1
            ),
        )
    assert stage.contents() == ["u-42: I like tea"]


def test_invariant_4_two_deliveries_of_one_message_at_once_end_as_one() -> (
    None
):
    stage, conversation = Stage(), a_conversation("I like tea")

    class Meanwhile(UtteranceExtractor):
        def extract(self, batch: Any) -> Any:
            stage.take(conversation)
            return super().extract(batch)

    # The slower one finds the ledger as it would have left it: nothing to do again, nothing lost.
    stage.take(conversation, extractor=Meanwhile())
    assert len(stage.written[0]) == 2


def test_a_long_message_is_kept_in_passages_and_extracted_whole() -> None:
    stage = Stage()
    long = " ".join(f"Sentence number {i} is here." for i in range(400))
    outcome = stage.take(a_conversation(raw_message(long, name="Dana")))
    records = [
        record
        for record in stage.written[0]
        if record.memory_type is MemoryType.TURN
    ]
    assert (
        outcome.turns
        == len(records)
        == len({record.id for record in records})
        > 4
    )
    assert all(
        len(record.content) <= MAX_PASSAGE_CHARACTERS + len("Dana: ")
        for record in records
    )
    words = {
        word
        for record in records
        for word in record.content.removeprefix("Dana: ").split()
    }
    assert words - {"[…]"} == set(long.split())
    assert stage.extractor.read == [long]


def test_a_megabyte_is_extracted_in_batches_of_bounded_size() -> None:
    stage = Stage()
    long = "I walked along the river and saw a boat. " * 20_000
    stage.take(a_conversation("Hello.", long, "That was long."))
    sizes = [
        sum(estimated_tokens(u.text) for u in batch.utterances)
        for batch in stage.extractor.batches
    ]
    assert max(sizes) <= MAX_BATCH_TOKENS
    assert "".join("".join(stage.extractor.read).split()) == "".join(
        f"Hello.{long}That was long.".split()
    )
    assert all(
        len(delivery.body.encode()) <= MAX_BODY_BYTES
        for delivery in stage.queue.sent
    )


def test_a_batch_knows_the_few_utterances_before_it_and_when_and_where_it_was_said() -> (
    None
):
    stage = Stage(LISBON)
    stage.take(
        a_conversation(*(f"{i} " + "x" * 1_900 for i in range(40))), hours=1
    )
    first, second, *_ = stage.extractor.batches
    assert first.context == ()
    assert second.context == first.utterances[-CONTEXT_UTTERANCES:]
    assert (second.scope, second.conversation_id, second.zone) == (
        ACME,
        "c-1",
        LISBON,
    )
    assert second.created_at == MORNING + timedelta(hours=1)


@pytest.mark.parametrize(
    "again", [True, False], ids=["grown", "in the next part"]
)
def test_of_a_document_before_a_message_only_the_end_is_read_with_it(
    again: bool,
) -> None:
    """Else a model whose window it fills would refuse the message after it, and the facts would be lost."""
    stage, document = (
        Stage(),
        "I walked along the river. " * 40_000 + "Is it deep?",
    )
    stage.take(a_conversation(document))
    stage.extractor.batches.clear()
    if again:
        stage.take(a_conversation(document, "Yes, it is."), hours=1)
    else:
        context = tuple(a_conversation(document).messages)
        stage.handle(
            IngestMessage(a_conversation("Yes, it is."), context, MORNING)
        )
    (batch,) = stage.extractor.batches
    (before,) = batch.context
    assert len(before.text) <= CONTEXT_CHARACTERS
    assert before.text.endswith("Is it deep?")


def test_one_fact_of_two_batches_is_one_record() -> None:
    stage = Stage()
    stage.take(a_conversation(raw_message("same words. " * 4_000)))
    assert len(stage.extractor.batches) > 1
    ids = [record.id for record in stage.written[0]]
    assert len(ids) == len(set(ids))


def test_a_long_conversation_is_remembered_in_order() -> None:
    stage = Stage()
    said = [f"word{i}" for i in range(LONGEST)]
    outcomes = stage.take_all(a_conversation(*said))
    assert sum(outcome.messages for outcome in outcomes) == LONGEST
    assert stage.extractor.read == said
    assert stage.contents() == [f"u-42: {text}" for text in said]
    second = stage.extractor.batches[1]
    assert [utterance.text for utterance in second.context] == said[36:40]


def test_a_part_that_comes_after_later_ones_is_taken_in_behind_them() -> None:
    """As one does that was a dead letter, and is redriven."""
    stage, sent = Stage(), RecordingQueue()
    run_ingest(
        [a_conversation(*(f"word {n}" for n in range(100)))],
        MORNING,
        queue=sent,
        objects=stage.objects,
    )
    first, second, third = (
        read_ingest(delivery, objects=stage.objects) for delivery in sent.sent
    )
    for part in (first, third, second):
        assert isinstance(part, IngestMessage)
        stage.handle(part)
    order = [*range(40), *range(80, 100), *range(40, 80)]
    assert stage.contents() == [f"u-42: word {n}" for n in order]
    assert [message["content"] for message in stage.timeline()] == [
        f"word {n}" for n in order
    ]


def test_a_long_conversation_is_sent_to_the_writer_in_messages_that_a_queue_takes() -> (
    None
):
    stage = Stage()
    words = " ".join(f"w{i}" for i in range(100_000))
    stage.take(a_conversation(words))
    assert len(stage.queue.sent) > 2
    assert all(
        len(delivery.body.encode()) <= MAX_BODY_BYTES
        for delivery in stage.queue.sent
    )
    found = {
        word
        for content in stage.contents()
        for word in content.removeprefix("u-42: ").split()
    }
    assert found - {"[…]"} == set(words.split())


def test_a_fact_over_a_messages_size_takes_the_claim_check_and_comes_back() -> (
    None
):
    stage = Stage()

    class Wordy(UtteranceExtractor):
        def extract(self, batch: Batch) -> Extraction:
            (fact,) = super().extract(batch).facts
            return Extraction((replace(fact, content="w " * 200_000),))

    stage.take(a_conversation("I moved."), extractor=Wordy())
    assert [
        json.loads(delivery.body).get("payload", "")[:22]
        for delivery in stage.queue.sent
    ] == [
        "",
        "payloads/acme/support/",
    ]
    assert stage.contents(MemoryType.FACT) == ["w " * 200_000]


def test_records_are_sent_with_the_model_that_embedded_them() -> None:
    stage = Stage()
    stage.take(a_conversation("I like tea"))
    messages = [
        read_write(delivery, objects=stage.objects)
        for delivery in stage.queue.sent
    ]
    assert {m.model for m in messages if isinstance(m, WriteRecords)} == {
        "words:64"
    }
    assert stage.queue.groups == [
        "acme:support:working",
        "acme:support:working",
        "acme:support:graph",
    ]


def test_conversations_and_agents_do_not_know_each_others_messages() -> None:
    stage = Stage()
    message = raw_message("I like tea", id="m1")
    for place in (
        {},
        {"conversationId": "c-2"},
        {"agentId": "sales"},
        {"workspaceId": "rival"},
    ):
        assert stage.take(a_conversation(message, **place)).messages == 1


WORDS = st.lists(
    st.sampled_from(
        ["ok", "I like tea", "I moved.", "no", "<memory>x</memory>"]
    ),
    min_size=1,
    max_size=7,
)


@given(WORDS, st.data())
def test_invariant_2_however_a_conversation_grows_memory_is_the_same(
    words: list[str], data: st.DataObject
) -> None:
    started = datetime(2026, 3, 1, tzinfo=MORNING.tzinfo).isoformat()
    whole, grown = Stage(), Stage()
    whole.take(a_conversation(*words, startedAt=started))
    for length in [
        *sorted(data.draw(st.lists(st.integers(1, len(words)), max_size=4))),
        len(words),
    ]:
        grown.take(a_conversation(*words[:length], startedAt=started))
    assert grown.written == whole.written
