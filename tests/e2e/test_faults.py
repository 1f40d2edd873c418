"""Invariants 1 to 5 under faults: whatever breaks on the way, memory is what a plain one would hold.

A failing seed is played again with `make faults SEEDS=7`; `make faults` plays a thousand. Runs in which
somebody is forgotten, and those of stale listings alone, have seeds of their own:
`VARVE_FORGETTING_SEEDS=0-23`, `VARVE_STALE_SEEDS=0-15`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.deployment import Deployment
from tests.support.drivers import Driver, open_driver
from tests.support.install import Image
from tests.support.moto_template import Template
from tests.support.nightly import choose
from tests.support.ordeal import MOMENTS, Ordeal, ordeal

pytestmark = pytest.mark.e2e


def seeds(variable: str, default: str) -> list[int]:
    """What the variable says: one seed, or the first and the last of a range."""
    first, _, last = os.environ.get(variable, default).partition("-")
    return list(range(int(first), int(last or first) + 1))


@pytest.fixture(scope="module")
def tried(template: Template, image: Image) -> Iterator[Ordeal]:
    with pytest.MonkeyPatch.context() as patched:

        def outside(deployment: Deployment) -> Driver:
            """The driver of a reader that no proxy stands before."""
            patched.setenv(
                "AWS_ENDPOINT_URL", deployment.stack.clients.s3_endpoint
            )
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                patched.setenv(name, "testing")
            patched.setenv("AWS_REGION", "us-east-1")
            store = deployment.stack.functions["WriteFunction"].environment[
                "VARVE_STORE"
            ]
            return open_driver(store=store)

        given = os.environ.get("VARVE_TEST_S3")
        with ordeal(template, image, outside, given) as running:
            yield running
            print(f"\n{figures(running)}")


def figures(tried: Ordeal) -> str:
    """What all runs together went through, as docs/reliability.md has it."""
    kinds = Counter(fate for _, _, fate in tried.faults)
    lines = [
        f"runs {tried.runs}, messages {tried.messages}, kills {tried.kills}, letters {tried.letters}"
    ]
    lines += [f"erasures that named files of a failed write: {tried.unproved}"]
    lines += [
        f"forgotten {moment}: {tried.moments[moment]}" for moment in MOMENTS
    ]
    return "\n".join(
        [
            *lines,
            *(f"{kind}: {count}" for kind, count in sorted(kinds.items())),
        ]
    )


def test_without_faults_memory_is_what_a_plain_one_holds(
    tried: Ordeal,
) -> None:
    wrong = tried.run(-1, rate=0.0)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "seed", seeds("VARVE_FAULT_SEEDS", choose(by_day="0-2", by_night="0-4"))
)
def test_invariants_1_to_5_nothing_is_lost_or_doubled_under_faults(
    tried: Ordeal, seed: int
) -> None:
    wrong = tried.run(seed)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "seed", seeds("VARVE_STALE_SEEDS", choose(by_day="0", by_night="0-1"))
)
def test_invariants_1_to_5_hold_where_two_listings_of_five_are_stale(
    tried: Ordeal, seed: int
) -> None:
    wrong = tried.run(seed, rate=0.4, only="stale")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", seeds("VARVE_FORGETTING_SEEDS", "5"))
def test_invariant_8_nothing_of_a_forgotten_user_comes_back_under_faults(
    tried: Ordeal, seed: int
) -> None:
    wrong = tried.forget(seed)
    assert not wrong, "\n".join(wrong)
