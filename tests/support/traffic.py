"""Traffic by seed, and an application in one process whose queues, model and storage behave badly."""

from __future__ import annotations

import hashlib
import json
import random
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from tests.support.clock import SetClock
from tests.support.drivers import open_driver
from varve.adapters.in_memory import (
    InMemoryDeadLetters,
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.calendar import (
    SUMMARY_GRAINS,
    Grain,
    Period,
    iso,
    parse_instant,
)
from varve.domain.conversation import parse_conversation
from varve.domain.errors import Retryable
from varve.domain.extraction import Batch, Extraction, Fact
from varve.domain.identity import Scope, digest
from varve.domain.record import EmbeddedRecord, Vector, Written, calendar_of
from varve.domain.retention import expired
from varve.domain.rules import RuleExtractor
from varve.domain.summary import Summary, SummaryTask
from varve.domain.workspace import WorkspaceConfig
from varve.ports.objects import ObjectInfo, StoredObject
from varve.ports.queues import Delivery

CORPUS = Path(__file__).parents[1] / "corpus"
CORPUS_AGENTS = ("assistant", "helpdesk")
DEDUPLICATED = timedelta(minutes=5)
BATCH = 10
QUEUES = ("INGEST", "WRITE", "SUMMARY")
THINGS = "tea rain chess bread maps jazz kites moss ferries plums"


class CountingObjects(InMemoryObjects):
    """Objects that keep their keys sorted, so that years can be simulated, and count what is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: list[str] = []
        self.calls: Counter[str] = Counter()
        self.touched: list[str] = []

    def get(self, key: str) -> StoredObject | None:
        self._count("get", key)
        return super().get(key)

    def put(self, key: str, data: bytes) -> None:
        self._count("put", key)
        self._know(key)
        super().put(key, data)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        self._know(key)
        return super().put_if(key, data, etag)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._count("delete", key)
            if key in self._data:
                del self._keys[bisect_left(self._keys, key)]
            super().delete([key])

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        self._count("list", prefix)
        for key in self._below(prefix):
            yield ObjectInfo(
                key, len(self._data[key]), datetime.min.replace(tzinfo=UTC)
            )

    def folders(self, prefix: str) -> Sequence[str]:
        self._count("folders", prefix)
        rests = (key.removeprefix(prefix + "/") for key in self._below(prefix))
        return sorted(
            {rest.partition("/")[0] for rest in rests if "/" in rest}
        )

    def forget_calls(self) -> None:
        """Start counting anew."""
        self.calls.clear()
        self.touched.clear()

    def _below(self, prefix: str) -> Sequence[str]:
        first, end = (
            bisect_left(self._keys, prefix + "/"),
            bisect_left(self._keys, prefix + "0"),
        )
        return self._keys[first:end]

    def _count(self, verb: str, key: str) -> None:
        self.calls[verb] += 1
        self.touched.append(key)
        del self.touched[:-10_000]

    def _know(self, key: str) -> None:
        if key not in self._data:
            insort(self._keys, key)


class HashEmbedder:
    """An Embedder whose vectors are the texts' hashes: cheap, and never used to compare meanings."""

    model = "hash:32"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        rows = [
            np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
            for text in texts
        ]
        vectors = [row.astype(np.float32) for row in rows]
        return [
            vector / np.float32(np.linalg.norm(vector)) for vector in vectors
        ]


class StatementExtractor:
    """An Extractor that makes a fact of each statement a user makes, as important as its hash says."""

    name = "statements"

    def extract(self, batch: Batch) -> Extraction:
        said = [
            u
            for u in batch.utterances
            if u.role == "user" and not u.text.endswith("?")
        ]
        return Extraction(
            tuple(
                Fact(
                    f"{u.speaker} said: {u.text}", u.speaker, u.said_at, (u.message_id,),
                    0.5 + int(digest(u.text, length=2), 16) / 512,
                )
                for u in said
            )
        )  # fmt: skip


class ScriptedSummarizer:
    """A Summarizer whose text changes with every word, id, time and the order of what it is given."""

    name = "scripted"

    def __init__(self) -> None:
        self.tasks: list[SummaryTask] = []

    def summarize(self, task: SummaryTask) -> Summary:
        self.tasks.append(task)
        read = digest(
            *(
                f"{s.id} {s.fingerprint} {s.text} {iso(s.at)} {s.label}"
                for s in task.sources
            )
        )
        words = {
            word.strip(".,:?") for s in task.sources for word in s.text.split()
        }
        text = f"{len(task.sources)} sources, read as {read[:16]}"
        return Summary(
            text=text[: 4 * task.budget],
            people=tuple(
                sorted(w for w in words if w.istitle() and len(w) > 3)
            )[:5],
            topics=tuple(sorted(words & set(THINGS.split()))),
        )


class FlakySummarizer:
    """The summarizer it wraps, failing one call in so many by its random numbers."""

    def __init__(
        self, inner: ScriptedSummarizer, rng: random.Random, one_in: float
    ) -> None:
        self.name, self._inner, self._rng, self.one_in = (
            inner.name,
            inner,
            rng,
            one_in,
        )
        self.failed = 0

    def summarize(self, task: SummaryTask) -> Summary:
        if self.one_in and self._rng.random() < 1 / self.one_in:
            self.failed += 1
            raise Retryable("model: overloaded")
        return self._inner.summarize(task)


class WatchedRecords:
    """The records it wraps, with a look at every deletion: is its time over, is all of it summed up above?

    `fails` says before each write whether the storage is down. `too_young` and `unsealed` are what
    should not have been deleted.
    """

    def __init__(
        self,
        inner: Any,
        clock: Callable[[], datetime],
        config: Callable[[str], WorkspaceConfig],
    ) -> None:
        self._inner, self._clock, self._config = inner, clock, config
        self.fails: Callable[[], bool] = lambda: False
        self.deleted = 0
        self.too_young: list[tuple[Scope, Period]] = []
        self.unsealed: list[tuple[Scope, Period, str]] = []
        self._summed_up: dict[
            tuple[Scope, Period], dict[str, set[tuple[str, str]]]
        ] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def upsert(
        self,
        scope: Scope,
        grain: Grain,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        if self.fails():
            raise Retryable("storage: down")
        if isinstance(grain, Grain):
            for record in (embedded.record for embedded in records):
                made_of = set(
                    zip(
                        record.source_ids,
                        record.source_fingerprints,
                        strict=False,
                    )
                )
                summaries = self._summed_up.setdefault(
                    (scope, Period(grain, record.period)), {}
                )
                summaries[record.id] = made_of
        written: Written = self._inner.upsert(scope, grain, records, model)
        return written

    def delete_periods(
        self, scope: Scope, grain: Grain, labels: Sequence[str]
    ) -> int:
        config = self._config(scope.workspace)
        for label in sorted({*labels} & {*self.periods(scope, grain)}):
            period = Period(calendar_of(grain), label)
            if not expired(
                period, config.limit(period.grain), self._clock(), config.zone
            ):
                self.too_young.append((scope, period))
            if isinstance(grain, Grain):  # experience is summed up nowhere
                self.unsealed += [
                    (scope, period, id_)
                    for id_ in self._missing_above(scope, period)
                ]
        count = self._inner.delete_periods(scope, grain, labels)
        self.deleted += count
        return count

    def _missing_above(self, scope: Scope, period: Period) -> list[str]:
        """The period's records of which no summary above says that it was made from them."""
        parent = period.parent()
        if parent is None:
            return []
        known = set().union(*self._summed_up.get((scope, parent), {}).values())
        records = self.in_period(scope, period.grain, period.label)
        return [
            r.id for r in records if (r.id, r.fingerprint[:16]) not in known
        ]


@dataclass(frozen=True, slots=True)
class Trouble:
    """How often things go wrong, as probabilities."""

    twice: float = 0.0
    held: float = 0.0
    missed: float = 0.0
    model: float = 0.0
    storage: float = 0.0


SETTLED = 0.15
"""How much is held back around a cleanup pass, so that late words meet the deletion on its way."""

CALM = Trouble()
ROUGH = Trouble(twice=0.15, held=0.1, missed=0.25, model=0.2, storage=0.01)


class FifoQueue:
    """A Queue that delivers each group in order, and the groups in any: some twice, some much later."""

    def __init__(
        self, clock: Callable[[], datetime], rng: random.Random
    ) -> None:
        self._clock, self._rng = clock, rng
        self._groups: dict[str, deque[Delivery]] = {}
        self._sent: dict[str, datetime] = {}
        self._count = 0
        self.disorder: list[str] = []
        self.repeated = self.returned = 0
        self.stores: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    @property
    def waiting(self) -> dict[str, list[Delivery]]:
        """What has not been handled yet, by group."""
        return {group: list(found) for group, found in self._groups.items()}

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        now, before = self._clock(), self._sent.get(deduplication_id)
        if before is not None and now - before < DEDUPLICATED:
            return
        self._sent[deduplication_id] = now
        self._count += 1
        self.stores.add((group, _addressed(body)))
        self._groups.setdefault(group, deque()).append(
            Delivery(str(self._count), body, group)
        )

    def drain(
        self,
        handle: Callable[[list[Delivery]], Sequence[Delivery]],
        trouble: Trouble,
    ) -> None:
        """Deliver everything but what is held back; what is returned or forgotten comes again."""
        held = {
            group
            for group in sorted(self._groups)
            if self._rng.random() < trouble.held
        }
        while ready := sorted(self._groups.keys() - held):
            batch = self._batch(ready)
            returned = {delivery.id for delivery in handle(batch)}
            self._check_order(batch, returned)
            self.returned += len(returned)
            if self._rng.random() < trouble.twice:
                self.repeated += len(batch)
            else:
                self._settle({delivery.id for delivery in batch} - returned)

    def _batch(self, ready: list[str]) -> list[Delivery]:
        self._rng.shuffle(ready)
        batch: list[Delivery] = []
        for group in ready:
            batch += list(self._groups[group])[: self._rng.randint(1, BATCH)]
            if len(batch) >= BATCH:
                break
        return batch

    def _check_order(
        self, batch: Sequence[Delivery], returned: set[str]
    ) -> None:
        """In each group what is returned must be all from the first failure on."""
        for group in {delivery.group for delivery in batch}:
            fates = [
                delivery.id in returned
                for delivery in batch
                if delivery.group == group
            ]
            if fates != sorted(fates):
                self.disorder.append(group)

    def _settle(self, done: set[str]) -> None:
        for group, waiting in list(self._groups.items()):
            while waiting and waiting[0].id in done:
                waiting.popleft()
            if not waiting:
                del self._groups[group]


def _addressed(body: str) -> str:
    """Which store a message is for: `workspace/agent/grain`, or the graph's; empty for other queues'."""
    if (
        '"type":"records"' not in body
        and '"type":"triples"' not in body
        and '"type":"expire"' not in body
    ):
        return ""
    value = json.loads(body)
    if "payload" in value:
        return ""
    return f"{value['workspaceId']}/{value['agentId']}/{value.get('grain', 'graph')}"


class SimulatedParts:
    """The ports of a simulation: all in memory or given, with queues to drain by hand."""

    def __init__(
        self,
        clock: SetClock,
        rng: random.Random,
        trouble: Trouble,
        **given: Any,
    ) -> None:
        self.objects = given.get("objects") or CountingObjects()
        self.records = WatchedRecords(
            given.get("records") or InMemoryRecords(), clock, self.config
        )
        self.records.fails = lambda: rng.random() < trouble.storage
        self.graph = InMemoryGraph()
        self.letters = InMemoryDeadLetters()
        self.ingest_queue = FifoQueue(clock, rng)
        self.write_queue = FifoQueue(clock, rng)
        self.summary_queue = FifoQueue(clock, rng)
        self.scripted = ScriptedSummarizer()
        self.flaky = FlakySummarizer(
            self.scripted, rng, 1 / trouble.model if trouble.model else 0
        )
        boxes = given.get("dead_letter_boxes")
        urls = {f"VARVE_{name}_QUEUE_URL": name for name in QUEUES}
        environment = {
            **urls,
            "VARVE_DEFAULT_PLAN": "free",
        }  # as the template sets it
        self.driver = open_driver(
            environment, now=clock, objects=self.objects, records=self.records,
            stores=self.records, graph=self.graph, ingest_queue=self.ingest_queue,
            write_queue=self.write_queue, summary_queue=self.summary_queue,
            dead_letters=self.letters, embedder=HashEmbedder(), summarizer=self.flaky,
            extractor_of=_extractor_of, configs=given.get("configs") or {},
            **({"dead_letter_boxes": boxes} if boxes else {}),
        )  # fmt: skip

    def config(self, workspace: str) -> WorkspaceConfig:
        return self.driver.config(workspace)


def _extractor_of(agent: str) -> Any:
    return RuleExtractor() if agent in CORPUS_AGENTS else StatementExtractor()


class Simulation:
    """An application, its clock and its queues, driven by hand or night by night."""

    def __init__(
        self,
        configs: Mapping[str, WorkspaceConfig],
        start: datetime,
        seed: int = 0,
        trouble: Trouble = CALM,
        **given: Any,
    ) -> None:
        self.clock, self.rng, self.trouble = (
            SetClock(start),
            random.Random(seed),
            trouble,
        )
        self.parts = SimulatedParts(
            self.clock, self.rng, trouble, configs=dict(configs), **given
        )
        self.app = self.parts.driver
        self.missed = 0

    def ingest(self, conversations: Sequence[Mapping[str, Any]]) -> None:
        """Put conversations on the ingest queue."""
        self.app.ingest(
            [parse_conversation(one) for one in conversations], self.clock.now
        )

    def drain(self, trouble: Trouble | None = None) -> None:
        """Let every queue run dry, but for what is held back."""
        trouble = self.trouble if trouble is None else trouble
        parts = self.parts
        parts.ingest_queue.drain(self.app.extract, trouble)
        parts.write_queue.drain(
            lambda batch: self.app.write(batch).returned, trouble
        )
        self._work(trouble)
        parts.write_queue.drain(
            lambda batch: self.app.write(batch).returned, trouble
        )

    def _work(self, trouble: Trouble) -> None:
        queue = self.parts.summary_queue
        queue.drain(lambda batch: self.app.work(batch).returned, trouble)

    def plan(self, grain: Grain, at: datetime) -> int:
        """One schedule's pass and the work it makes; how many periods were planned."""
        self.clock.now = at
        planned = self.app.plan(grain, at).planned
        self.drain()
        return planned

    def clean(self, at: datetime) -> None:
        """One cleanup pass and its work; what was on its way is there before, and what it sends after."""
        self.clock.now = at
        self.drain(replace(self.trouble, held=SETTLED))
        self.app.clean(at)
        self._work(self.trouble)
        self.drain(replace(self.trouble, held=SETTLED))

    def night(self, day: date) -> Iterator[datetime]:
        """The six passes of a night, each missed now and then; their times as they come."""
        for name, at in passes(day):
            yield at
            if self.rng.random() < self.trouble.missed:
                self.missed += 1
            elif name == "cleanup":
                self.clean(at)
            else:
                self.plan(Grain(name), at)

    def catch_up(
        self, at: datetime, step: timedelta = timedelta(days=1), most: int = 20
    ) -> datetime:
        """All passes, none missed and the model well, until nothing is left to do; when that was."""
        self.trouble = CALM
        self.parts.flaky.one_in = 0
        self.parts.records.fails = lambda: False
        self.drain()
        for _ in range(most):
            planned = sum(self.plan(grain, at) for grain in SUMMARY_GRAINS)
            self.clean(at)
            if not planned:
                self.drain()
                return at
            at += step
        raise AssertionError(
            f"still planning after {most} rounds of catching up"
        )


def passes(day: date) -> list[tuple[str, datetime]]:
    """The schedules of template.yaml in one night, in UTC: daily, four coarser grains and cleanup."""
    times = [(1, 10), (2, 40), (3, 10), (3, 40), (4, 10)]
    at = [
        datetime.combine(day, time(*each), UTC) for each in [*times, (5, 10)]
    ]
    return list(zip([*map(str, SUMMARY_GRAINS), "cleanup"], at, strict=True))


@dataclass(frozen=True, slots=True)
class Speaker:
    """An agent that is talked to: how often, how late its conversations may come, and in which zone."""

    scope: Scope
    zone: ZoneInfo
    share_of_days: float
    latest_days: int
    until: date


@dataclass(frozen=True, slots=True, order=True)
class Arrival:
    """A conversation as it comes in at a time: whole, begun or again."""

    at: datetime
    conversation: dict[str, Any] = field(compare=False)


def traffic(
    speaker: Speaker, first: date, days: int, rng: random.Random
) -> Iterator[Arrival]:
    """The conversations of one agent, some sent again, some grown by a message, some days late."""
    for number in range(days):
        day = first + timedelta(days=number)
        if day > speaker.until or rng.random() >= speaker.share_of_days:
            continue
        for index in range(rng.choice((1, 1, 1, 2))):
            yield from _arrivals(speaker, day, f"c-{day}-{index}", rng)


def _arrivals(
    speaker: Speaker, day: date, name: str, rng: random.Random
) -> Iterator[Arrival]:
    whole = _conversation(speaker, day, name, rng)
    last = _ends(whole)
    late = (
        timedelta(days=rng.randint(1, speaker.latest_days))
        if rng.random() < 0.12
        else timedelta(0)
    )
    came = last + late + timedelta(minutes=rng.randint(0, 30))
    draw = rng.random()
    if draw < 0.1:
        begun = {**whole, "messages": whole["messages"][:-1]}
        yield Arrival(came, begun)
        yield Arrival(came + timedelta(hours=rng.randint(1, 30)), whole)
    else:
        yield Arrival(came, whole)
        if draw < 0.2:
            yield Arrival(came + timedelta(hours=rng.randint(0, 48)), whole)


def _conversation(
    speaker: Speaker, day: date, name: str, rng: random.Random
) -> dict[str, Any]:
    """Two to five messages, at any hour of the local day, seldom over midnight."""
    at = datetime.combine(
        day, time(rng.randint(0, 23), rng.randint(0, 59)), speaker.zone
    ).astimezone(UTC)
    user = rng.choice(("Dana", "Dana", "Marco"))
    messages = []
    for index in range(rng.randint(2, 5)):
        role, said = (
            ("assistant", "Noted.") if index % 2 else ("user", _said(rng))
        )
        at += timedelta(minutes=rng.randint(0, 9))
        given = {
            "id": f"{name}.m{index}",
            "role": role,
            "content": said,
            "timestamp": iso(at),
        }
        messages.append(given | ({"name": user} if role == "user" else {}))
    identity = {
        "workspaceId": speaker.scope.workspace,
        "agentId": speaker.scope.agent,
    }
    return {
        **identity,
        "conversationId": name,
        "userId": f"u-{user.lower()}",
        "messages": messages,
    }


def _said(rng: random.Random) -> str:
    thing, other = rng.sample(THINGS.split(), 2)
    return rng.choice(
        (
            f"I like {thing} {rng.randint(1, 99)} times a week.",
            f"Did {thing} go with {other}?",
            f"No {thing}!",
        )
    )


def _ends(conversation: Mapping[str, Any]) -> datetime:
    return times_of(conversation)[-1]


def times_of(conversation: Mapping[str, Any]) -> list[datetime]:
    """When each of its messages was said."""
    started = conversation.get("startedAt")
    return [
        parse_instant(m.get("timestamp") or started)
        for m in conversation["messages"]
    ]


def corpus(first: date, days: int) -> list[Arrival]:
    """The corpus's conversations that lie within these days, as they came."""
    since = datetime.combine(first, time.min, UTC)
    files = [
        path
        for path in sorted(CORPUS.glob("*.json"))
        if path.name != "questions.json"
    ]
    told = [
        conversation
        for path in files
        for conversation in json.loads(path.read_text("utf-8"))
    ]
    within = (
        c
        for c in told
        if since <= times_of(c)[0] and _ends(c) < since + timedelta(days)
    )
    return [Arrival(_ends(c), c) for c in within]
