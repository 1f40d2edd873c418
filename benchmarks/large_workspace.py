"""What a large workspace asks of AWS in a month: `python benchmarks/large_workspace.py [--agents N]`.

A sample of agents lives 30 days on the counting S3, with lists for queues. Each has ten conversations of six
messages, on days drawn at random; each night builds what is due and deletes what has expired. Requests are
counted by kind and folder, and multiplied to 100,000 agents with 1,000,000 conversations a month. `peak`
assumes that a tenth of a day's conversations come in its busiest hour, and that the nightly work takes four.
No model is configured.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from counting_s3 import KINDS, CountingS3, Counts
from traffic import Deployment, SimulatedClock, conversation, markdown

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.conversation import parse_conversation

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 30
CONVERSATIONS = 10
AGENTS = 100_000
SECONDS_OF_MONTH = DAYS * 86_400
BUSY_HOUR = 0.1
NIGHT_SECONDS = 4 * 3_600
HOURS = {
    Grain.DAILY: 1.2,
    Grain.WEEKLY: 2.7,
    Grain.MONTHLY: 3.2,
    Grain.QUARTERLY: 3.7,
    Grain.YEARLY: 4.2,
}
DOLLARS = {
    "GET": 0.0004,
    "HEAD": 0.0004,
    "LIST": 0.005,
    "PUT": 0.005,
    "DELETE": 0.0,
}
"""S3's list prices for 1,000 requests; benchmarks/cost.py has their source."""


@dataclass
class Part:
    """What a part of the month asked for: requests by kind and folder, queue messages."""

    kinds: Counter[str] = field(default_factory=Counter)
    folders: Counter[str] = field(default_factory=Counter)
    messages: int = 0

    def add(self, counts: Counts, messages: int) -> None:
        """Add what was counted."""
        self.kinds.update(counts.by_kind)
        self.folders.update(counts.by_prefix)
        self.messages += messages


class Month:
    """The sample's month."""

    def __init__(self, s3: CountingS3, agents: int) -> None:
        self._s3 = s3
        self._clock = SimulatedClock(FIRST)
        self._deployment = Deployment(self._clock)
        self._days = {
            f"agent-{number:03}": sorted(
                Random(number).sample(range(DAYS), CONVERSATIONS)
            )
            for number in range(agents)
        }
        self.parts = {"days": Part(), "nights": Part()}

    def live(self) -> None:
        """Go through the days and their nights."""
        for day in range(DAYS):
            self._run("days", self._speak, day)
            self._run("nights", self._sleep, day)

    def _run(self, part: str, step: Callable[[int], int], day: int) -> None:
        self._s3.reset()
        messages = step(day)
        self.parts[part].add(self._s3.counts(), messages)

    def _speak(self, day: int) -> int:
        self._clock.go(day, 12, FIRST)
        spoken = [agent for agent, days in self._days.items() if day in days]
        for agent in spoken:
            said = {"workspaceId": "acme", **conversation(agent, day)}
            self._deployment.ingest([parse_conversation(said)])
        # A message to extract, and one to each of the stores and the graph.
        return 3 * len(spoken)

    def _sleep(self, day: int) -> int:
        messages = 0
        for grain in SUMMARY_GRAINS:
            self._deployment.reading.plan(
                grain, self._clock.go(day + 1, HOURS[grain], FIRST)
            )
            messages += self._work()
        self._deployment.reading.clean(self._clock.go(day + 1, 4.7, FIRST))
        return messages + self._work()

    def _work(self) -> int:
        items = self._deployment.queues["summary"].take()
        self._deployment.work(items)
        return 2 * len(items)


def print_month(month: Month, agents: int) -> None:
    """Print the tables."""
    scale = AGENTS / agents
    rows = []
    for name, part in month.parts.items():
        cells = [round(part.kinds[kind] * scale / 1e6, 1) for kind in KINDS]
        dollars = sum(
            part.kinds[kind] * scale / 1_000 * DOLLARS[kind] for kind in KINDS
        )
        rows.append([name, *cells, part.messages * scale / 1e6, dollars])
    print("**A month, millions of requests**\n")
    print(markdown(["part", *KINDS, "messages", "$ for S3"], rows))
    print("\n**Rates, a second**\n")
    headings = ["folder", "requests a month, millions", "mean", "peak"]
    print(markdown(headings, list(_rates(month, scale))))


def _rates(month: Month, scale: float) -> list[list[object]]:
    days = month.parts["days"].folders
    nights = month.parts["nights"].folders
    rows: list[list[object]] = []
    for folder in sorted(days.keys() | nights.keys()):
        by_day = days[folder] * scale
        by_night = nights[folder] * scale
        busy = by_day / DAYS * BUSY_HOUR / 3_600
        night = by_night / DAYS / NIGHT_SECONDS
        total = by_day + by_night
        rows.append(
            [folder, total / 1e6, total / SECONDS_OF_MONTH, max(busy, night)]
        )
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=20)
    agents = parser.parse_args().agents
    with CountingS3() as s3, s3.as_aws():
        month = Month(s3, agents)
        month.live()
        print_month(month, agents)


if __name__ == "__main__":
    main()
