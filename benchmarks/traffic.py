"""What the benchmarks share; `python benchmarks/traffic.py` shows a generated conversation."""

import json
import platform
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import Any

ROOT_FOLDER = str(Path(__file__).parents[1])
sys.path[:0] = [] if ROOT_FOLDER in sys.path else [ROOT_FOLDER]

from tests.support.drivers import Driver, open_driver  # noqa: E402 - found by the path above
from varve.adapters.lance.upkeep import Upkeep  # noqa: E402
from varve.domain.summary import Summary, SummaryTask  # noqa: E402
from varve.ports.clock import Clock  # noqa: E402
from varve.ports.models import Summarizer  # noqa: E402
from varve.ports.queues import Delivery  # noqa: E402

ROOT = "memory"
BATCH = 10
"""Messages that one invocation of the writing function is given at most, as SQS FIFO has it."""

CITIES = (
    "Lisbon",
    "Leeds",
    "Porto",
    "Ghent",
    "Turin",
    "Bergen",
    "York",
    "Graz",
    "Vigo",
    "Cork",
)
THINGS = (
    "green tea",
    "sea kayaking",
    "old maps",
    "rye bread",
    "chess",
    "night trains",
    "ferns",
    "jazz",
)
FIRMS = (
    "Ferrabank",
    "Calder Heating",
    "Northwind",
    "Oriel Books",
    "Tideline",
    "Marrow & Pine",
)
SAYINGS = (
    "I moved to {city} last week and the boxes are still packed.",
    "I really like {thing}, more than I like {other}.",
    "I work at {firm} now, in the office near {city}.",
    "My sister Hannah is coming to {city} on Friday with case number {number}.",
    "The invoice {number} from {firm} has not arrived yet, can you ask them?",
    "Could you remind me to buy something for {thing} before the weekend?",
    "We talked about {thing} with the people from {firm} and it went well.",
)
REPLIES = (
    "Noted, I will keep that in mind.",
    "Done; reference {number}.",
    "I have asked {firm} about it and will tell you when they answer.",
)


def conversation(agent: str, day: int, messages: int = 6) -> dict[str, Any]:
    """What one user says to one agent in one sitting: half questions and facts, half replies."""
    words = random.Random(f"{agent}/{day}")
    said = [
        {"role": role, "name": name, "content": _sentence(words, texts)}
        for role, name, texts in [
            ("user", "Dana", SAYINGS),
            ("assistant", "Assistant", REPLIES),
        ]
        * (messages // 2)
    ]
    return {
        "conversationId": f"c-{day:05}",
        "agentId": agent,
        "userId": "u-dana",
        "messages": said,
    }


def _sentence(words: random.Random, texts: Sequence[str]) -> str:
    return words.choice(texts).format(
        city=words.choice(CITIES),
        thing=words.choice(THINGS),
        other=words.choice(THINGS),
        firm=words.choice(FIRMS),
        number=words.randrange(10_000, 99_999),
    )


@dataclass(slots=True)
class ListQueue:
    """The Queue port as a list; what is sent waits there for whoever takes it."""

    sent: list[Delivery] = field(default_factory=list)

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Keep it."""
        self.sent.append(Delivery(id=deduplication_id, body=body, group=group))

    def take(self) -> list[Delivery]:
        """All there is; the queue is empty then."""
        taken, self.sent = self.sent, []
        return taken


class NoDeadLetters:
    """The DeadLetters port of a run in which nothing may fail."""

    def send(self, delivery: Delivery, error: Exception) -> None:
        """Raises what went wrong."""
        raise RuntimeError(f"dead letter {delivery.group}") from error


class Deployment:
    """One application over S3 whose three queues are lists: each step is what one function does.

    The applications are warm (one process each for all agents) and their tables cold: each agent's is
    opened once, as in a function that works off the queues of many agents.
    """

    def __init__(self, clock: Clock | None = None, root: str = ROOT) -> None:
        self._clock, self.root, self.model_calls = clock, root, 0
        self.queues = {
            name: ListQueue() for name in ("ingest", "write", "summary")
        }
        self.restart()

    def restart(self, upkeep: Upkeep | None = None) -> None:
        """Begin again with cold processes: one that reads, and one that writes by this upkeep."""
        self.reading = self._process()
        self.writing = self._process(**({"upkeep": upkeep} if upkeep else {}))

    def _process(self, **given: Any) -> Driver:
        urls = {
            f"VARVE_{name.upper()}_QUEUE_URL": name for name in self.queues
        }
        queues = {
            f"{name}_queue": queue for name, queue in self.queues.items()
        }
        return open_driver(
            urls,
            f"s3://bench/{self.root}",
            self._clock,
            dead_letters=NoDeadLetters(),
            wrap_summarizer=partial(_Counted, owner=self),
            **queues,
            **given,
        )

    def ingest(self, conversations: Sequence[Any]) -> None:
        """From the caller's hands into memory."""
        self.reading.ingest(conversations)
        assert not self.reading.extract(self.queues["ingest"].take())
        self.write()

    def write(self) -> int:
        """Work off the write queue in batches of ten of one group at a time; how many batches."""
        waiting = sorted(
            self.queues["write"].take(), key=lambda delivery: delivery.group
        )
        batches = [
            waiting[at : at + BATCH] for at in range(0, len(waiting), BATCH)
        ]
        for batch in batches:
            assert not self.writing.write(batch).returned
        return len(batches)

    def work(self, deliveries: Sequence[Delivery]) -> dict[str, int]:
        """Work off these items of the work queue, and what they send to the writer; what they came to."""
        told: Counter[str] = Counter()
        for at in range(0, len(deliveries), BATCH):
            outcome = self.reading.work(deliveries[at : at + BATCH])
            assert not outcome.returned
            told.update(outcome.metrics())
            self.write()
        return dict(told)


class _Counted:
    """The Summarizer port over another one, whose calls it counts."""

    def __init__(self, summarizer: Summarizer, owner: Deployment) -> None:
        self._summarizer, self._owner = summarizer, owner
        self.name = summarizer.name

    def summarize(self, task: SummaryTask) -> Summary:
        """Ask the other one."""
        self._owner.model_calls += 1
        return self._summarizer.summarize(task)


@dataclass(slots=True)
class SimulatedClock:
    """The present, where it is put."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def go(self, day: int, hour: float, first: datetime) -> datetime:
        """To so many days after the first, at an hour of that day."""
        self.now = first + timedelta(days=day, hours=hour)
        return self.now


def markdown(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers get their thousands set apart."""
    lines = [headings, ["---"] + ["---:"] * (len(headings) - 1), *rows]
    return "\n".join(
        "| " + " | ".join(map(_cell, line)) + " |" for line in lines
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) < 1_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def machine() -> str:
    """The machine and the libraries in one paragraph."""
    libraries = (
        "lancedb",
        "pyarrow",
        "obstore",
        "numpy",
        "wordllama",
        "pydantic",
    )
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    release = Path("/etc/os-release")
    names = (
        dict(line.split("=", 1) for line in release.read_text().splitlines())
        if release.is_file()
        else {}
    )
    system = names.get("PRETTY_NAME", platform.system()).strip('"')
    cores = (
        f"{cpu_count()} cores ({platform.machine()}), shared with other work"
    )
    return f"{cores}; {system}; Python {platform.python_version()}; {versions}. {datetime.now(UTC):%Y-%m-%d}."


if __name__ == "__main__":
    print(json.dumps(conversation("a-1", 1), indent=2))
