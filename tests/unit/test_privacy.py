"""What a workspace's privacy asks for is done before anything is stored, asked of a model, or searched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.builders import (
    ACME,
    MORNING,
    RecordingQueue,
    a_conversation,
    an_operation,
    raw_conversation,
    raw_message,
)
from tests.support.drivers import open_driver
from tests.support.labelled import secret
from varve.adapters.detectors.personal import PersonalDetector
from varve.adapters.detectors.secrets import SecretDetector
from varve.adapters.in_memory import InMemoryDeadLetters, InMemoryObjects
from varve.api.memory import Memory
from varve.domain.calendar import Grain, Period
from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.personal import Kind, Mode
from varve.domain.record import MemoryType
from varve.domain.summary import Source, Summary, SummaryTask
from varve.messages.ingest import IngestMessage, send_ingest
from varve.prompts.summarize import SummaryReply
from varve.usecases.privacy import (
    Privacy,
    PrivateExtractor,
    PrivateLLM,
    PrivateSummarizer,
)
from varve.usecases.summaries.condensing import ModelSummarizer

EMAIL, PHONE = "dana@example.org", "+1 202-555-0123"
KEY = {"ACME_PSEUDONYM_KEY": "sixteen characters and more"}


def privacy(mode: Mode = Mode.REDACT, *kinds: Kind) -> Privacy:
    modes = dict.fromkeys(
        kinds or [kind for kind in Kind if kind is not Kind.SECRET], mode
    )
    detectors = [SecretDetector(), PersonalDetector(("US",))]
    return Privacy(modes, detectors, lambda kind, _: f"[{kind}:bcdfghjklmnp]")


def filtered_of(conversation: Conversation) -> Conversation:
    return privacy().filter_conversation(conversation).conversation


SECRETS_ALONE = Privacy({}, [SecretDetector()])


def memory_of(store: Path, mode: str, **environment: str) -> Memory:
    memory = Memory.open(
        store,
        workspace="acme",
        agent="support",
        now=MORNING,
        environment=environment,
    )
    if mode == "pseudonym":
        memory.configure("privacy.key.environment", "ACME_PSEUDONYM_KEY")
    if mode != "off":
        memory.configure("privacy.mode", mode)
    return memory


def everything_under(store: Path) -> bytes:
    return b"\n".join(
        path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file()
    )


@pytest.mark.parametrize("mode", ["redact", "pseudonym"])
def test_no_byte_of_personal_data_is_under_the_root(
    tmp_path: Path, mode: str
) -> None:
    memory = memory_of(tmp_path, mode, **KEY)
    told = raw_message(
        f"Write to {EMAIL} or call {PHONE}.", name="Dana", meta={"mail": EMAIL}
    )
    memory.ingest(raw_conversation(told))
    memory.summarize(now=MORNING.replace(day=20))
    stored = everything_under(tmp_path)
    assert b"Write to" in stored
    for byte_string in (EMAIL.encode(), PHONE.encode(), b"12025550123"):
        assert byte_string not in stored


@pytest.mark.parametrize("mode", ["off", "redact", "pseudonym"])
def test_secrets_are_redacted_in_every_mode(tmp_path: Path, mode: str) -> None:
    memory = memory_of(tmp_path, mode, **KEY)
    keys = [secret("openai"), secret("github"), secret("pem")]
    memory.ingest(raw_conversation("Look:\n```\n" + "\n".join(keys) + "\n```"))
    stored = everything_under(tmp_path)
    assert [
        key
        for key in keys
        if key.splitlines()[-2 if "\n" in key else 0].encode() in stored
    ] == []
    assert b"[secret]" in stored


def test_off_keeps_personal_data_as_it_was_said(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, "off")
    memory.ingest(raw_conversation(f"Write to {EMAIL}."))
    assert EMAIL in memory.search("where to write").results[0].content


def test_a_search_for_the_same_person_finds_what_was_said_under_the_pseudonym(
    tmp_path: Path,
) -> None:
    memory = memory_of(tmp_path, "pseudonym", **KEY)
    memory.ingest(
        raw_conversation(
            f"The plumber is at {EMAIL}.", "The roofer is at max@example.org."
        )
    )
    best = memory.search(f"who is {EMAIL.upper()}").results[0]
    assert "plumber" in best.content
    assert best.why.keyword > 0


def test_a_blocked_conversation_is_refused_by_its_field_and_kind_and_nothing_is_stored(
    tmp_path: Path,
) -> None:
    memory = memory_of(tmp_path, "block")
    before = everything_under(tmp_path)
    harmful = raw_conversation("hello", f"mail {EMAIL}", conversationId="c-2")
    with pytest.raises(Rejected) as refused:
        memory.ingest([raw_conversation("harmless"), harmful])
    assert refused.value.field == "messages[1].content"
    assert "email" in refused.value.reason
    assert EMAIL not in str(refused.value)
    assert everything_under(tmp_path) == before


def test_pseudonyms_without_their_key_are_the_operators_business(
    tmp_path: Path,
) -> None:
    memory = memory_of(tmp_path, "pseudonym")
    for verb in (
        lambda: memory.ingest(raw_conversation("hello")),
        lambda: memory.search("hello"),
    ):
        with pytest.raises(Misconfigured, match="ACME_PSEUDONYM_KEY"):
            verb()


def test_the_pseudonym_mode_needs_a_key_reference_first(
    tmp_path: Path,
) -> None:
    memory = memory_of(tmp_path, "off")
    with pytest.raises(Rejected, match=r"privacy\.key"):
        memory.configure("privacy.mode", "pseudonym")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("privacy.mode", "strict"),
        ("privacy.regions", "Spain"),
        ("privacy.regions", "ES,UK"),
        ("privacy.key.environment", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_a_setting_that_is_none_is_refused_by_its_name(
    tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(Rejected) as refused:
        memory_of(tmp_path, "off").configure(name, value)
    assert refused.value.field == name


def test_a_kind_may_have_a_mode_of_its_own(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, "redact")
    memory.configure("privacy.email", "off")
    memory.ingest(raw_conversation(f"{EMAIL} or {PHONE}"))
    content = memory.search(memory_types=["turn"]).results[0].content
    assert EMAIL in content
    assert "[phone]" in content


def test_the_same_conversation_again_adds_nothing(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, "pseudonym", **KEY)
    said = raw_conversation(f"Write to {EMAIL}.", f"Or call {PHONE}.")
    memory.ingest(said)
    before = everything_under(tmp_path)
    again = memory.ingest(said).stored
    assert again is not None
    assert (again.messages, again.ignored) == (0, 0)
    assert everything_under(tmp_path) == before


def test_a_message_that_did_not_pass_ingest_is_filtered_before_it_is_stored(
    tmp_path: Path,
) -> None:
    memory_of(tmp_path, "redact")
    queue, letters = RecordingQueue(), InMemoryDeadLetters()
    function = open_driver(
        store=tmp_path, now=MORNING, ingest_queue=queue, dead_letters=letters
    )
    unfiltered = IngestMessage(
        a_conversation(f"mail {EMAIL}"),
        tuple(a_conversation(EMAIL).messages),
        MORNING,
    )
    send_ingest(unfiltered, queue=queue, objects=InMemoryObjects())
    assert (function.extract(queue.sent), letters.letters) == ([], [])
    stored = everything_under(tmp_path)
    assert b"mail [email]" in stored
    assert EMAIL.encode() not in stored


class TestConversation:
    def test_ids_names_and_times_stay(self) -> None:
        told = raw_message(
            f"at {EMAIL}",
            id="m1",
            name=EMAIL,
            timestamp="2026-03-02T09:15:00Z",
        )
        filtered = filtered_of(a_conversation(told, userId=EMAIL))
        (message,) = filtered.messages
        assert (message.id, message.name, filtered.user_id) == (
            "m1",
            EMAIL,
            EMAIL,
        )
        assert message.text == "at [email]"

    def test_an_id_made_from_words_is_made_from_those_that_are_left(
        self,
    ) -> None:
        with_number, plain = a_conversation(f"call {PHONE}", "hello").messages
        given = a_conversation(f"call {PHONE}", "hello")
        call, hello = filtered_of(given).messages
        assert call.id != with_number.id
        assert call.id == a_conversation("call [phone]").messages[0].id
        assert hello.id == plain.id

    def test_messages_that_say_the_same_afterwards_keep_ids_of_their_own(
        self,
    ) -> None:
        alike = a_conversation(
            "at a@example.org", "at b@example.org", "at [email]"
        )
        filtered = filtered_of(alike)
        assert len({message.id for message in filtered.messages}) == 3

    def test_filtering_again_changes_nothing(self) -> None:
        once = filtered_of(a_conversation(f"call {PHONE}", f"or {EMAIL}"))
        assert filtered_of(once) == once

    def test_parts_tool_calls_and_whatever_else_came_along_are_filtered(
        self,
    ) -> None:
        parts = [
            {"type": "text", "text": EMAIL},
            {"type": "image_url", "image_url": {"url": f"x?{EMAIL}"}},
        ]
        calls = [
            {
                "id": "call_1",
                "function": {
                    "name": "send",
                    "arguments": f'{{"to": "{EMAIL}"}}',
                },
            }
        ]
        raw = raw_conversation(
            raw_message(parts),
            raw_message("", "assistant", tool_calls=calls),
            topic=EMAIL,
        )
        filtered = filtered_of(parse_conversation(raw))
        assert EMAIL not in str(filtered.as_json())
        assert filtered.messages[1].extra["tool_calls"][0]["id"] == "call_1"

    def test_what_holds_nothing_is_the_very_same(self) -> None:
        conversation = a_conversation("I moved to Lisbon.")
        assert filtered_of(conversation) is conversation

    @pytest.mark.parametrize(
        "given",
        [{"topic": EMAIL}, {"messages": [raw_message("hi", note=EMAIL)]}],
    )
    def test_blocking_looks_everywhere(self, given: dict[str, Any]) -> None:
        with pytest.raises(Rejected, match="email"):
            privacy(Mode.BLOCK).filter_conversation(a_conversation(**given))


BATCH = Batch(
    a_conversation().scope,
    "c-1",
    (Utterance("m1", "user", EMAIL, "hello", MORNING, "u-42"),),
    (),
    zone=ZoneInfo("UTC"),
    created_at=MORNING,
)


class Inventing:
    """An extractor and a summarizer that write what nobody said."""

    name = "inventing"

    def __init__(self) -> None:
        self.given: list[SummaryTask] = []

    def extract(self, batch: Batch) -> Extraction:
        mails = ("x@example.org", "y@example.org")
        facts = tuple(
            Fact(f"Dana's mail is {mail}.", EMAIL, MORNING, ("m1",))
            for mail in mails
        )
        operation = an_operation(
            "z@example.org", "email", subject=EMAIL, replaces="old@example.org"
        )
        return Extraction(facts, (operation,))

    def summarize(self, task: SummaryTask) -> Summary:
        self.given.append(task)
        return Summary(
            f"Call {PHONE}.",
            ("Dana", EMAIL),
            (f"mail {EMAIL}",),
            (f"Is it {EMAIL}?",),
        )


def test_what_a_model_writes_into_facts_and_triples_is_filtered_and_speakers_keep_their_names() -> (
    None
):
    extraction = PrivateExtractor(Inventing(), privacy()).extract(BATCH)
    (fact,) = extraction.facts
    assert (fact.content, fact.about) == ("Dana's mail is [email].", EMAIL)
    (operation,) = extraction.operations
    assert (operation.subject, operation.object, operation.replaces) == (
        EMAIL,
        "[email]",
        "[email]",
    )


def test_what_a_model_writes_into_summaries_is_filtered() -> None:
    summary = PrivateSummarizer(Inventing(), privacy()).summarize(a_task())
    assert summary == Summary(
        "Call [phone].",
        ("Dana", "[email]"),
        ("mail [email]",),
        ("Is it [email]?",),
    )


def test_a_model_is_not_shown_what_was_stored_before_there_was_a_filter() -> (
    None
):
    model = Inventing()
    PrivateSummarizer(model, privacy()).summarize(
        a_task(f"Dana: mail {EMAIL}")
    )
    assert [source.text for source in model.given[0].sources] == [
        "Dana: mail [email]"
    ]


def test_what_a_model_invents_where_it_should_be_blocked_is_redacted() -> None:
    extraction = PrivateExtractor(Inventing(), privacy(Mode.BLOCK)).extract(
        BATCH
    )
    assert extraction.facts[0].content == "Dana's mail is [email]."


def test_a_checkpoint_made_without_the_filter_is_not_taken_with_it() -> None:
    filters = (SECRETS_ALONE, privacy(), privacy(Mode.PSEUDONYM))
    names = {PrivateExtractor(Inventing(), each).name for each in filters}
    assert len(names) == 3
    assert PrivateExtractor(Inventing(), SECRETS_ALONE).name == "inventing"


def a_task(text: str = "Dana: hello") -> SummaryTask:
    source = Source("turn-1", MemoryType.TURN, "f", text, MORNING, 0.5)
    return SummaryTask(
        ACME,
        Period(Grain.DAILY, "2026-03-02"),
        ZoneInfo("UTC"),
        (source,),
        400,
    )


class Talking:
    """A chat model whose every answer tells an e-mail address."""

    model = "talking"

    def complete(
        self, system: str, user: str, reply: type[SummaryReply]
    ) -> SummaryReply:
        return reply(
            summary=f"Mail {EMAIL}.",
            people=[EMAIL],
            topics=[],
            open_questions=[],
        )


def test_what_is_kept_of_the_parts_of_a_large_period_is_filtered() -> None:
    objects = InMemoryObjects()
    model: Any = PrivateLLM(Talking(), privacy())
    task = a_task("Dana: hello")
    many = tuple(
        replace(
            task.sources[0], id=f"turn-{n}", text=f"Dana: {n} " + "word " * 800
        )
        for n in range(40)
    )
    ModelSummarizer(model, objects).summarize(replace(task, sources=many))
    kept = [objects.get(info.key) for info in objects.list("payloads")]
    assert kept
    assert all(
        each is not None and EMAIL.encode() not in each.data for each in kept
    )
    assert (
        PrivateLLM(Talking(), privacy()).model
        != PrivateLLM(Talking(), SECRETS_ALONE).model
    )
