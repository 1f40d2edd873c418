"""What a conversation, a search and an idle agent cost at list prices: `python benchmarks/cost.py [--quick]`.

One agent lives some weeks: each day one conversation of the project's corpus, dated to that day, goes
through the functions' own handlers as warm processes (fleet.py: S3 counted, SQS on loopback, offline models),
each night the schedules' passes and all they bring about. Requests and messages are counted. Lambda's time is
computed: the processor's time of each invocation on this machine, stretched by the function's share of a
processor (its memory over 1,769 MB), and `--latency` seconds for each round trip to S3 after another and for
each message sent. `cold` is the same days once more with a new process for every invocation, its import
included: a deployment where nothing is ever warm. Model tokens are those of tokens.py, for the same days.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import mean
from typing import Any

import tokens
import yaml
from counting_s3 import KINDS
from fleet import PROJECT, Fleet, Function, Invocation, fleet
from traffic import machine, markdown

from varve.domain.calendar import SUMMARY_GRAINS

_AWS = "https://aws.amazon.com"
PRICES = {
    "Lambda, GB-second (arm64)": (0.0000133334, f"{_AWS}/lambda/pricing/"),
    "Lambda, invocation": (0.20 / 1e6, f"{_AWS}/lambda/pricing/"),
    "S3 PUT, COPY, POST, LIST": (0.005 / 1e3, f"{_AWS}/s3/pricing/"),
    "S3 GET, HEAD": (0.0004 / 1e3, f"{_AWS}/s3/pricing/"),
    "S3 Standard, GB and month": (0.023, f"{_AWS}/s3/pricing/"),
    "SQS FIFO, request of 64 KB": (0.50 / 1e6, f"{_AWS}/sqs/pricing/"),
    "EventBridge Scheduler, invocation": (
        1.00 / 1e6,
        f"{_AWS}/eventbridge/pricing/",
    ),
    "AgentCore Memory, short-term event": (
        0.25 / 1e3,
        f"{_AWS}/bedrock/agentcore/pricing/",
    ),
    "AgentCore Memory, record and month, built-in": (
        0.75 / 1e3,
        f"{_AWS}/bedrock/agentcore/pricing/",
    ),
    "AgentCore Memory, record and month, own model": (
        0.25 / 1e3,
        f"{_AWS}/bedrock/agentcore/pricing/",
    ),
    "AgentCore Memory, retrieval": (
        0.50 / 1e3,
        f"{_AWS}/bedrock/agentcore/pricing/",
    ),
}
"""List prices in us-east-1, dollars each, without the free tiers, and the page to check them on.

They were collected in 2026-11 from secondary sources (articles and public code that quote the pages); the
pages themselves were not opened.
"""
_WRITING, _READING = "S3 PUT, COPY, POST, LIST", "S3 GET, HEAD"
OF_REQUESTS = {
    "GET": _READING,
    "HEAD": _READING,
    "LIST": _WRITING,
    "PUT": _WRITING,
}
"""DELETE is free."""
MODEL_PRICES = (0.15, 0.60)
"""Dollars for a million tokens in and out of gpt-4o-mini, assumed; check https://openai.com/api/pricing/."""
WHOLE_PROCESSOR_MB = 1_769
MONTH_DAYS = 30
POLLS = 15 * 60 * 24 * MONTH_DAYS
"""Of an empty queue in a month, as docs/operate.md has it under "What idles"."""
PASSES = dict(
    zip(
        SUMMARY_GRAINS,
        ("01:10", "02:40", "03:10", "03:40", "04:10"),
        strict=True,
    )
)
CLEANUP = "05:40"
STEPS = ("ingest and extract", "write", "summaries", "cleanup")
TIME, INVOCATIONS, S3, SQS = (
    "Lambda time",
    "Lambda invocations",
    "S3 requests",
    "SQS",
)
QUESTIONS = 20
FOLDERS = (
    "vectordb",
    "graphs",
    "timeline",
    "profiles",
    "payloads",
    "ledger/conversations",
)
Row = list[object]


