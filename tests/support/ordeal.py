"""One seeded run of the deployment under faults, and the checker that compares it with a plain memory."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import urlsplit

from tests.support.deployment import Deployment, deployed
from tests.support.drivers import Driver, open_driver
from tests.support.fault_proxy import CALM, FaultProxy, Kill, Plan
from tests.support.install import Image
from tests.support.model_replies import messages_of
from tests.support.model_server import ModelServer, Request, prompt
from tests.support.moto_template import Template
from tests.support.runtime_api import FunctionError, LambdaProcess
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.calendar import Grain
from varve.domain.conversation import parse_conversation
from varve.domain.identity import Scope
from varve.domain.record import Record, turn_id

FUNCTIONS = ("ExtractFunction", "WriteFunction", "SummarizeFunction")
FORGETTING = ("WriteFunction", "ForgetFunction", "ExtractFunction")
MOMENTS = ("between", "waiting", "written", "some summaries", "all summaries")
"""When a user is forgotten: between two conversations, before the queues have worked, after it …"""
QUEUES = ("IngestQueue", "WriteQueue", "WorkQueue")
GRAINS = (Grain.WORKING, Grain.DAILY, Grain.WEEKLY)
AGENTS = ("support", "sales")
FORGETFUL, FORGOTTEN = "support", "u-dana"
FAULT_RATE = 0.04
KILLED = 0.5
LAST_REQUEST_TO_DIE_AT = 60
SPOKEN, PLANNED = "2026-03-0{}", datetime(2027, 1, 4, 1, 10, tzinfo=UTC)
MODEL = "openai:test-model"
OWN_KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "",
}
"""Those of another S3 server than moto, which checks signatures."""
CITIES = ["Porto", "Lisbon", "Graz", "Linz", "Oslo", "Turin"]


def narrator(request: Request) -> dict[str, Any]:
    """A model that makes one fact of each user message, a triple of each move, and repeats its sources."""
    sources = re.search(
        r"<sources>\n(.*?)\n</sources>", prompt(request), re.DOTALL
    )
    if sources:
        lines = [json.loads(line)["text"] for line in sources[1].splitlines()]
        return {
            "summary": "\n".join(lines),
            "people": ["Dana"],
            "topics": [],
            "open_questions": [],
        }
    said = [
        message
        for message in messages_of(request)
        if message["role"] == "user"
    ]
    return {
        "facts": [_fact(each) for each in said],
        "triples": [t for each in said for t in _moves(each)],
    }


def _fact(message: Mapping[str, str]) -> dict[str, Any]:
    told = {
        "content": f"{message['speaker']} said: {message['text']}",
        "about": message["speaker"],
    }
    return {
        **told,
        "event_time": _day(message),
        **_judged(message),
        "importance": 0.6,
    }


def _moves(message: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for city in re.findall(r"moved to (\w+)", message["text"]):
        triple = {
            "op": "UPDATE",
            "subject": message["speaker"],
            "predicate": "lives_in",
            "object": city,
        }
        yield {
            **triple,
            "event_time": _day(message),
            **_judged(message),
            "replaces": None,
        }


def _judged(message: Mapping[str, str]) -> dict[str, Any]:
    return {"confidence": 0.9, "message_ids": [message["id"]]}


def _day(message: Mapping[str, str]) -> str:
    return re.findall(r"\d{4}-\d\d-\d\d", message["said"])[0]


def conversations(
    seed: int, workspace: str, *, shared: bool = False
) -> list[dict[str, Any]]:
    """Some conversations of one week, in the order in which they arrive: some begun first, some repeated.

    In a shared one several users speak.
    """
    rng = Random(f"conversations of {seed}")
    arriving: list[dict[str, Any]] = []
    for number in range(rng.randint(2, 4)):
        whole = _conversation(rng, workspace, f"c{number}")
        if shared:
            whole = _shared(rng, whole)
        begun = {
            **whole,
            "messages": whole["messages"][
                : rng.randint(1, len(whole["messages"]))
            ],
        }
        arriving += [begun, whole] if rng.random() < 0.4 else [whole]
        if rng.random() < 0.3:
            arriving.append(rng.choice(arriving))
    return arriving


def _conversation(rng: Random, workspace: str, name: str) -> dict[str, Any]:
    day, speaker = (
        SPOKEN.format(rng.randint(2, 6)),
        rng.choice(("Dana", "Marco")),
    )
    said = (
        f"I moved to {rng.choice(CITIES)}.",
        f"Ticket {rng.randint(100, 999)} is open.",
        "Why is that?",
    )
    messages = [
        {
            "id": f"{name}-m{n}",
            "name": speaker,
            "role": "user",
            "content": rng.choice(said),
        }
        | {"timestamp": f"{day}T09:{n:02}:00Z"}
        for n in range(1, rng.randint(2, 4))
    ]
    identity = {
        "workspaceId": workspace,
        "agentId": rng.choice(AGENTS),
        "conversationId": name,
    }
    return {**identity, "userId": f"u-{speaker.lower()}", "messages": messages}


def _shared(rng: Random, conversation: dict[str, Any]) -> dict[str, Any]:
    """The same words, each said by one of two users."""
    messages = []
    for message in conversation["messages"]:
        speaker = rng.choice(("Dana", "Marco"))
        own = {"name": speaker, "userId": f"u-{speaker.lower()}"}
        messages.append({**message, **own})
    return {**conversation, "messages": messages}


def without_forgotten(
    told: Sequence[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """The conversations as they are where the forgotten user never was."""
    for conversation in told:
        if conversation["agentId"] != FORGETFUL:
            yield conversation
            continue
        others = [
            message
            for message in conversation["messages"]
            if message.get("userId", conversation["userId"]) != FORGOTTEN
        ]
        if others:
            yield {**conversation, "messages": others}


def _grown(conversation: dict[str, Any]) -> dict[str, Any]:
    """The conversation as it was, and one message more of the same day."""
    last = conversation["messages"][-1]
    day, name = (
        last["timestamp"].partition("T")[0],
        conversation["conversationId"],
    )
    more = {
        **last,
        "id": f"{name}-more",
        "content": "Ticket 7 is closed.",
        "timestamp": f"{day}T17:00:00Z",
    }
    return {**conversation, "messages": [*conversation["messages"], more]}


def plain_memory(model: ModelServer) -> Driver:
    """The real model behind everything, and everything in plain memory."""
    records = InMemoryRecords()
    return open_driver(
        {**model.environment, "VARVE_LLM": MODEL}, now=PLANNED, objects=InMemoryObjects(),
        records=records, stores=records, graph=InMemoryGraph(),
    )  # fmt: skip


@dataclass
class Ordeal:
    """A deployment whose functions call everything through proxies, and the figures of all its runs.

    `unproved` are the erasures whose proof names a store that keeps files of a failed write.
    """

    deployment: Deployment
    proxies: Mapping[str, tuple[FaultProxy, ...]]
    model: ModelServer
    real: Driver
    runs: int = 0
    messages: int = 0
    kills: int = 0
    letters: int = 0
    unproved: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[str, str, str]] = field(default_factory=list)

    def run(
        self, seed: int, *, rate: float = FAULT_RATE, only: str | None = None
    ) -> list[str]:
        """Play one seed, with all faults and a kill or with one fault `only`; what is wrong at the end."""
        plan = Plan(
            seed, rate, _kill(seed) if rate and not only else None, only
        )
        workspace = f"{only or 'seed'}-{seed}"
        told = conversations(seed, workspace)
        self._break(plan)
        for conversation in told:
            self.deployment.ingest(conversation)
        self.deployment.run()
        self._night(workspace)
        wrong = self._wrong_letters(told)
        self._break(CALM)
        self._redrive()
        self._night(workspace)
        self.runs += 1
        self.messages += sum(len(each["messages"]) for each in told)
        self.faults += plan.log
        return wrong + self._differences(workspace, told)

    def forget(self, seed: int) -> list[str]:
        """Play one seed in which an agent forgets a user at one of the `MOMENTS`; what is wrong.

        The queues are at work meanwhile. After it all is said again, and more; once all is calm the same
        is asked again, with a proof.
        """
        plan = Plan(seed, FAULT_RATE, _kill(seed, FORGETTING))
        workspace = f"forgetting-{seed}"
        told = conversations(seed, workspace, shared=seed % 2 == 0)
        moment = Random(f"moment of {seed}").choice(MOMENTS)
        self.moments[moment] += 1
        first = len(told) // 2 if moment == "between" else len(told)
        self._break(plan)
        for conversation in told[:first]:
            self.deployment.ingest(conversation)
        self._reach(moment, workspace)
        self._erase(workspace)
        whole = {each["conversationId"]: each for each in told}
        # A summary of expired days that grows repeats what it has; the plain one is made once.
        grows = not moment.endswith("summaries")
        again = [_grown(each) if grows else each for each in whole.values()]
        for conversation in (*told[first:], *again):
            self.deployment.ingest(conversation)
        self.deployment.run()
        self._night(workspace)
        self._break(CALM)
        self._redrive()
        done = self._erase(workspace, verify=True)
        self._night(workspace)
        self.runs += 1
        self.messages += sum(len(each["messages"]) for each in (*told, *again))
        self.faults += plan.log
        kept = list(without_forgotten([*told, *again]))
        return self._remains(workspace, done) + self._differences(
            workspace, kept, places=False
        )

    def _reach(self, moment: str, workspace: str) -> None:
        """Let the deployment work until the moment of the erasure."""
        if moment in ("between", "waiting"):
            return
        self.deployment.run()
        if moment == "some summaries":
            self._fire("daily", PLANNED.strftime("%Y-%m-%dT%H:%M:%SZ"))
            self.deployment.run()
        if moment == "all summaries":
            self._night(workspace)

    def _erase(self, workspace: str, **more: Any) -> dict[str, Any] | None:
        """ForgetFunction's answer, with the queues at work meanwhile; None where it fails again and again."""
        event = {
            "workspaceId": workspace,
            "agentId": FORGETFUL,
            "user": FORGOTTEN,
            **more,
        }
        for _ in range(5):
            with ThreadPoolExecutor(1) as threads:
                answer = threads.submit(
                    self.deployment.functions["ForgetFunction"].invoke, event
                )
                while not answer.done():
                    self.deployment.poller.round()
            with suppress(FunctionError):
                return dict(answer.result())
        return None

    def _remains(
        self, workspace: str, done: dict[str, Any] | None
    ) -> list[str]:
        """What the proof found of the forgotten, and the agent's objects that tell of them, by any of both.

        A write that failed leaves files that stay for 15 minutes; then the proof has to name their store. The
        store's rows must not tell of the forgotten all the same: the proof names them by the store alone.
        """
        if done is None:
            return ["could not be forgotten"]
        proof, name = done["verification"], FORGOTTEN.encode()
        self.unproved += proof["proved"] is False
        keys = [
            key
            for key in self.deployment.keys("")
            if f"/{workspace}/{FORGETFUL}" in key
        ]

        def is_named(key: str) -> bool:
            """Whether it lies in a store of which the proof says that such files are left."""
            return any(f"{store}/" in key for store in proof["remains"])

        telling = [
            key
            for key in keys
            if name in key.encode() + self.deployment.read(key)
        ]
        return [
            f"{key} tells of {FORGOTTEN}"
            for key in (*proof["foundIn"], *telling)
            if not is_named(key)
        ]

    def _break(self, plan: Plan) -> None:
        for proxies in self.proxies.values():
            for proxy in proxies:
                proxy.start(plan)

    def _night(self, workspace: str, most: int = 8) -> None:
        """The daily and the weekly schedule, again a day later while something is left to do."""
        for number in range(most):
            at = PLANNED + timedelta(days=number)
            for grain in ("daily", "weekly"):
                self._fire(grain, at.strftime("%Y-%m-%dT%H:%M:%SZ"))
                self.deployment.run()
            if not self._due(workspace):
                return

    def _fire(self, grain: str, at: str) -> None:
        """A schedule that fails is invoked again, as EventBridge does."""
        for _ in range(5):
            try:
                self.deployment.fire(grain, at)
                return
            except FunctionError:
                continue

    def _due(self, workspace: str) -> list[str]:
        """The days and weeks of this workspace that wait for a summary."""
        due = (
            key
            for key in self.deployment.keys(
                f"{self.deployment.root}ledger/due/"
            )
        )
        return [
            key
            for key in due
            if f"/{workspace}/" in key
            and ("/daily/" in key or "/weekly/" in key)
        ]

    def _wrong_letters(self, told: list[dict[str, Any]]) -> list[str]:
        """Dead letters without a reason, and messages that are neither in memory nor in a dead letter."""
        letters = [
            letter
            for queue in QUEUES
            for letter in self.deployment.poller.dead_letters(queue)
        ]
        self.letters += len(letters)
        bodies = "\n".join(str(letter["body"]) for letter in letters)
        held = {
            agent: {r.id for r in self._records(told[0]["workspaceId"], agent)}
            for agent in AGENTS
        }
        return [
            f"{each['conversationId']}/{message['id']} is neither in memory nor in a dead letter"
            for each in told
            for message in each["messages"]
            if turn_id(each["conversationId"], message["id"])
            not in held[each["agentId"]]
            and each["conversationId"] not in bodies
        ]

    def _redrive(self) -> None:
        """Send dead letters again, now that all is calm."""
        poller = self.deployment.poller
        for queue in QUEUES:
            dead = self.deployment.stack.dead_letters_of(queue).logical_id
            for number, letter in enumerate(poller.take(dead)):
                attributes = letter["attributes"]
                name = f"again-{self.runs}-{number}-{letter['messageId']}"
                poller.send(
                    queue, letter["body"], attributes["MessageGroupId"], name
                )
        self.deployment.run()

    def _differences(
        self,
        workspace: str,
        told: list[dict[str, Any]],
        *,
        places: bool = True,
    ) -> list[str]:
        """Where this memory differs from one that heard the same in plain memory, without a fault.

        After an erasure the messages that stay keep their places, which leaves gaps.
        """
        plain = plain_memory(self.model)
        for conversation in told:
            plain.ingest([parse_conversation(conversation)])
        wrong = [f"{key} is still due" for key in self._due(workspace)]
        for agent in AGENTS:
            scope = Scope(workspace, agent)
            plain.summarize(scope, [Grain.DAILY, Grain.WEEKLY], PLANNED)
            expected = _said(plain, scope, places=places)
            found = _said(self.real, scope, places=places)
            wrong += [
                f"{scope} lost {one}" for one in sorted(expected - found)
            ]
            wrong += [
                f"{scope} made up {one}" for one in sorted(found - expected)
            ]
            wrong += self._doubled(scope)
        return wrong

    def _doubled(self, scope: Scope) -> list[str]:
        ids = [
            record.id for record in self._records(scope.workspace, scope.agent)
        ]
        return sorted(
            {f"{scope} has {id_} twice" for id_ in ids if ids.count(id_) > 1}
        )

    def _records(self, workspace: str, agent: str) -> list[Record]:
        return list(_records(self.real, Scope(workspace, agent)))


