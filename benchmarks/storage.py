"""Bytes one agent takes over three simulated years, per plan: `python benchmarks/storage.py [--quick]`.

Real writes through Application into a directory, with an injected clock, the offline models and the
embedded embedder: every day one conversation of six messages at noon, every night at 05:10 the five
planning passes' work and cleanup. Sampled weekly. Writes docs/storage-per-plan.png and .svg.
"""

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from traffic import SimulatedClock, conversation, machine, markdown

from tests.support.drivers import Driver, open_driver
from varve.adapters.lance.upkeep import Upkeep
from varve.domain.calendar import SUMMARY_GRAINS
from varve.domain.conversation import parse_conversation
from varve.domain.identity import Scope
from varve.domain.retention import Plan

FIRST = datetime(2023, 1, 2, tzinfo=UTC)
YEAR = 365
KEEP_SECONDS = 0.001
"""How long old versions stay at a compaction. LanceDB ages them by the machine's clock, by which the
simulated days are less than the policy's 90 seconds apart; by their own clock they are all older."""
AGENT = Scope("acme", "agent")
DOCS = Path(__file__).parents[1] / "docs"
PARTS = {
    "rows": "vectordb/*/data/*",
    "index": "vectordb/*/_indices/*",
    "versions": "vectordb/*",
    "graph": "graphs/*",
    "timeline": "timeline/*",
    "taken in": "ledger/conversations/*",
    "notes": "ledger/*",
}
"""What is told apart, by the form of the key; the first that fits counts.

`versions` are LanceDB's manifests and transactions, `taken in` which messages have been seen.
"""
RECORDS = ("rows", "index", "versions")


@dataclass(frozen=True, slots=True)
class Sample:
    """What lay in the store after so many days, by part: bytes and objects."""

    day: int
    bytes: dict[str, int]
    objects: dict[str, int]


def simulate(
    plan: Plan, days: int, keep_seconds: float, messages: int = 6
) -> list[Sample]:
    """One agent's life; a sample for each week."""
    with TemporaryDirectory() as folder:
        clock = SimulatedClock(FIRST)
        application = open_driver(
            {"VARVE_DEFAULT_PLAN": plan},
            folder,
            clock,
            upkeep=Upkeep(keep_for=timedelta(seconds=keep_seconds)),
        )
        samples = []
        for day in range(days):
            _live(application, clock, day, messages)
            if day % 7 == 6:
                samples.append(_sample(Path(folder), day + 1))
        return samples


def _live(
    application: Driver, clock: SimulatedClock, day: int, messages: int
) -> None:
    """A day's conversation and the night after it."""
    clock.go(day, 12, FIRST)
    spoken = conversation(AGENT.agent, day, messages)
    application.ingest([parse_conversation(spoken).in_scope(AGENT)])
    now = clock.go(day + 1, 5.17, FIRST)
    application.summarize(AGENT, SUMMARY_GRAINS, now)
    application.cleanup(AGENT, now)


def _sample(folder: Path, day: int) -> Sample:
    sizes: dict[str, int] = defaultdict(int)
    objects: dict[str, int] = defaultdict(int)
    for path in folder.rglob("*"):
        key = path.relative_to(folder).as_posix()
        part = next(
            (name for name, form in PARTS.items() if fnmatchcase(key, form)),
            None,
        )
        if part and path.is_file():
            sizes[part] += path.stat().st_size
            objects[part] += 1
    return Sample(day, dict(sizes), dict(objects))


def plot(lives: dict[Plan, list[Sample]]) -> None:
    """Two panels: what retention governs, and the timeline with the rest."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "varve"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(13, 4.2))
    titles = ("records, all grains", "timeline", "graph and ledger")
    groups: tuple[tuple[str, ...], ...] = (
        RECORDS,
        ("timeline",),
        ("graph", "taken in", "notes"),
    )
    for panel, title, parts in zip(panels, titles, groups, strict=True):
        for plan, samples in lives.items():
            sizes = [
                sum(s.bytes.get(part, 0) for part in parts) / 1e6
                for s in samples
            ]
            panel.plot(
                [s.day / YEAR for s in samples],
                sizes,
                label=plan,
                linewidth=1.4,
            )
        panel.set(
            title=title,
            xlabel="years of daily use",
            ylabel="MB",
            ylim=(0, None),
        )
        panel.grid(alpha=0.3)
        panel.legend()
    figure.suptitle("Storage of one agent that speaks every day, per plan")
    figure.tight_layout()
    figure.savefig(DOCS / "storage-per-plan.png", dpi=130)
    figure.savefig(DOCS / "storage-per-plan.svg", metadata={"Date": None})


def tables(lives: dict[Plan, list[Sample]]) -> str:
    """Mean sizes of each half year's samples, by part."""
    texts = []
    for part in PARTS:
        halves = [f"half {number + 1}" for number in range(_halves(lives))]
        rows = [
            [plan, *_means(samples, part)] for plan, samples in lives.items()
        ]
        texts.append(
            f"**{part}**, KB (mean of each half year)\n\n{markdown(['plan', *halves], rows)}"
        )
    headings = ["plan", *PARTS]
    counts = [
        [plan, *(s[-1].objects.get(part, 0) for part in PARTS)]
        for plan, s in lives.items()
    ]
    return "\n\n".join(
        [*texts, "**objects at the end**\n\n" + markdown(headings, counts)]
    )


def _halves(lives: dict[Plan, list[Sample]]) -> int:
    return max(1, next(iter(lives.values()))[-1].day // (YEAR // 2))


def _means(samples: list[Sample], part: str) -> list[float]:
    halves: dict[int, list[int]] = defaultdict(list)
    for sample in samples:
        halves[
            min(
                (sample.day - 1) // (YEAR // 2),
                samples[-1].day // (YEAR // 2) - 1,
            )
        ].append(sample.bytes.get(part, 0))
    return [
        sum(sizes) / len(sizes) / 1e3 for _, sizes in sorted(halves.items())
    ]


def run(days: int, keep_seconds: float) -> dict[Plan, list[Sample]]:
    """The plans' lives, two at a time."""
    with ProcessPoolExecutor(
        2, get_context("spawn")
    ) as pool:  # LanceDB does not bear a fork
        return dict(
            zip(
                Plan,
                pool.map(
                    simulate,
                    Plan,
                    [days] * len(Plan),
                    [keep_seconds] * len(Plan),
                ),
                strict=True,
            )
        )


def main(quick: bool, keep_seconds: float = KEEP_SECONDS) -> str:
    """Run, plot and tell."""
    lives = run(YEAR // 2 if quick else 3 * YEAR, keep_seconds)
    if not quick:
        plot(lives)
    return tables(lives)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="half a year only, and no plot"
    )
    parser.add_argument(
        "--keep-seconds",
        type=float,
        default=KEEP_SECONDS,
        help="how long old versions stay at a compaction",
    )
    options = parser.parse_args()
    print(machine(), main(options.quick, options.keep_seconds), sep="\n\n")
