"""Erasure at every step of a memory's life, with kills: it ends as if the user was never there.

`VARVE_ERASURE_SEEDS=0-999` plays a thousand seeds and prints what they went through.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.erasure_ordeal import Tally, count_steps, play
from tests.unit.test_forget import Beside
from varve.domain.rules import RuleExtractor

SEEDS = os.environ.get("VARVE_ERASURE_SEEDS", "0-9")


def seeds() -> list[int]:
    first, _, last = SEEDS.partition("-")
    return list(range(int(first), int(last or first) + 1))


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    tried = Tally()
    yield tried
    print(f"\n{tried}")


@pytest.mark.parametrize("seed", seeds())
def test_invariant_8_erasure_at_every_step_with_kills_ends_as_without_the_user(
    tally: Tally, seed: int
) -> None:
    extractor = RuleExtractor if seed % 3 == 0 else Beside
    for step in range(count_steps(seed)):
        wrong = play(seed, step, extractor, tally)
        assert not wrong, f"step {step}: {wrong}"