def _records(driver: Driver, scope: Scope) -> Iterator[Record]:
    for grain in GRAINS:
        for label in driver.records.periods(scope, grain):
            yield from driver.records.in_period(scope, grain, label)


def _said(
    driver: Driver, scope: Scope, *, places: bool
) -> set[tuple[str, ...]]:
    """Every record and triple, but for when it was learnt and, where asked, its place."""
    records = {
        (
            record.id,
            record.content,
            record.fingerprint
            if places
            else f"{record.user_id} {record.event_time}",
        )
        for record in _records(driver, scope)
    }
    triples = {
        (t.source_id, t.label, t.target_id, str(t.valid_at), str(t.invalid_at))
        for t in driver.graph.triples(scope)
    }
    return records | triples


def _kill(seed: int, functions: Sequence[str] = FUNCTIONS) -> Kill | None:
    rng = Random(f"kill of {seed}")
    if rng.random() >= KILLED:
        return None
    return Kill(
        rng.choice(functions),
        rng.randint(1, LAST_REQUEST_TO_DIE_AT),
        rng.random() < 0.5,
    )


@contextmanager
def ordeal(
    template: Template, image: Image, real: Any, s3: str | None = None
) -> Iterator[Ordeal]:
    """A deployment for any number of runs; `real` gives the driver that reads its store from outside.

    The store is on moto, or on the S3 server `s3`, which checks credentials as moto does not.
    """
    with ExitStack() as cleanup:
        model = cleanup.enter_context(ModelServer(narrator))
        proxies: dict[str, tuple[FaultProxy, ...]] = {}

        def own(stack: Any, function: str) -> dict[str, str]:
            addresses = (stack.endpoint, stack.clients.s3_endpoint)
            aws = FaultProxy(
                function, *(urlsplit(one).netloc for one in addresses)
            )
            llm = FaultProxy(function, model.address)
            proxies[function] = tuple(
                cleanup.enter_context(each) for each in (aws, llm)
            )
            return {
                "AWS_ENDPOINT_URL": aws.endpoint,
                "OPENAI_BASE_URL": f"{llm.endpoint}/v1",
            }

        given = {
            "parameters": {"Llm": MODEL},
            "overrides": {**model.environment, **(OWN_KEYS if s3 else {})},
            "own": own,
            "s3": s3,
        }
        deployment = cleanup.enter_context(deployed(template, image, **given))
        tried = Ordeal(
            deployment,
            {name: proxies[name] for name in {*FUNCTIONS, *FORGETTING}},
            model,
            real(deployment),
        )
        for function in tried.proxies:
            (process,) = deployment.functions[function].processes
            for proxy in proxies[function]:
                proxy.kill = _killer(tried, process)
        yield tried


def _killer(tried: Ordeal, process: LambdaProcess) -> Any:
    def kill() -> None:
        tried.kills += 1
        process.kill()

    return kill
