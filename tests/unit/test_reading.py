"""A model's reply becomes facts and operations, once per batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.adapters.in_memory import InMemoryObjects
from varve.domain.errors import Retryable
from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.identity import Scope
from varve.domain.predicates import name_predicate
from varve.domain.triple import Op
from varve.ports.models import Reply
from varve.usecases.ingest.reading import (
    CheckpointedExtractor,
    ModelExtractor,
    parse_event_time,
)

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = NINE + timedelta(days=3)
LISBON, BERLIN = ZoneInfo("Europe/Lisbon"), ZoneInfo("Europe/Berlin")

DANA = Utterance("m1", "user", "Dana", "I moved to Lisbon.", NINE, "u-42")
REPLY = Utterance(
    "m2",
    "assistant",
    "Assistant",
    "How nice!",
    NINE + timedelta(minutes=1),
    None,
)
MARCO = Utterance(
    "m3", "user", "Marco", "So did I.", NINE + timedelta(minutes=2), "u-7"
)
BEFORE = Utterance(
    "m0", "user", "Dana", "Hello!", NINE - timedelta(minutes=1), "u-42"
)
BATCH = Batch(
    Scope("acme", "support"),
    "c-1",
    (DANA, REPLY, MARCO),
    (BEFORE,),
    BERLIN,
    LATER,
)
ALONE = replace(BATCH, utterances=(DANA,))

FACT = {
    "content": "Dana moved to Lisbon.",
    "about": "Dana",
    "event_time": None,
    "importance": 0.8,
    "confidence": 0.9,
    "message_ids": ["m1"],
}
TRIPLE = {
    "op": "ADD",
    "subject": "Dana",
    "predicate": "lives_in",
    "object": "Lisbon",
    "event_time": None,
    "confidence": 0.9,
    "message_ids": ["m1"],
    "replaces": None,
}


class ScriptedLLM:
    """A model that gives its replies in turn, the last one for ever."""

    model = "scripted"

    def __init__(self, *replies: dict[str, Any]) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[str, str]] = []

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        self.asked.append((system, user))
        said = (
            self._replies.pop(0)
            if len(self._replies) > 1
            else self._replies[0]
        )
        return reply.model_validate({"facts": [], "triples": []} | said)


def read(*facts: dict[str, Any], batch: Batch = BATCH) -> tuple[Fact, ...]:
    said = [FACT | fact for fact in facts]
    return ModelExtractor(ScriptedLLM({"facts": said})).extract(batch).facts


def operate(*triples: dict[str, Any], batch: Batch = BATCH) -> Extraction:
    said = [TRIPLE | triple for triple in triples]
    return ModelExtractor(ScriptedLLM({"triples": said})).extract(batch)


class TestFacts:
    def test_a_fact_keeps_what_the_model_said(self) -> None:
        (fact,) = read({"event_time": "2026-02-27T10:00:00Z"})
        at = datetime(2026, 2, 27, 10, tzinfo=UTC)
        assert fact == Fact(
            "Dana moved to Lisbon.", "Dana", at, ("m1",), 0.8, 0.9
        )

    def test_a_day_begins_at_local_midnight(self) -> None:
        assert read({"event_time": "2026-02-27"})[0].event_time == datetime(
            2026, 2, 26, 23, tzinfo=UTC
        )

    def test_a_fact_without_a_time_happened_when_it_was_last_said(
        self,
    ) -> None:
        assert (
            read({"message_ids": ["m3", "m1"]})[0].event_time == MARCO.said_at
        )

    def test_a_time_that_is_none_counts_as_untold(self) -> None:
        assert (
            read({"event_time": "last Friday"})[0].event_time == DANA.said_at
        )

    def test_message_ids_come_in_the_order_they_were_said_without_strangers(
        self,
    ) -> None:
        assert read({"message_ids": ["m3", "m9", "m0", "m1", "m3"]})[
            0
        ].message_ids == (
            "m1",
            "m3",
        )

    def test_a_fact_of_no_message_is_dropped_where_it_could_be_of_several(
        self,
    ) -> None:
        assert read({"message_ids": []}, {"message_ids": ["m9"]}) == ()

    def test_a_fact_of_no_message_is_of_the_only_one_there_is(self) -> None:
        first, second = read(
            {"message_ids": []},
            {"content": "x", "message_ids": ["m9"]},
            batch=ALONE,
        )
        assert first.message_ids == second.message_ids == ("m1",)

    def test_a_fact_that_only_the_context_tells_is_dropped(self) -> None:
        assert (
            read({"message_ids": ["m0"]})
            == read({"message_ids": ["m0"]}, batch=ALONE)
            == ()
        )

    def test_a_fact_without_words_is_dropped(self) -> None:
        assert read({"content": " \n"}) == ()

    def test_a_fact_told_twice_in_one_reply_counts_once(self) -> None:
        told = read(
            {},
            {"content": "Tea."},
            {"content": "dana  moved to Lisbon.", "importance": 0.1},
        )
        assert [fact.content for fact in told] == [
            "Dana moved to Lisbon.",
            "Tea.",
        ]

    def test_a_fact_about_nobody_is_about_its_speaker(self) -> None:
        assert read({"about": " "})[0].about == "Dana"

    @pytest.mark.parametrize(
        ("given", "kept"), [(7, 1.0), (-1, 0.0), (0.3, 0.3)]
    )
    def test_weights_stay_between_nothing_and_one(
        self, given: float, kept: float
    ) -> None:
        (fact,) = read({"importance": given, "confidence": given})
        assert fact.importance == fact.confidence == kept


class TestOperations:
    def test_an_operation_says_who_said_it_and_when_we_learnt_it(self) -> None:
        (operation,) = operate({}).operations
        assert operation.op is Op.ADD
        assert (operation.subject, operation.predicate, operation.object) == (
            "Dana",
            "lives_in",
            "Lisbon",
        )
        assert (operation.user_id, operation.conversation_id) == (
            "u-42",
            "c-1",
        )
        assert (operation.event_time, operation.created_at) == (
            DANA.said_at,
            LATER,
        )

    def test_an_operation_belongs_to_the_user_among_those_cited(self) -> None:
        assert (
            operate({"message_ids": ["m2", "m3"]}).operations[0].user_id
            == "u-7"
        )
        assert operate({"message_ids": ["m2"]}).operations[0].user_id is None

    def test_an_answer_made_for_a_user_belongs_to_that_user(self) -> None:
        for_dana = replace(
            BATCH, utterances=(DANA, replace(REPLY, user_id="u-42"))
        )
        assert (
            operate({"message_ids": ["m2"]}, batch=for_dana)
            .operations[0]
            .user_id
            == "u-42"
        )

    def test_an_update_names_what_it_replaces(self) -> None:
        (operation,) = operate(
            {"op": "UPDATE", "replaces": " Porto "}
        ).operations
        assert (operation.op, operation.replaces) == (Op.UPDATE, "Porto")

    @pytest.mark.parametrize(
        "triple", [{"replaces": "Porto"}, {"op": "UPDATE", "replaces": " "}]
    )
    def test_nothing_else_replaces(self, triple: dict[str, Any]) -> None:
        assert operate(triple).operations[0].replaces is None

    def test_a_delete_may_end_all_values(self) -> None:
        (operation,) = operate({"op": "DELETE", "object": ""}).operations
        assert (operation.op, operation.object) == (Op.DELETE, "")

    @pytest.mark.parametrize(
        "triple",
        [
            {"subject": " "},
            {"predicate": "?!"},
            {"object": ""},
            {"op": "UPDATE", "object": " "},
        ],
    )
    def test_half_a_triple_is_none(self, triple: dict[str, Any]) -> None:
        assert operate(triple).operations == ()

    @pytest.mark.parametrize(
        "name", ["livesIn", "Lives in", "lives-in", " lives_in ", "LIVES__IN"]
    )
    def test_a_predicate_has_one_spelling(self, name: str) -> None:
        assert name_predicate(name) == "lives_in"


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "instant"),
        [
            ("2026-07-01", datetime(2026, 6, 30, 23, tzinfo=UTC)),
            ("2026-01-05T10:30", datetime(2026, 1, 5, 10, 30, tzinfo=UTC)),
            ("2026-07-05 10:30", datetime(2026, 7, 5, 9, 30, tzinfo=UTC)),
            (
                "2026-07-05T10:30:00+05:00",
                datetime(2026, 7, 5, 5, 30, tzinfo=UTC),
            ),
            ("2026-07-05T10:30:00Z", datetime(2026, 7, 5, 10, 30, tzinfo=UTC)),
            ("2026-07", datetime(2026, 6, 30, 23, tzinfo=UTC)),
            (" 2026 ", datetime(2026, 1, 1, tzinfo=UTC)),
        ],
    )
    def test_a_time_without_an_offset_is_local(
        self, text: str, instant: datetime
    ) -> None:
        assert parse_event_time(text, LISBON) == instant

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "soon",
            "2026-02-30",
            "0001-01-01T00:00+14:00",
            "9999-12-31T23:59-14",
        ],
    )
    def test_what_is_no_time_is_none(self, text: str) -> None:
        assert parse_event_time(text, LISBON) is None

    @given(st.text())
    def test_no_text_is_an_error(self, text: str) -> None:
        parsed = parse_event_time(text, LISBON)
        assert parsed is None or parsed.tzinfo is UTC


class TestAsking:
    def test_the_name_tells_the_model_and_its_words(self) -> None:
        llm = ScriptedLLM({})
        assert ModelExtractor(llm).name.startswith("scripted/")
        assert (
            ModelExtractor(llm).name
            != ModelExtractor(llm, instructions="Only allergies.").name
        )

    def test_the_model_sees_the_workspaces_words_and_the_batch(self) -> None:
        llm = ScriptedLLM({})
        ModelExtractor(llm, instructions="Only allergies.").extract(BATCH)
        ((system, user),) = llm.asked
        assert system.startswith("Only allergies.")
        assert "I moved to Lisbon." in user

    @pytest.mark.parametrize("utterances", [(), (replace(DANA, text=" "),)])
    def test_silence_costs_nothing(
        self, utterances: tuple[Utterance, ...]
    ) -> None:
        llm = ScriptedLLM({})
        assert (
            ModelExtractor(llm).extract(replace(BATCH, utterances=utterances))
            == Extraction()
        )
        assert llm.asked == []


def checkpointed(
    objects: InMemoryObjects, llm: ScriptedLLM
) -> CheckpointedExtractor:
    return CheckpointedExtractor(ModelExtractor(llm), objects)


def moody() -> ScriptedLLM:
    """A model that words the same thing differently each time."""
    return ScriptedLLM(
        {"facts": [FACT], "triples": [TRIPLE]},
        {"facts": [FACT | {"content": "Lisbon is where Dana lives."}]},
    )


class TestCheckpoints:
    def test_a_redelivered_batch_is_read_once(self) -> None:
        objects, llm = InMemoryObjects(), moody()
        first = checkpointed(objects, llm).extract(BATCH)
        again = checkpointed(objects, llm).extract(
            replace(BATCH, created_at=LATER + timedelta(hours=1))
        )
        assert again == first
        assert again.operations[0].created_at == LATER
        assert len(llm.asked) == 1

    def test_a_checkpoint_lies_among_the_agents_payloads_and_tells_whose_it_is(
        self,
    ) -> None:
        objects = InMemoryObjects()
        checkpointed(objects, moody()).extract(BATCH)
        (info,) = objects.list("payloads/acme/support/extractions")
        stored = objects.get(info.key)
        assert stored is not None
        value = json.loads(stored.data)
        assert (value["conversationId"], value["userIds"]) == (
            "c-1",
            ["u-42", "u-7"],
        )
        assert value["messageIds"] == ["m1", "m2", "m3"]

    def test_what_came_before_does_not_make_it_another_batch(self) -> None:
        objects, llm = InMemoryObjects(), moody()
        checkpointed(objects, llm).extract(BATCH)
        checkpointed(objects, llm).extract(replace(BATCH, context=()))
        assert len(llm.asked) == 1

    @pytest.mark.parametrize(
        "other",
        [
            replace(BATCH, scope=Scope("acme", "sales")),
            replace(BATCH, conversation_id="c-2"),
            replace(BATCH, utterances=(DANA, REPLY)),
            replace(
                BATCH,
                utterances=(replace(DANA, text="I moved."), REPLY, MARCO),
            ),
            replace(
                BATCH, utterances=(replace(DANA, said_at=LATER), REPLY, MARCO)
            ),
        ],
        ids=["agent", "conversation", "messages", "words", "time"],
    )
    def test_another_batch_is_read_anew(self, other: Batch) -> None:
        objects, llm = InMemoryObjects(), moody()
        checkpointed(objects, llm).extract(BATCH)
        checkpointed(objects, llm).extract(other)
        assert len(llm.asked) == 2

    def test_another_prompt_reads_anew(self) -> None:
        objects, llm = InMemoryObjects(), moody()
        checkpointed(objects, llm).extract(BATCH)
        CheckpointedExtractor(
            ModelExtractor(llm, instructions="Only cities."), objects
        ).extract(BATCH)
        assert len(llm.asked) == 2

    def test_of_two_at_once_both_use_what_was_kept_first(self) -> None:
        objects = InMemoryObjects()
        slow = Interrupted({"facts": [FACT | {"content": "Too late."}]})
        quick = checkpointed(objects, moody())
        winners: list[Extraction] = []
        slow.meanwhile = lambda: winners.append(quick.extract(BATCH))
        assert (
            CheckpointedExtractor(ModelExtractor(slow), objects).extract(BATCH)
            == winners[0]
        )

    @pytest.mark.parametrize(
        "data", [b"", b"{", b"[]", b"7", b"{}", b"\xff", b'{"facts": 1, "operations": []}',
                 b'{"facts": [{"content": "x"}], "operations": []}',
                 b'{"facts": [], "operations": [{"op": "MERGE"}]}'],
    )  # fmt: skip
    def test_a_checkpoint_that_cannot_be_read_is_replaced(
        self, data: bytes
    ) -> None:
        objects, llm = InMemoryObjects(), moody()
        checkpointed(objects, moody()).extract(BATCH)
        (info,) = objects.list("payloads")
        objects.put(info.key, data)
        first = checkpointed(objects, llm).extract(BATCH)
        assert checkpointed(objects, llm).extract(BATCH) == first
        assert len(llm.asked) == 1

    def test_a_checkpoint_that_vanishes_is_asked_for_again_later(self) -> None:
        objects = InMemoryObjects()
        slow = Interrupted({})
        slow.meanwhile = lambda: objects.put(slow.key(objects), b"{")
        checkpointed(objects, ScriptedLLM({})).extract(BATCH)
        objects.put(slow.key(objects), b"[")
        with pytest.raises(Retryable):
            CheckpointedExtractor(ModelExtractor(slow), objects).extract(BATCH)

    @given(
        st.text(min_size=1).filter(lambda text: bool(text.strip())),
        st.floats(0, 1),
        st.datetimes(timezones=st.just(UTC)).filter(
            lambda at: 1 < at.year < 9999
        ),
    )
    def test_what_is_kept_is_what_was_read(
        self, content: str, weight: float, at: datetime
    ) -> None:
        said = {
            "content": content,
            "importance": weight,
            "event_time": at.isoformat(),
        }
        llm = ScriptedLLM(
            {"facts": [FACT | said], "triples": [TRIPLE | {"object": content}]}
        )
        objects = InMemoryObjects()
        first = checkpointed(objects, llm).extract(BATCH)
        assert checkpointed(objects, llm).extract(BATCH) == first
        assert len(llm.asked) == 1


class Interrupted(ScriptedLLM):
    """A model during whose answer something else happens."""

    meanwhile: Callable[[], object]

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        self.meanwhile()
        return super().complete(system, user, reply)

    def key(self, objects: InMemoryObjects) -> str:
        (info,) = objects.list("payloads")
        return info.key
