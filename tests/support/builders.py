"""Small things to test with: conversations, records, operations, and fakes of the ports that do little."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from tests.support import usecase_drivers
from varve.domain.conversation import Conversation, Message, parse_conversation
from varve.domain.errors import VarveError
from varve.domain.extraction import Batch, Extraction, Fact
from varve.domain.identity import Scope, digest
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Vector
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import parse_search_request
from varve.domain.triple import Op, TripleOperation
from varve.ports.models import Embedder
from varve.ports.queues import Delivery
from varve.ports.records import MemoryReader

MORNING = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ACME = Scope("acme", "support")
DIMENSIONS = 64


def raw_message(
    content: Any = "I moved to Lisbon.", role: str = "user", **given: Any
) -> dict[str, Any]:
    """A message as it comes in, in the contract's names."""
    return {"role": role, "content": content, **given}


def raw_conversation(*messages: Any, **given: Any) -> dict[str, Any]:
    """A conversation as it comes in; texts become messages of the user's."""
    identity = {
        "workspaceId": "acme",
        "agentId": "support",
        "conversationId": "c-1",
        "userId": "u-42",
    }
    said = [
        raw_message(m) if isinstance(m, str) else m
        for m in messages or ("I moved to Lisbon.",)
    ]
    return {**identity, "messages": said, **given}


def a_message(
    content: Any = "I moved to Lisbon.", role: str = "user", **given: Any
) -> Message:
    """A message, validated and with its id."""
    return a_conversation(raw_message(content, role, **given)).messages[0]


def a_conversation(*messages: Any, **given: Any) -> Conversation:
    """A conversation, validated; texts become messages of the user's."""
    return parse_conversation(raw_conversation(*messages, **given))


def a_record(
    content: str = "Dana lives in Lisbon.",
    *,
    at: datetime = MORNING,
    **given: Any,
) -> Record:
    """A fact about the content, of that moment's day; its id comes from content and time."""
    fields: dict[str, Any] = {
        "id": "fact-" + digest(content, at.isoformat(), length=24),
        "memory_type": MemoryType.FACT,
        "content": content,
        "period": at.date().isoformat(),
        "event_time": at,
        "created_at": at,
        "source_ids": ("m-" + digest(content, at.isoformat(), length=8),),
        "conversation_id": "c-1",
        "user_id": "u-42",
        "about": "Dana",
    }
    return Record(**{**fields, **given})


def embedded(*records: Record) -> list[EmbeddedRecord]:
    """The records with the vectors that `WordEmbedder` gives them."""
    vectors = WordEmbedder().embed([record.content for record in records])
    return [
        EmbeddedRecord(record, vector)
        for record, vector in zip(records, vectors, strict=True)
    ]


def an_operation(
    object_: str = "Lisbon",
    predicate: str = "lives_in",
    *,
    op: Op | str = Op.ADD,
    subject: str = "Dana",
    day: int = 0,
    **given: Any,
) -> TripleOperation:
    """An operation said so many days after `MORNING`, learnt as it was said."""
    at = MORNING + timedelta(days=day)
    fields: dict[str, Any] = {
        "event_time": at,
        "created_at": at,
        "conversation_id": "c-1",
        "message_ids": (f"m{day}",),
    }
    return TripleOperation(
        Op(op), subject, predicate, object_, **{**fields, **given}
    )


class UtteranceExtractor:
    """An Extractor that makes one fact of each of the user's utterances, and a triple of "I like …"."""

    name = "utterances"

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    @property
    def read(self) -> list[str]:
        """The texts of all utterances it was given to extract from."""
        return [
            utterance.text
            for batch in self.batches
            for utterance in batch.utterances
        ]

    def extract(self, batch: Batch) -> Extraction:
        self.batches.append(batch)
        said = [
            utterance
            for utterance in batch.utterances
            if utterance.role == "user"
        ]
        facts = tuple(
            Fact(
                f"{u.speaker} said: {u.text}",
                u.speaker,
                u.said_at,
                (u.message_id,),
                0.7,
            )
            for u in said
        )
        liked = [
            (u, u.text.removeprefix("I like "))
            for u in said
            if u.text.startswith("I like ")
        ]
        operations = tuple(
            TripleOperation(
                Op.ADD, u.speaker, "likes", what, u.said_at, batch.created_at, batch.conversation_id,
                (u.message_id,), u.user_id,
            )
            for u, what in liked
        )  # fmt: skip
        return Extraction(facts, operations)


class Failing:
    """Any port of one verb, failing at the given calls (from 1) and otherwise the one it wraps."""

    def __init__(self, inner: Any, error: Exception, *calls: int) -> None:
        self._inner, self._error, self._failing = inner, error, calls
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        return self._counted(value) if callable(value) else value

    def _counted(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls in self._failing:
                raise self._error
            return verb(*args, **kwargs)

        return call


class WordEmbedder:
    """An Embedder that hashes words into 64 dimensions: texts that share words are near each other."""

    model = f"words:{DIMENSIONS}"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(DIMENSIONS, np.float32)
        for word in text.casefold().split() or [""]:
            vector[
                hashlib.sha256(word.encode(errors="replace")).digest()[0]
                % DIMENSIONS
            ] += 1
        return vector / np.float32(np.linalg.norm(vector))


class RecordingQueue:
    """A Queue that keeps what it is sent, in order, as deliveries."""

    def __init__(self) -> None:
        self.sent: list[Delivery] = []
        self.deduplication_ids: list[str] = []

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self.sent.append(Delivery(str(len(self.sent)), body, group))
        self.deduplication_ids.append(deduplication_id)

    @property
    def groups(self) -> list[str]:
        return [delivery.group for delivery in self.sent]


def stores_over(
    records: Any, graph: Any, objects: Any, embedder: Embedder | None = None
) -> Any:
    """What the writer needs, over these ports; they are embedded by `WordEmbedder`."""
    embedder = embedder or WordEmbedder()
    return usecase_drivers.stores_over(records, graph, objects, embedder)


def ask(
    reader: MemoryReader,
    scope: Scope,
    zone: ZoneInfo,
    now: datetime,
    arguments: dict[str, Any],
    embedder: Embedder | None = None,
) -> SearchResponse:
    """The answer of `search_memory` to the arguments as a model writes them."""
    request = parse_search_request(arguments)
    embedder = embedder or WordEmbedder()
    return usecase_drivers.run_search(
        scope, request, now, zone, reader=reader, embedder=embedder
    )


def attempt(verb: Callable[..., Any], *args: Any) -> Any:
    """What the verb returns, or the error of ours that it raises; any other error passes through."""
    try:
        return verb(*args)
    except VarveError as error:
        return error
