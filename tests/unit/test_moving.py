"""What reaches a store while it moves to another model, and what a workspace then knows of its models."""

from __future__ import annotations

import pytest

from tests.support.builders import (
    ACME,
    MORNING,
    RecordingQueue,
    WordEmbedder,
    a_record,
    embedded,
    stores_over,
)
from tests.support.usecase_drivers import run_configure, run_write_now
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.calendar import Grain, Period
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Misconfigured
from varve.domain.record import Vector
from varve.messages.moves import MoveStore, send_move
from varve.messages.write import WriteRecords, send_records
from varve.ports.models import Embedder
from varve.usecases.embedders import MovingEmbedder, as_stored
from varve.usecases.ledger import Ledger
from varve.usecases.operate.configure import move_from
from varve.usecases.transfer.staging import Staging, sweep

WORKING = Grain.WORKING


class Letters(WordEmbedder):
    """Another model."""

    model = "letters:64"


def moving() -> MovingEmbedder:
    return MovingEmbedder(Letters(), [WordEmbedder])


class Writer:
    def __init__(self, embedder: Embedder) -> None:
        self.records, self.objects, self.queue = (
            InMemoryRecords(),
            InMemoryObjects(),
            RecordingQueue(),
        )
        self.stores = stores_over(
            self.records, InMemoryGraph(), self.objects, embedder
        )

    def write(
        self,
        content: str,
        model: str = WordEmbedder.model,
        ready: tuple[str, ...] = (),
    ) -> None:
        rows = tuple(embedded(a_record(content)))
        send_records(
            WriteRecords(ACME, WORKING, model, rows, ready=ready),
            queue=self.queue,
            objects=self.objects,
        )
        run_write_now([self.queue.sent[-1]], self.stores)

    def move(self, model: str) -> None:
        send_move(
            MoveStore(ACME, WORKING, model),
            "t",
            queue=self.queue,
            objects=self.objects,
        )
        run_write_now([self.queue.sent[-1]], self.stores)

    @property
    def count(self) -> int:
        return sum(self.records.periods(ACME, WORKING).values())


def test_what_comes_with_either_model_is_kept_before_and_after_the_move() -> (
    None
):
    writer = Writer(moving())
    writer.write("before")
    writer.write("early", Letters.model)
    assert writer.records.model(ACME, WORKING) == WordEmbedder.model
    writer.move(Letters.model)
    writer.write("late")
    assert (writer.records.model(ACME, WORKING), writer.count) == (
        Letters.model,
        3,
    )


def test_invariant_10_without_a_move_another_model_is_refused() -> None:
    writer = Writer(WordEmbedder())
    writer.write("before")
    with pytest.raises(EmbeddingMismatch):
        writer.write("other", Letters.model)
    with pytest.raises(EmbeddingMismatch):
        writer.move(Letters.model)
    with pytest.raises(EmbeddingMismatch):
        as_stored(WordEmbedder(), lambda _: raising())


def raising() -> None:
    raise EmbeddingMismatch("store", Letters.model, WordEmbedder.model)


def test_a_period_whose_summary_knows_the_records_is_not_marked() -> None:
    writer = Writer(WordEmbedder())
    writer.write("a", ready=("2026-03-02",))
    ledger = Ledger(writer.objects)
    assert ledger.pending(ACME) == frozenset()
    writer.write("b")
    assert ledger.pending(ACME) == {Period(Grain.DAILY, "2026-03-02")}


class Counting(WordEmbedder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: list[str]) -> list[Vector]:  # type: ignore[override]
        self.asked += texts
        return super().embed(texts)


def test_kept_vectors_are_not_asked_for_again_until_they_are_swept() -> None:
    objects, records = InMemoryObjects(), [a_record("a"), a_record("b")]
    first, second = Counting(), Counting()
    vectors = Staging(ACME, first, objects).vectors(records)
    again = Staging(ACME, second, objects).vectors(records[::-1])
    assert (sorted(first.asked), second.asked) == (["a", "b"], [])
    assert [v.tolist() for v in again[::-1]] == [v.tolist() for v in vectors]
    objects.put(f"payloads/{ACME}/another.json", b"{}")
    sweep(ACME, objects=objects)
    assert [info.key for info in objects.list("payloads")] == [
        f"payloads/{ACME}/another.json"
    ]


def test_the_embedders_before_are_noted_where_there_are_stores() -> None:
    objects = InMemoryObjects()

    def set_to(text: str) -> str | None:
        config = run_configure(
            "acme", "models.embedder", text, MORNING, objects=objects
        )
        return config.models.moving_from

    assert set_to("openai:a:8") is None
    objects.put("vectordb/acme/support/working/x", b"")
    assert set_to("openai:b:8") == "openai:a:8"
    assert set_to("") == "openai:a:8,openai:b:8"
    assert set_to("openai:b:8") == "openai:a:8,default"
    move_from("acme", [], objects=objects)
    assert set_to("openai:b:8") is None


def test_an_embedder_that_cannot_be_built_is_said() -> None:
    def build() -> Embedder:
        raise Misconfigured("no key")

    with pytest.raises(Misconfigured, match="no key"):
        MovingEmbedder(Letters(), [build]).of(WordEmbedder.model)
    assert MovingEmbedder(Letters(), [WordEmbedder]).of("unknown:1") is None
