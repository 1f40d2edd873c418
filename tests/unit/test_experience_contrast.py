"""What past situations make of a new one: what they taught, what corrections told, what sets them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import WordEmbedder
from varve.domain.experience.contrast import LEAST_TAUGHT, Precedent, belief, precedent_text, signals, taught
from varve.domain.experience.trial import Asked, Played, Round
from varve.domain.experience.trial_memory import ExperienceMemory
from varve.domain.experience.words import without
from varve.domain.record import Vector

EMBED = WordEmbedder().embed
POOL = ("threads wait for a connection at noon", "connection timeouts while the database idles")
RELEASE = "connection timeouts since the release of Tuesday"


def precedent(number: int, answer: str, situation: str, correction: str = "") -> Precedent:
    (vector,) = EMBED([precedent_text(situation, correction)])
    return Precedent(f"{number:02}", answer, situation, vector, correction)


def past() -> list[Precedent]:
    return [
        precedent(0, "pool", POOL[0], "all connections were taken"),
        precedent(1, "pool", POOL[1], "the pool was exhausted"),
        precedent(2, "release", RELEASE, "the release had a wrong host"),
    ]


def asked(situation: str) -> tuple[str, Vector]:
    (vector,) = EMBED([situation])
    return situation, vector


def test_what_a_correction_named_speaks_for_its_answer() -> None:
    found = signals(*asked("timeouts on the second day after a release"), past())
    assert found.told["release"] > found.told["pool"]
    assert found.apart["release"] > found.apart["pool"]
    believed = belief(*asked("timeouts on the second day after a release"), past())
    assert believed.shares["release"] > believed.shares["pool"]
    assert sum(believed.shares.values()) == pytest.approx(1.0)


def test_what_nobody_foretold_teaches_most() -> None:
    pool, like_pool, disk = np.eye(3, dtype=np.float32)
    weights = taught(
        ["pool", "pool", "release", "pool", "disk"], np.stack([pool, pool, like_pool, like_pool, disk])
    )
    repeated, _, alone, look_alike, other = weights.tolist()
    assert alone == other == pytest.approx(1.0)
    assert LEAST_TAUGHT < repeated < 0.5 < look_alike < 1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=12))
def test_what_a_precedent_taught_is_bounded_and_does_not_depend_on_order(rows: list[tuple[str, int]]) -> None:
    chance = np.random.default_rng(7).normal(size=(10, 8)).astype(np.float32)
    vectors = chance / np.linalg.norm(chance, axis=1, keepdims=True)
    answers = [answer for answer, _ in rows]
    weights = taught(answers, vectors[[place for _, place in rows]])
    assert np.all((weights >= LEAST_TAUGHT) & (weights <= 1.0))
    back = taught(answers[::-1], vectors[[place for _, place in rows[::-1]]])
    assert np.allclose(weights, back[::-1], atol=1e-6)


def test_a_single_answer_is_not_apart_from_anything() -> None:
    found = signals(*asked(POOL[1]), past()[:2])
    assert found.apart == {"pool": pytest.approx(0.0, abs=1e-6)}


@pytest.mark.parametrize(
    ("text", "label", "left"),
    [
        ("thumbnail-service pods are killed", "thumbnail-service", "pods are killed"),
        ("debugged the release twice", "debugging", "the release twice"),
        ("Mr Obi waits", "housing benefit, Mr Quist", "Obi waits"),
        ("pods", "pods", "pods"),
        ("it is as it was", None, "it is as it was"),
    ],
)
def test_words_of_a_label_are_left_out_unless_nothing_is_left(
    text: str, label: str | None, left: str
) -> None:
    assert without(text, label) == left


def test_recall_embeds_all_it_looks_at_in_one_call() -> None:
    calls: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> Sequence[Vector]:
        calls.append(texts)
        return EMBED(texts)

    memory = ExperienceMemory(embed)
    for number, (situation, answer) in enumerate([(POOL[0], "pool"), (RELEASE, "release")]):
        told = Round(type="LEARN", situation=situation, truth=answer, state="shop", correction="seen before")
        memory.learn(Played(number, told, "pool", ()))
    returned = memory.recall(Asked("timeouts since the release", "shop"))
    assert len(calls) == 1
    assert set(calls[0]) >= {POOL[0], f"{POOL[0]}\nseen before"}
    assert len(returned.shown) == 2
