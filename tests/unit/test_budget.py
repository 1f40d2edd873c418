"""The budget for models: what rules read while it is spent, the model reads afterwards."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import raw_message
from tests.support.drivers import driver_of, open_driver, open_memory
from tests.support.model_replies import messages_of
from tests.support.traffic import CALM, FifoQueue, HashEmbedder
from varve.adapters.in_memory import (
    InMemoryDeadLetters,
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.cli.main import main
from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, digest
from varve.usecases.ingest.waiting import waiting_agents

ACME = Scope("acme", "support")
START = datetime(2026, 11, 2, 9, tzinfo=UTC)
END = START + timedelta(days=60)
LONG = " The rain fell on the roofs of the old town again." * 30
SAID = (
    "I moved to Lisbon.",
    "My dog is called Rufo.",
    "I work at Kestrel Logistics." + LONG,
    "I like fado." + LONG,
)


class ScriptedLLM:
    """A model that says of each message what no rule says, and notes its prompts
    but for comparisons of statements."""

    model = "gpt-4o-mini"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def complete(self, _system: str, user: str, reply: Any) -> Any:
        if "<new>" in user:
            return reply(verdicts=[])
        self.prompts.append(user)
        if "<sources>" in user:
            lists: dict[str, Any] = {
                "people": [],
                "topics": [],
                "open_questions": [],
            }
            return reply(summary=f"Model {digest(user, length=8)}.", **lists)
        request = {"messages": [{"content": user}]}
        said = [(one["id"], one["text"][:20]) for one in messages_of(request)]
        return reply.model_validate(
            {
                "facts": [self._fact(id_, text) for id_, text in said],
                "triples": [self._triple(id_, text) for id_, text in said],
            }
        )

    def _fact(self, id_: str, text: str) -> dict[str, Any]:
        judged = {"importance": 0.7, "confidence": 0.9, "message_ids": [id_]}
        return {
            "content": f"Model: {text}",
            "about": "Dana",
            "event_time": None,
            **judged,
        }

    def _triple(self, id_: str, text: str) -> dict[str, Any]:
        return {
            "op": "ADD",
            "subject": "Dana",
            "predicate": "mentions",
            "object": text,
            "event_time": None,
            "confidence": 0.9,
            "message_ids": [id_],
            "replaces": None,
        }


class Agent:
    """A memory over in-memory ports, its model and its clock."""

    def __init__(self) -> None:
        self.now = START
        self.llm = ScriptedLLM()
        records = InMemoryRecords()
        self.memory = open_memory(
            ACME,
            now=lambda: self.now,
            environment={"VARVE_LLM": "openai:gpt-4o-mini"},
            objects=InMemoryObjects(),
            records=records,
            stores=records,
            graph=InMemoryGraph(),
            embedder=HashEmbedder(),
            llm=self.llm,
        )
        self.lengths: dict[str, list[dict[str, Any]]] = {}

    def say(self, conversation: str, text: str) -> None:
        said = self.lengths.setdefault(conversation, [])
        said.append(raw_message(text, id=f"{conversation}-{len(said)}"))
        said[-1]["timestamp"] = self.now.isoformat()
        given = {
            "conversationId": conversation,
            "userId": "u-1",
            "messages": said,
        }
        self.memory.ingest(given)

    def spend_all(self) -> None:
        self.memory.configure("budget.models", "0 USD")

    def raise_budget(self) -> None:
        self.memory.configure("budget.models", "20 USD")

    def state(self) -> dict[str, Any]:
        """Return facts, triples, profile, summaries and due periods."""
        driver = driver_of(self.memory)
        reader = driver.records.at(ACME)
        found: dict[str, Any] = {}
        for grain in Grain:
            rows = []
            for label in reader.periods(ACME, grain):
                for one in reader.in_period(ACME, grain, label):
                    created = (
                        one.created_at if grain is Grain.WORKING else None
                    )
                    rows.append((one.id, one.content, one.period, created))
            found[grain] = sorted(rows)
        found["triples"] = sorted(map(repr, driver.graph.triples(ACME)))
        found["profile"] = json.dumps(
            self.memory.profile(user_id="u-1"), sort_keys=True
        )
        found["due"] = driver.ledger.pending(ACME)
        return found


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("say"), st.integers(0, 2), st.integers(0, len(SAID) - 1)
        ),
        st.just(("spend",)),
        st.just(("raise",)),
        st.just(("summarize",)),
        st.tuples(st.just("wait"), st.integers(1, 9)),
    ),
    min_size=2,
    max_size=14,
)


@given(STEPS)
def test_after_catching_up_all_is_as_if_the_model_had_been_there(
    steps: list[tuple[Any, ...]],
) -> None:
    always, sometimes = Agent(), Agent()
    for name, *values in steps:
        for agent in (always, sometimes):
            if name == "say":
                agent.say(f"c-{values[0]}", SAID[values[1]])
            elif name == "wait":
                agent.now += timedelta(days=values[0])
            elif name == "summarize":
                agent.memory.summarize()
        if name == "spend":
            sometimes.spend_all()
        elif name == "raise":
            sometimes.raise_budget()
    sometimes.raise_budget()
    sometimes.memory.catch_up()
    for agent in (always, sometimes):
        agent.now = max(agent.now, END)
        agent.memory.summarize()
    assert sometimes.state() == always.state()
    assert len(sometimes.llm.prompts) == len({*sometimes.llm.prompts})
    assert waiting_agents(driver_of(sometimes.memory).objects) == []


@pytest.fixture
def agent() -> Agent:
    return Agent()


def test_without_a_budget_the_words_are_kept_and_rules_read_them(
    agent: Agent,
) -> None:
    agent.spend_all()
    agent.say("c-1", SAID[0])
    assert agent.llm.prompts == []
    contents = {
        one.content for one in agent.memory.search(max_results=50).results
    }
    assert any("Lisbon" in content for content in contents)
    assert not any(content.startswith("Model") for content in contents)
    status = agent.memory.status()
    assert status["waiting"] == 1
    assert status["budget"] == {
        "month": "2026-11",
        "limit": 0.0,
        "spent": 0.0,
        "isSpent": True,
    }


def test_a_catch_up_without_a_budget_leaves_all_for_later(
    agent: Agent,
) -> None:
    agent.spend_all()
    agent.say("c-1", SAID[0])
    assert agent.memory.catch_up()["left"] == 1
    assert agent.llm.prompts == []


def test_nothing_is_read_twice(agent: Agent) -> None:
    agent.spend_all()
    agent.say("c-1", SAID[0])
    agent.raise_budget()
    assert agent.memory.catch_up()["messages"] == 1
    assert agent.memory.catch_up()["messages"] == 0
    agent.say("c-2", SAID[1])
    assert len(agent.llm.prompts) == 2


def test_a_catch_up_that_was_killed_calls_no_model_again(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.spend_all()
    agent.say("c-1", SAID[0])
    agent.raise_budget()

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("varve.usecases.ingest.catching_up.remove_marks", die)
        with pytest.raises(KeyboardInterrupt):
            agent.memory.catch_up()
    assert agent.memory.catch_up()["messages"] == 1
    assert len(agent.llm.prompts) == 1


def test_words_forgotten_while_they_wait_do_not_come_back(
    agent: Agent,
) -> None:
    agent.spend_all()
    agent.say("c-1", SAID[0])
    agent.memory.forget(conversation="c-1")
    agent.raise_budget()
    agent.memory.catch_up()
    assert agent.llm.prompts == []
    assert agent.memory.search(max_results=50).results == []
    assert agent.memory.status()["waiting"] == 0


def test_what_was_spent_counts_before_it_is_folded(agent: Agent) -> None:
    agent.memory.configure("budget.models", "0.1 USD")
    agent.say("c-1", SAID[0])
    assert len(agent.llm.prompts) == 1
    meter = agent.memory.sessions.meter
    with meter.serve(ACME, "extract", agent.now):
        meter.add("tokensIn:gpt-4o-mini", 1_000_000)
    agent.say("c-1", SAID[1])
    agent.memory.close()
    agent.say("c-1", SAID[1])
    assert len(agent.llm.prompts) == 1
    agent.now = datetime(2026, 12, 1, 9, tzinfo=UTC)  # a new calendar month
    agent.say("c-1", SAID[1])
    assert len(agent.llm.prompts) == 2


def test_behind_queues_a_schedule_has_the_words_read(monkeypatch: Any) -> None:
    now = START
    llm = ScriptedLLM()
    rng = random.Random(0)
    queues = {
        name: FifoQueue(lambda: now, rng)
        for name in ("ingest", "write", "summary")
    }
    urls = {f"VARVE_{name.upper()}_QUEUE_URL": name for name in queues}
    records = InMemoryRecords()
    driver = open_driver(
        {**urls, "VARVE_LLM": "openai:gpt-4o-mini"},
        now=lambda: now,
        objects=InMemoryObjects(),
        records=records,
        stores=records,
        graph=InMemoryGraph(),
        embedder=HashEmbedder(),
        llm=llm,
        dead_letters=InMemoryDeadLetters(),
        **{f"{name}_queue": queue for name, queue in queues.items()},
    )
    monkeypatch.setattr("varve.usecases.work.MOST_IN_ONE_RUN", 1)

    def drain() -> None:
        queues["ingest"].drain(driver.extract, CALM)
        queues["summary"].drain(
            lambda batch: driver.work(batch).returned, CALM
        )
        queues["write"].drain(lambda batch: driver.write(batch).returned, CALM)

    memory = driver.memory(ACME)
    memory.configure("budget.models", "0 USD")
    for number in range(3):
        said = [raw_message(SAID[0], id=f"m-{number}")]
        memory.ingest({"conversationId": f"c-{number}", "messages": said})
    drain()
    assert driver.catch_up(now).planned == 1
    drain()
    assert llm.prompts == []
    memory.configure("budget.models", "20 USD")
    now += timedelta(days=1)
    assert driver.catch_up(now).planned == 1
    drain()
    assert len(llm.prompts) == 3
    facts = {
        one.content for one in memory.search(memory_types=["fact"]).results
    }
    assert facts == {"Model: I moved to Lisbon."}
    assert driver.catch_up(now).planned == 0


def test_a_budget_is_an_amount_of_dollars(agent: Agent) -> None:
    with pytest.raises(Rejected, match=r"budget\.models"):
        agent.memory.configure("budget.models", "much")


def test_the_command_catches_up_and_takes_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "store")]
    assert main(["ingest", "--catch-up", *store]) == 0
    assert "read 0 messages" in capsys.readouterr().out
    for wrong in (["--catch-up", "x.json"], []):
        with pytest.raises(SystemExit) as stopped:
            main(["ingest", *wrong, *store])
        assert stopped.value.code == 2
