"""What a night costs when 1 percent of the agents spoke: `python benchmarks/pyramid.py [--quick]`.

For each number of agents (`--agents 10,1000,100000`): S3 requests, bytes and model calls of the five
planning passes, of the work they cause and of cleanup, on a counting S3; then those of a night after
which nothing had been said. With `--storage` also benchmarks/storage.py, the three simulated years.

How the agents come to exist: 100 template agents live 300 days through the whole pipeline with real
LanceDB tables, one of them speaking each day, so that each speaks every 100 days; every night is worked
off. Then their objects (stores, graph, timeline, ledger) are cloned inside the server under new names,
as many as are wanted: 1 percent spoke on the last day, 1 percent on the day before, and so on. With
fewer than 100 agents the templates are taken at even distances and one agent is active. The night itself
runs the product's code on the clones. Of each step's periods or agents at most `--sample` (100), evenly
chosen, are worked off, and the figures multiplied (`0`: all of them); the marks and notes of the others
are then taken out of the ledger as if they had been. Planning is always whole.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import storage
from counting_s3 import KINDS, CountingS3
from traffic import Deployment, SimulatedClock, conversation, machine, markdown

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.conversation import parse_conversation
from varve.domain.ledger import due_folder, marks_folder
from varve.messages.work import CleanAgent, WorkMessage, read_work
from varve.ports.queues import Delivery

TEMPLATES = 100
"""One in a hundred speaks each day."""
TEMPLATE_ROOT = "template"
LIFE_DAYS = 300
FIRST = datetime(2025, 1, 6, tzinfo=UTC)
PASSES = dict(zip(SUMMARY_GRAINS, (1.17, 2.67, 3.17, 3.67, 4.17), strict=True))
"""The hours of template.yaml's schedules; daily's is its first of 24 in a night."""
CLEANUP_HOUR = 5.17
AGAIN = "the same night once more"

COLUMNS = {
    "planning": [f"plan {grain}" for grain in SUMMARY_GRAINS],
    "planning cleanup": ["plan cleanup"],
    "work": [f"work {grain}" for grain in SUMMARY_GRAINS],
    "cleanup": ["work cleanup"],
}
"""What is added up in the tables over all sizes."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """What one part of a night asked of S3; `units` are the periods or agents it dealt with."""

    name: str
    units: int
    requests: dict[str, float]
    megabytes_in: float
    megabytes_out: float
    model_calls: int = 0

    @property
    def total(self) -> float:
        """All requests."""
        return sum(self.requests.values())


@dataclass(frozen=True, slots=True)
class Night:
    """A night's steps, for so many agents of which so many spoke."""

    title: str
    agents: int
    active: int
    steps: tuple[Step, ...]

    @property
    def total(self) -> float:
        """All requests."""
        return sum(step.total for step in self.steps)

    def of(self, name: str) -> float:
        """The requests of the step of this name."""
        return sum(step.total for step in self.steps if step.name == name)


class Nights:
    """Nights over one root, measured."""

    def __init__(
        self, s3: CountingS3, root: str, agents: int, sample: int
    ) -> None:
        self._s3, self._agents, self._sample = s3, agents, sample
        self._root = root
        self._clock = SimulatedClock(FIRST)
        self.deployment = Deployment(self._clock, root)

    def after(self, day: int, title: str, active: int) -> Night:
        """The night after a day of the simulated time."""
        self.deployment.restart()
        steps: list[Step] = []
        for grain, hour in PASSES.items():
            now = self._clock.go(day + 1, hour, FIRST)
            steps.append(
                self._measured(
                    f"plan {grain}", partial(self._plan, grain, now)
                )
            )
            steps.append(self._worked(f"work {grain}"))
        now = self._clock.go(day + 1, CLEANUP_HOUR, FIRST)
        looked = partial(self.deployment.reading.clean, now)
        steps.append(self._measured("plan cleanup", lambda: looked().planned))
        steps.append(self._worked("work cleanup"))
        return Night(
            title,
            self._agents,
            active,
            tuple(step for step in steps if step.units or step.total),
        )

    def _plan(self, grain: Grain, now: datetime) -> int:
        return self.deployment.reading.plan(grain, now).planned

    def _worked(self, name: str) -> Step:
        items = self.deployment.queues["summary"].take()
        chosen = _evenly(items, self._sample)
        step = self._measured(name, lambda: self._work(chosen), len(items))
        left = map(read_work, items if len(chosen) < len(items) else [])
        self._s3.drop(
            [
                f"{self._root}/{key}"
                for message in left
                for key in _settled(message)
            ]
        )
        return step

    def _work(self, items: Sequence[Delivery]) -> int:
        self.deployment.work(items)
        return len(items)

    def _measured(
        self, name: str, run: Callable[[], int], units: int | None = None
    ) -> Step:
        """Run it and tell; where it is a sample of `units`, for all of them."""
        self._s3.reset()
        self.deployment.model_calls = 0
        done = run()
        counts = self._s3.counts()
        factor = units / done if units and done else 1
        return Step(
            name=name,
            units=done if units is None else units,
            requests={kind: counts.kind(kind) * factor for kind in KINDS},
            megabytes_in=counts.bytes_in * factor / 1e6,
            megabytes_out=counts.bytes_out * factor / 1e6,
            model_calls=round(self.deployment.model_calls * factor),
        )


def _settled(message: WorkMessage) -> list[str]:
    """The keys, or the folders of keys, that go when a work item is done."""
    if isinstance(message, CleanAgent):
        return list(message.notes)
    period, scope = message.period, message.scope
    return [
        f"{due_folder(period)}/{scope}/",
        f"{marks_folder(scope, period.grain)}/{period.label}/",
    ]


