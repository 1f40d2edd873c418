"""Ids that a retry finds again, and what counts as the same record."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, a_record
from varve.domain.embedding import (
    EmbeddingMismatch,
    dimensions_of,
    require_same_model,
)
from varve.domain.errors import Misconfigured
from varve.domain.record import MemoryType, fact_id, turn_id


@given(st.permutations(["m1", "m2", "m3"]))
def test_invariant_2_a_fact_has_one_id_however_its_sources_are_ordered(
    sources: list[str],
) -> None:
    assert fact_id("c-1", tuple(sources), "Dana likes tea.") == fact_id(
        "c-1", ("m1", "m2", "m3"), "dana  likes\nTEA."
    )


def test_facts_and_turns_of_different_places_or_words_have_different_ids() -> (
    None
):
    ids = {
        fact_id("c-1", ("m1",), "Dana likes tea."),
        fact_id("c-1", ("m1",), "Dana likes milk."),
        fact_id("c-1", ("m2",), "Dana likes tea."),
        fact_id("c-2", ("m1",), "Dana likes tea."),
        turn_id("c-1", "m1"),
        turn_id("c-1", "m1", 1),
        turn_id("c-1", "m2"),
        turn_id("c-2", "m1"),
    }
    assert len(ids) == 8


def test_an_id_tells_a_fact_from_a_turn() -> None:
    assert fact_id("c", ("m",), "x").startswith("fact-")
    assert turn_id("c", "m").startswith("turn-")


def test_a_repeated_delivery_has_the_same_fingerprint_whenever_it_arrives() -> (
    None
):
    record = a_record()
    assert (
        replace(record, created_at=MORNING + timedelta(days=9)).fingerprint
        == record.fingerprint
    )
    elsewhere = MORNING.astimezone(timezone(timedelta(hours=3)))
    assert (
        replace(record, event_time=elsewhere).fingerprint == record.fingerprint
    )


@pytest.mark.parametrize(
    "change",
    [{"content": "x"}, {"importance": 0.9}, {"user_id": "u-7"}, {"position": 3},
     {"event_time": MORNING + timedelta(seconds=1)},
     {"source_ids": ("m9",)}, {"memory_type": MemoryType.TURN}, {"about": None}],
)  # fmt: skip
def test_a_record_that_says_anything_else_has_another_fingerprint(
    change: dict[str, object],
) -> None:
    assert replace(a_record(), **change).fingerprint != a_record().fingerprint  # type: ignore[arg-type]


def test_invariant_10_a_mismatch_of_models_names_both() -> None:
    require_same_model("acme/support/working", "words:64", "words:64")
    with pytest.raises(
        EmbeddingMismatch,
        match=r"acme/support/working: .*'words:64'.*'letters:64'",
    ):
        require_same_model("acme/support/working", "words:64", "letters:64")
    with pytest.raises(EmbeddingMismatch, match=r"'words:64'.*'words:128'"):
        require_same_model("acme/support/working", "words:64", "words:128")


@pytest.mark.parametrize(
    ("model", "dimensions"),
    [("words:64", 64), ("openai:a/b:768", 768), (":1", 1)],
)
def test_dimensions_are_read_from_the_models_name(
    model: str, dimensions: int
) -> None:
    assert dimensions_of(model) == dimensions


@pytest.mark.parametrize(
    "model",
    ["words", "words:", "words:0", "words:-1", "words:²", "words:1.5", ""],
)
def test_a_model_without_dimensions_is_misconfigured(model: str) -> None:
    with pytest.raises(Misconfigured, match="dimensions"):
        dimensions_of(model)