@dataclass(slots=True)
class Bill:
    """What invocations came to, in dollars by part."""

    dollars: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    invocations: int = 0

    def add(self, other: "Bill") -> None:
        """Add another one's."""
        self.dollars.update(other.dollars)
        self.requests.update(other.requests)
        self.invocations += other.invocations

    def row(self, name: str, units: float) -> Row:
        """What 1,000 units cost."""
        parts = [
            *(self.dollars[part] for part in (TIME, INVOCATIONS, S3, SQS)),
            self.dollars.total(),
        ]
        dollars = [f"{1_000 * part / units:.4f}" for part in parts]
        return [
            name,
            self.invocations / units,
            self.requests.total() / units,
            *dollars,
        ]


@dataclass(slots=True)
class Account:
    """Functions at work, with a bill for each step; processes are kept warm or started anew each time."""

    fleet: Fleet
    latency: float
    memory: Mapping[str, int]
    stack: ExitStack
    warm: bool
    kept: dict[str, Function] = field(default_factory=dict)
    bills: dict[str, Bill] = field(default_factory=dict)

    def invoke(self, step: str, name: str, event: Any) -> None:
        """Have a function handle an event, on the bill of a step."""
        if self.warm:
            if name not in self.kept:
                self.kept[name] = self.stack.enter_context(
                    self.fleet.cold(name)
                )
            done = self.fleet.invoke(self.kept[name], event)
            self._charge(self.bills.setdefault(step, Bill()), name, done, 0.0)
            return
        with self.fleet.cold(name) as function:
            done = self.fleet.invoke(function, event)
            self._charge(
                self.bills.setdefault(step, Bill()),
                name,
                done,
                function.imported.seconds,
            )

    def _charge(
        self, bill: Bill, name: str, done: Invocation, start: float
    ) -> None:
        assert done.counts is not None
        bill.invocations += 1
        bill.requests.update({kind: done.counts.kind(kind) for kind in KINDS})
        share = min(1.0, self.memory[name] / WHOLE_PROCESSOR_MB)
        waiting = self.latency * (done.counts.depth + done.sent)
        milliseconds = (
            int(1e3 * ((start + done.seconds) / share + waiting)) + 1
        )
        gigabyte_seconds = milliseconds / 1e3 * self.memory[name] / 1024
        bill.dollars[TIME] += gigabyte_seconds * price(
            "Lambda, GB-second (arm64)"
        )
        bill.dollars[INVOCATIONS] += price("Lambda, invocation")
        bill.dollars[S3] += sum(
            price(p) * done.counts.kind(kind)
            for kind, p in OF_REQUESTS.items()
        )
        bill.dollars[SQS] += done.queued * price("SQS FIFO, request of 64 KB")

    def all_of(self, steps: Sequence[str]) -> Bill:
        """The bills of some steps as one."""
        total = Bill()
        for step in steps:
            total.add(self.bills.get(step, Bill()))
        return total


def price(name: str) -> float:
    """Dollars for one."""
    return PRICES[name][0]


def memory_sizes() -> dict[str, int]:
    """The functions' memory in MB, as template.yaml has it."""

    class Loader(yaml.SafeLoader):
        """YAML with CloudFormation's tags, which are of no concern here."""

    Loader.add_multi_constructor("!", lambda *_: None)
    template = yaml.load(
        (PROJECT / "template.yaml").read_text("utf-8"), Loader
    )
    kinds = {
        name.removesuffix("Function").lower(): r
        for name, r in template["Resources"].items()
    }
    return {
        name: kinds[name]["Properties"]["MemorySize"] for name in FUNCTIONS
    }


FUNCTIONS = ("ingest", "extract", "write", "summarize", "cleanup", "search")


@contextmanager
def account(latency: float, *, warm: bool) -> Iterator[Account]:
    """A deployment until the block ends; warm ones have lived a day of another agent, on no bill."""
    with fleet(VARVE_DEFAULT_PLAN="starter") as running, ExitStack() as stack:
        running.s3.delay(latency)
        owner = Account(running, latency, memory_sizes(), stack, warm)
        if warm:
            other = next(tokens.days(1)) | {"workspaceId": "other"}
            day(owner, 0, other)
            search(owner, "other", 1)
            running.s3.drop(["memory/"])
            owner.bills.clear()
        yield owner