def live(days: int) -> None:
    """The templates' lives, up to and with the last day's conversation but not the night after it."""
    clock = SimulatedClock(FIRST)
    deployment = Deployment(clock, TEMPLATE_ROOT)
    for day in range(days):
        clock.go(day, 12, FIRST)
        agent = f"t{(days - 1 - day) % TEMPLATES:02}"
        spoken = conversation(agent, day) | {"workspaceId": "template"}
        deployment.ingest([parse_conversation(spoken)])
        if day < days - 1:
            _night(deployment, clock, day)


def _night(deployment: Deployment, clock: SimulatedClock, day: int) -> None:
    for grain, hour in PASSES.items():
        deployment.reading.plan(grain, clock.go(day + 1, hour, FIRST))
        deployment.work(deployment.queues["summary"].take())
    deployment.reading.clean(clock.go(day + 1, CLEANUP_HOUR, FIRST))
    deployment.work(deployment.queues["summary"].take())


def populate(
    s3: CountingS3, root: str, agents: int, per_workspace: int
) -> int:
    """Clone the templates until there are so many agents; how many of them spoke on the last day."""
    step = max(1, TEMPLATES // agents)
    names: dict[str, list[str]] = {}
    for number in range(agents):
        template = f"template/t{number * step % TEMPLATES:02}"
        # Strewn over the workspaces, so that those who spoke are not all in the same ones.
        workspace = number // TEMPLATES % -(-agents // per_workspace)
        names.setdefault(template, []).append(f"w{workspace:04}/a{number:06}")
    s3.clone(TEMPLATE_ROOT, root, names)
    return len(names["template/t00"])


def nights(
    s3: CountingS3, agents: int, sample: int, per_workspace: int, days: int
) -> list[Night]:
    """The night after the last day, that night again, and the one after a day on which nobody spoke."""
    root = f"run-{agents}"
    active = populate(s3, root, agents, per_workspace)
    measured = Nights(s3, root, agents, sample)
    first = measured.after(days - 1, "1 percent spoke", active)
    again = measured.after(days - 1, AGAIN, 0)
    return [
        first,
        again,
        measured.after(days, "the night after a day of silence", 0),
    ]


def table(night: Night) -> str:
    """The steps, what they asked for, and how much of it for each active agent."""
    headings = [
        "step",
        "units",
        *KINDS,
        "requests",
        "per active agent",
        "MB in",
        "MB out",
        "model calls",
    ]
    rows: list[list[object]] = [
        _row(step, night.active) for step in night.steps
    ]
    calls = sum(step.model_calls for step in night.steps)
    share = night.total / night.active if night.active else "-"
    kinds = [
        round(sum(step.requests[kind] for step in night.steps))
        for kind in KINDS
    ]
    rows.append(
        ["**all**", "", *kinds, round(night.total), share, "", "", calls]
    )
    return (
        f"**{night.agents:,} agents, {night.title}** ({night.active:,})\n\n"
        + markdown(headings, rows)
    )


def _row(step: Step, active: int) -> list[object]:
    return [
        step.name,
        step.units,
        *(round(step.requests[kind]) for kind in KINDS),
        round(step.total),
        step.total / active if active else "-",
        step.megabytes_in,
        step.megabytes_out,
        step.model_calls,
    ]


def comparison(measured: Sequence[Night]) -> str:
    """Requests of the first nights by the active agents, over all sizes."""
    first = [night for night in measured if night.active]
    headings = ["agents", "active", *COLUMNS, "per active agent"]
    rows = [
        [
            night.agents,
            night.active,
            *(round(sum(map(night.of, steps))) for steps in COLUMNS.values()),
            night.total / night.active,
        ]
        for night in first
    ]
    return "**Requests by the number of agents**\n\n" + markdown(
        headings, rows
    )


def standing(measured: Sequence[Night]) -> str:
    """What a night asks for that has nothing to do, over all sizes, and how much of it for each agent."""
    idle = [night for night in measured if night.title == AGAIN]
    headings = [
        "agents",
        *list(COLUMNS)[:2],
        "requests",
        "requests per 1,000 agents",
    ]
    rows = [
        [
            n.agents,
            *(
                round(sum(map(n.of, steps)))
                for steps in list(COLUMNS.values())[:2]
            ),
            round(n.total),
            1_000 * n.total / n.agents,
        ]
        for n in idle
    ]
    return "**A night with nothing to do**\n\n" + markdown(headings, rows)


def _evenly(items: Sequence[T], most: int) -> list[T]:
    """All, or so many of them at even distances."""
    if not most or len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--agents",
        default="10,1000,100000",
        help="how many there are, with commas",
    )
    parser.add_argument(
        "--per-workspace",
        type=int,
        default=100,
        help="agents in one workspace",
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=100,
        help="work off at most so many a step; 0: all",
    )
    parser.add_argument(
        "--days",
        type=int,
        default=LIFE_DAYS,
        help="days of the templates' lives",
    )
    parser.add_argument(
        "--storage",
        action="store_true",
        help="the three simulated years as well",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="10 and 1,000 agents, 101 days, a sample of 5",
    )
    options = parser.parse_args()
    if options.quick:
        options.agents, options.days, options.sample = (
            "10,1000",
            TEMPLATES + 1,
            5,
        )
    print(machine(), flush=True)
    with CountingS3() as s3, s3.as_aws():
        live(options.days)
        measured: list[Night] = []
        for agents in map(int, options.agents.split(",")):
            found = nights(
                s3, agents, options.sample, options.per_workspace, options.days
            )
            print("", *map(table, found), sep="\n\n", flush=True)
            measured += found
    print("", comparison(measured), standing(measured), sep="\n\n")
    if options.storage:
        print("", storage.main(options.quick), sep="\n\n")


if __name__ == "__main__":
    main()