def day(
    owner: Account, number: int, conversation: Mapping[str, Any] | None
) -> None:
    """A day with a conversation or in silence, and its night."""
    if conversation is not None:
        owner.invoke("ingest and extract", "ingest", conversation)
        for batch in owner.fleet.batches("ingest", 1):
            owner.invoke("ingest and extract", "extract", batch)
        _write(owner, "write")
    night = (tokens.FIRST + timedelta(days=number + 1)).date().isoformat()
    for grain, hour in PASSES.items():
        owner.invoke(
            "schedules",
            "summarize",
            {"grain": grain, "scheduledTime": f"{night}T{hour}:00Z"},
        )
        _work(owner, "summaries")
    owner.invoke(
        "schedules", "cleanup", {"scheduledTime": f"{night}T{CLEANUP}:00Z"}
    )
    _work(owner, "cleanup")


def _work(owner: Account, step: str) -> None:
    for batch in owner.fleet.batches("summary", 1):
        owner.invoke(step, "summarize", batch)
    _write(owner, step)


def _write(owner: Account, step: str) -> None:
    for batch in owner.fleet.batches("write"):
        owner.invoke(step, "write", batch)


def search(owner: Account, workspace: str, amount: int) -> None:
    """The corpus's first questions, asked of the agent."""
    questions = json.loads(
        (tokens.CORPUS / "questions.json").read_text("utf-8")
    )
    identity = {"workspaceId": workspace, "agentId": tokens.AGENT.agent}
    for question in questions[:amount]:
        owner.invoke(
            "search",
            "search",
            {**identity, "arguments": {"queryText": question["question"]}},
        )


def standing(owner: Account) -> list[Row]:
    """What a month costs whoever speaks: the schedules' passes over nothing that is due, and polling."""
    at = "2026-12-31T12:10:00Z"
    owner.bills.pop("idle", None)
    for name, event in (
        ("summarize", {"grain": "daily", "scheduledTime": at}),
        ("cleanup", {"scheduledTime": at}),
    ):
        owner.invoke("idle", name, event)
    bill = owner.bills["idle"]
    passes = MONTH_DAYS * (
        24 + 4 + 24
    )  # daily and cleanup every hour, the other four every night
    each = bill.dollars.total() / bill.invocations + price(
        "EventBridge Scheduler, invocation"
    )
    polling = 3 * POLLS * price("SQS FIFO, request of 64 KB")
    return [
        ["schedules, every pass cold", passes, f"{passes * each:.4f}"],
        ["polling of three empty queues", 3 * POLLS, f"{polling:.4f}"],
    ]


def _bytes(owner: Account) -> int:
    return sum(
        owner.fleet.s3.usage(f"memory/{folder}/{tokens.AGENT}/").bytes
        for folder in FOLDERS
    )


def silent(owner: Account, days: int) -> tuple[list[str], list[Row]]:
    """What memory costs in a month of silence: its place, and what the nights still bring about."""
    owner.bills.clear()
    before = _bytes(owner)
    for number in range(days, days + MONTH_DAYS):
        day(owner, number, None)
    after = _bytes(owner)
    nights = 1_000 * owner.all_of(("summaries", "cleanup")).dollars.total()
    place = [
        1_000 * size / 1e9 * price("S3 Standard, GB and month")
        for size in (before, after)
    ]
    headings = ["", "KB each", "storage, $", "the nights' work, $"]
    return headings, [
        ["at its beginning", f"{before / 1e3:,.0f}", f"{place[0]:.4f}", ""],
        [
            "at its end",
            f"{after / 1e3:,.0f}",
            f"{place[1]:.4f}",
            f"{nights:.4f}",
        ],
    ]


def model_rows(
    llm: tokens.CountingLLM, conversations: int, prices: tuple[float, float]
) -> list[Row]:
    """What the model's tokens cost for 1,000 conversations."""
    rows: list[Row] = []
    for kind in ("extraction", "summaries"):
        used = [
            llm.asked[f"{kind}, {name}"] / conversations
            for name in ("calls", "tokens in", "tokens out")
        ]
        dollars = 1_000 * sum(
            p * n / 1e6 for p, n in zip(prices, used[1:], strict=True)
        )
        rows.append([kind, *used, f"{dollars:.4f}"])
    return rows


def agentcore_rows(messages: float, records: float) -> list[Row]:
    """The same conversations and searches at AgentCore Memory's prices."""
    event, retrieval = (
        price(f"AgentCore Memory, {name}")
        for name in ("short-term event", "retrieval")
    )
    built_in, own = (
        price(f"AgentCore Memory, record and month, {name}")
        for name in ("built-in", "own model")
    )
    return [
        [
            "1,000 conversations, events",
            f"{messages:.1f} events each",
            f"{1e3 * messages * event:.4f}",
        ],
        [
            "their records, each month, built-in",
            f"{records:.1f} records each",
            f"{1e3 * records * built_in:.4f}",
        ],
        [
            "their records, each month, own model",
            f"{records:.1f} records each",
            f"{1e3 * records * own:.4f}",
        ],
        ["1,000 searches", "retrievals", f"{1e3 * retrieval:.4f}"],
    ]


def tell(owner: Account, spoken: Sequence[Mapping[str, Any]]) -> None:
    """Live the days, ask, and print what it came to."""
    days, state = len(spoken), "warm" if owner.warm else "cold"
    for number, conversation in enumerate(spoken):
        day(owner, number, conversation)
    search(
        owner,
        tokens.AGENT.workspace,
        QUESTIONS if owner.warm else QUESTIONS // 4,
    )
    headings = [
        "step",
        "invocations",
        "S3 requests",
        TIME,
        INVOCATIONS,
        S3,
        SQS,
        "all",
    ]
    rows = [owner.all_of([step]).row(step, days) for step in STEPS]
    rows.append(owner.all_of(STEPS).row("**all**", days))
    _show(
        f"1,000 conversations of {_said(spoken):.1f} messages, {state}, dollars",
        headings,
        rows,
    )
    asked = owner.bills["search"]
    _show(
        f"1,000 searches, {state}, dollars",
        headings,
        [asked.row("search", asked.invocations)],
    )
    if owner.warm:
        _show("1,000 agents that fall silent, a month", *silent(owner, days))
    else:
        _show(
            "A month, whoever speaks",
            ["what", "how often", "$"],
            standing(owner),
        )


def _said(spoken: Sequence[Mapping[str, Any]]) -> float:
    return mean(len(conversation["messages"]) for conversation in spoken)


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--latency",
        type=float,
        default=0.03,
        help="seconds of a round trip within AWS",
    )
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument(
        "--model-prices",
        type=float,
        nargs=2,
        default=MODEL_PRICES,
        help="$ a million in, out",
    )
    parser.add_argument("--quick", action="store_true", help="3 days")
    options = parser.parse_args()
    days = 3 if options.quick else options.days
    print(machine(), flush=True)
    spoken = list(tokens.days(days))
    for warm in (True, False):
        with account(options.latency, warm=warm) as owner:
            tell(owner, spoken)
    llm, conversations = tokens.asked(days)
    rows = model_rows(llm, conversations, tuple(options.model_prices))
    asked_for = [
        "for a conversation",
        "calls",
        "tokens in",
        "tokens out",
        "$ for 1,000",
    ]
    _show(f"{tokens.MODEL}, if one is set", asked_for, rows)
    _show(
        "At the prices of AgentCore Memory",
        ["what", "how much", "$"],
        agentcore_rows(_said(spoken), llm.facts / conversations),
    )
    _show(
        "Prices",
        ["list price, us-east-1", "$", "not read there; check at"],
        [[n, f"{d:.10f}".rstrip("0"), s] for n, (d, s) in PRICES.items()],
    )


def _show(title: str, headings: list[str], rows: list[Row]) -> None:
    print("", f"**{title}**", markdown(headings, rows), sep="\n\n", flush=True)


if __name__ == "__main__":
    main()
