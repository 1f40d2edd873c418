"""Invariant 7 in earnest: many tenants who say the same in the same ids, and none sees another.

Two hundred by night, a hundred by day.

All tell the same story but for one word, a canary of their own. What comes back is searched for others'
canaries, and what is asked of S3 for others' keys: there each tenant signs with an access key of its
own, as it does with scoped credentials, and the server writes down who asked for what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.counting_s3 import BUCKET, CountingS3
from tests.support.builders import RecordingQueue, WordEmbedder
from tests.support.drivers import Driver, open_driver
from tests.support.hostile import HOSTILE
from tests.support.internals import fetch_in_parallel
from tests.support.nightly import choose
from tests.support.policies import allows, reaches, session_statements
from tests.support.usecase_drivers import run_plan
from varve import Memory
from varve.adapters.credentials.scoped import (
    TemporaryCredentials,
    records_policy,
)
from varve.adapters.in_memory import InMemoryDeadLetters
from varve.cli import main
from varve.domain.calendar import Grain, Period
from varve.domain.conversation import parse_conversation
from varve.domain.errors import Rejected, Retryable
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Report
from varve.domain.identity import Identity, Scope, digest
from varve.domain.search.query import parse_search_request
from varve.messages.tool_calls import ToolCall, answer_tool_call
from varve.messages.work import (
    CleanAgent,
    CurateAgent,
    SummarizePeriod,
    send_cleaning,
    send_curation,
    send_work,
)

pytestmark = pytest.mark.e2e

WORKSPACES = choose(by_day=10, by_night=20)
AGENTS, AT_ONCE = 10, 8
ROUNDS, KEYS = choose(by_day=(1, 60), by_night=(4, 300))
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
STORE = f"s3://{BUCKET}/memory"
HOURS = ("FOLDERS", "memory/ledger/expiry/")
"""The hours in which anything of anybody's expires: their names tell of nobody."""
OF_FORGETTING = {("FOLDERS", "memory/"), ("LIST", "memory/ledger/")}
"""What a proof of erasure lists, an administrator's: which areas there are, and the ledger's names."""
CANARY = re.compile(r"canary[a-p]{10}", re.IGNORECASE)


@dataclass(frozen=True)
class Tenant:
    """One agent of one workspace, and the word that it alone has been told."""

    scope: Scope

    @property
    def canary(self) -> str:
        """A word like a place's name, so that facts, triples and the profile hold it as well."""
        return "Canary" + "".join(
            chr(ord("a") + int(c, 16))
            for c in digest(str(self.scope), length=10)
        )

    @property
    def access_key(self) -> str:
        return str(self.scope).replace("/", ".of.")

    def conversation(self) -> dict[str, Any]:
        said = [
            f"I'm Dana and I live in {self.canary}.",
            "My sister Hannah likes sushi.",
            *HOSTILE[:4],
        ]
        messages = [
            {"id": f"m{n}", "role": "user", "name": "Dana", "content": text}
            | {"timestamp": f"2026-03-02T09:{n:02}:00Z"}
            for n, text in enumerate(said)
        ]
        return {
            "conversationId": "c-1",
            "userId": "u-42",
            "messages": messages,
        }

    def foreign_in(self, answer: object) -> set[str]:
        """Others' canaries in an answer."""
        text = (
            json.dumps(answer, default=str)
            if not isinstance(answer, str)
            else answer
        )
        return {found.lower() for found in CANARY.findall(text)} - {
            self.canary.lower()
        }


def tenants() -> list[Tenant]:
    """Their ids are chosen so that some are the beginnings of others, or look like other parts of a path."""
    names = [
        "w1",
        "w10",
        "w100",
        "w",
        "2026-03-02",
        "working",
        "daily",
        "memories.lance",
        "c-1",
        "ledger",
    ]
    workspaces = [
        *names,
        *(f"workspace-{n}" for n in range(WORKSPACES - len(names))),
    ]
    agents = [
        "a",
        "a1",
        "a10",
        "support",
        "c-1",
        "working",
        "2026-03-02",
        "data",
        "u-42",
        "default",
    ]
    return [
        Tenant(Scope(workspace, agent))
        for workspace in workspaces
        for agent in agents[:AGENTS]
    ]


@dataclass
class Town:
    """All tenants in one store, and one application that serves them all, as a function does."""

    s3: CountingS3
    application: Driver
    tenants: list[Tenant]

    def memory(self, tenant: Tenant) -> Memory:
        session = TemporaryCredentials(
            tenant.access_key, "secret", "token", NOW + timedelta(hours=1)
        )
        return self.application.with_session(session).memory(tenant.scope)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with (
        CountingS3() as s3,
        s3.as_aws(),
        pytest.MonkeyPatch.context() as patch,
    ):
        fetch_in_parallel(patch, 4)
        environment = {
            "VARVE_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))
        }
        shared = open_driver(environment, STORE, NOW, embedder=WordEmbedder())
        shared.require_safe_store()
        built = Town(s3, shared, tenants())
        s3.reset()
        each(
            built.tenants,
            lambda tenant: built.memory(tenant).ingest(tenant.conversation()),
        )
        yield built


def each(tenants: list[Tenant], do: Callable[[Tenant], object]) -> list[Any]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(do, tenants))


def operations(memory: Memory, rng: Random) -> dict[str, Callable[[], object]]:
    """What a tenant can do; the words and filters are hostile ones."""
    words, now = rng.choice(HOSTILE), NOW
    return {
        "search": lambda: memory.search(words).to_dict(),
        "search as somebody": lambda: memory.search(
            "Dana", user_id=words
        ).to_dict(),
        "search in something": lambda: memory.search(
            "Dana", conversation_id=words
        ).to_dict(),
        "browse": lambda: memory.search(max_results=50).to_dict(),
        "show": lambda: [
            memory.show(r.id) for r in memory.search(max_results=3).results
        ],
        "show what is none": lambda: memory.show(words),
        "context": lambda: str(
            memory.context(f"Dana {words}", user_id="u-42", documents=[words])
        ),
        "summarize": lambda: memory.summarize(grain="daily", now=now),
        "cleanup": lambda: memory.cleanup(dry_run=True),
        "config": memory.config,
        "configure": lambda: memory.configure("prompts.extract", words),
        "status": memory.status,
        "profile": lambda: memory.profile(user_id="u-42"),
        "set profile": lambda: memory.set_profile(
            "diet", words[:20], user_id="u-42"
        ),
        "forget": lambda: memory.forget(
            conversation="c-2", verify=rng.random() < 0.5
        ),
        "forget words": lambda: memory.forget(query=words, dry_run=True),
        "forget somebody": lambda: memory.forget(user=words),
        "forget a user": lambda: memory.forget(user="u-7"),
        "graph": lambda: memory.graph.entity(words),
        "neighbours": lambda: memory.graph.neighbours("Dana", 2),
        "ingest": lambda: memory.ingest(
            {
                "conversationId": "c-2",
                "messages": [
                    {"role": "user", "content": words, "name": words[:150]}
                ],
            }
        ).to_dict(),
    }


def test_invariant_7_many_tenants_at_once_see_and_touch_nothing_of_each_other(
    town: Town,
) -> None:
    def live(tenant: Tenant) -> tuple[set[str], list[str]]:
        rng, memory = Random(str(tenant.scope)), town.memory(tenant)
        found: set[str] = set()
        done = []
        for _ in range(ROUNDS):
            name, operation = rng.choice(list(operations(memory, rng).items()))
            try:
                found |= tenant.foreign_in(operation())
                done.append(name)
            except (
                Rejected,
                Retryable,
            ) as error:  # a hostile id; or a neighbour configures as well
                found |= tenant.foreign_in(str(error))
        own = memory.search("Where does Dana live?").to_dict()
        assert tenant.canary in json.dumps(own)
        return found | tenant.foreign_in(own), done

    lived = each(town.tenants, live)
    assert set().union(*(found for found, _ in lived)) == set()
    assert len({name for _, done in lived for name in done}) > 10
    by_key = {tenant.access_key: tenant for tenant in town.tenants}
    statements = {
        who: session_statements(tenant.scope) for who, tenant in by_key.items()
    }
    touched = town.s3.touched()
    assert {who for who, _, _ in touched} >= set(by_key)
    foreign = [
        (who, kind, key)
        for who, kind, key in touched
        if who in by_key
        and (kind, key) not in {HOURS, *OF_FORGETTING}
        and not key.startswith(_of_workspace(by_key[who]))
        and not reaches(statements[who], BUCKET, key)
    ]
    assert foreign == []


def _of_workspace(tenant: Tenant) -> tuple[str, ...]:
    """What a proof of erasure reads of the tenant's own workspace, and of its agent in every area."""
    areas = (
        f"memory/{area}/{tenant.scope.workspace}/"
        for area in ("audit", "workspaces")
    )
    return *areas, f"memory/probe/{tenant.scope}/"


@dataclass
class Requests:
    """What one agent's own verbs ask of the store, with credentials of its own."""

    town: Town
    tenant: Tenant

    def of(self, *verbs: Callable[[Memory], object]) -> set[tuple[str, str]]:
        self.town.s3.reset()
        memory = self.town.memory(self.tenant)
        for verb in verbs:
            verb(memory)
        return {
            (kind, key)
            for who, kind, key in self.town.s3.touched()
            if who == self.tenant.access_key
        }


def test_invariant_7_the_readers_role_allows_all_that_a_search_asks_for_and_nothing_of_others(
    town: Town,
) -> None:
    one, other = town.tenants[3], town.tenants[4]
    asked = Requests(town, one).of(
        lambda m: m.search("Dana"),
        lambda m: m.search("Dana", grain="weekly"),
        lambda m: m.search(memory_types=["lesson"]),
    )
    own, others = (
        session_statements(each.scope, "AgentReaderRole")
        for each in (one, other)
    )
    assert asked
    assert [
        each for each in asked if not allows(own, each[0], BUCKET, each[1])
    ] == []
    shared = f"memory/workspaces/{one.scope.workspace}/config.json"
    assert [
        key
        for kind, key in asked
        if key != shared and allows(others, kind, BUCKET, key)
    ] == []


class Sessions:
    """What gives an agent's session, as STS would."""

    def __init__(self) -> None:
        self._given: dict[Scope, TemporaryCredentials] = {}
        self._records: dict[Scope, TemporaryCredentials] = {}

    def of(self, scope: Scope) -> TemporaryCredentials:
        made = TemporaryCredentials(
            Tenant(scope).access_key,
            "secret",
            "token",
            NOW + timedelta(hours=1),
        )
        return self._given.setdefault(scope, made)

    def of_records(self, scope: Scope) -> TemporaryCredentials:
        made = TemporaryCredentials(
            f"{Tenant(scope).access_key}.records",
            "secret",
            "token",
            NOW + timedelta(hours=1),
        )
        return self._records.setdefault(scope, made)


def test_invariant_7_with_sessions_a_function_itself_asks_for_nothing_of_an_agents_memory(
    town: Town,
) -> None:
    """What is taken in, summed up, cleaned up and looked at goes over the agent's key, not the function's."""
    queue, letters = RecordingQueue(), InMemoryDeadLetters()
    application = town.application.again(
        summary_queue=queue, dead_letters=letters
    )
    application.use_sessions(Sessions())
    tenant = Tenant(Scope("apart", "support"))
    scope = tenant.scope
    owner = {"workspaceId": scope.workspace, "agentId": scope.agent}
    said = {**owner, **tenant.conversation()}
    said["messages"][0]["state"] = "debugging"
    town.s3.reset()
    application.ingest([parse_conversation(said)], NOW)
    application.send_outcome(scope, Report("c-1", Outcome.SUCCESS, NOW, NOW))
    ledger, config = application.ledger, application.config
    assert run_plan(Grain.DAILY, NOW, ledger=ledger, config=config).due
    send_work(
        SummarizePeriod(scope, Period.parse("2026-03-02"), NOW),
        (),
        queue=queue,
    )
    send_cleaning(CleanAgent(scope, (), NOW), queue=queue)
    send_curation(CurateAgent(scope, ("2026-03",), NOW), queue=queue)
    for work in queue.sent:
        assert application.work([work]).returned == []
    assert letters.letters == []
    touched = town.s3.touched()
    # The probe is the writer's, which is called in place of its queue.
    own = {
        (kind, key)
        for who, kind, key in touched
        if who != tenant.access_key and "/probe/" not in key
    }
    assert own < {(kind, key) for _, kind, key in touched}
    assert {key.split("/")[1] for _, key in own} == {"workspaces", "ledger"}
    assert not {"PUT", "DELETE"} & {kind for kind, _ in own}


def test_invariant_7_a_shared_memory_is_read_with_rights_to_its_records_alone(
    town: Town,
) -> None:
    """A search over three agents, of which one has granted something."""
    asker, granter, silent = (
        town.tenants[10],
        town.tenants[11],
        town.tenants[12],
    )
    assert asker.scope.workspace == granter.scope.workspace
    application = town.application.again()
    application.use_sessions(Sessions())
    application.memory(granter.scope).share.grant(
        asker.scope.agent, types=["turn"]
    )
    town.s3.reset()
    agents = [granter.scope.agent, silent.scope.agent]
    request = parse_search_request(
        {"queryText": "Where does Dana live?", "agents": agents}
    )
    answer = json.dumps(application.search(asker.scope, request).to_dict())
    assert {asker.canary, granter.canary} <= set(CANARY.findall(answer))
    assert silent.canary not in answer
    touched = town.s3.touched()
    shared = f"{granter.access_key}.records"
    assert {who for who, _, _ in touched} == {asker.access_key, shared}
    own = session_statements(asker.scope, "AgentReaderRole")
    lent = session_statements(granter.scope, "AgentReaderRole")
    policy = records_policy(
        "arn:aws:iam::1:role/r", (BUCKET, "memory"), granter.scope
    )
    narrowed = json.loads(policy)["Statement"]
    for who, kind, key in touched:
        if (
            who == shared
        ):  # a session has what its role and its policy both allow
            assert allows(lent, kind, BUCKET, key)
            assert allows(narrowed, kind, BUCKET, key)
        else:
            assert allows(own, kind, BUCKET, key)
    of_silent = {
        key for _, _, key in touched if f"/{silent.scope}/" in f"{key}/"
    }
    assert of_silent == {f"memory/grants/{silent.scope}/grants.json"}
    application.memory(granter.scope).share.revoke(asker.scope.agent)
    again = json.dumps(application.search(asker.scope, request).to_dict())
    assert granter.foreign_in(again) == {asker.canary.lower()}
    assert granter.canary not in again


def test_invariant_7_no_agent_is_let_into_anothers_objects_by_its_name(
    town: Town,
) -> None:
    """Workspaces and agents are named like days, grains and files: every key against every session."""
    keys = {key for _, _, key in town.s3.touched() if key.count("/") > 3}
    # All agents of a workspace may read who grants what to whom; no other may.
    grants = {key for key in keys if key.startswith("memory/grants/")}
    keys -= grants
    sample = Random(7).sample(sorted(keys), min(len(keys), KEYS))
    statements = {
        tenant.scope: session_statements(tenant.scope)
        for tenant in town.tenants
    }
    for key in sample:
        let_in = [
            scope
            for scope, given in statements.items()
            if reaches(given, BUCKET, key)
        ]
        assert len(let_in) <= 1, key
    for key in sorted(grants)[:20]:
        readers = {
            scope.workspace
            for scope, given in statements.items()
            if reaches(given, BUCKET, key)
        }
        assert readers <= {key.split("/")[2]}, key


def test_invariant_7_one_process_that_serves_all_mixes_nobody_up(
    town: Town,
) -> None:
    """The three faces of the tool, in any order, over one application with its caches."""
    bound = {
        f"target-{n}": Identity(tenant.scope)
        for n, tenant in enumerate(town.tenants)
    }

    def ask(number_and_tenant: tuple[int, Tenant]) -> tuple[set[str], bool]:
        number, tenant = number_and_tenant
        rng = Random(number)
        others = rng.choice(town.tenants).scope
        event, custom = rng.choice([direct, gateway, bedrock])(
            tenant, f"target-{number}", others
        )
        answer = json.dumps(answer_tool_call(event, custom, bound, answered))
        return tenant.foreign_in(answer), tenant.canary in answer

    def answered(call: ToolCall) -> dict[str, Any]:
        return town.application.search(
            call.scope, parse_search_request(call.arguments)
        ).to_dict()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = list(pool.map(ask, enumerate(town.tenants)))
    assert set().union(*(found for found, _ in asked)) == set()
    assert all(own for _, own in asked)


def direct(
    tenant: Tenant, target: str, others: Scope
) -> tuple[dict[str, Any], dict[str, Any]]:
    who = {
        "workspaceId": tenant.scope.workspace,
        "agentId": tenant.scope.agent,
    }
    return {
        **who,
        "arguments": {"queryText": f"Where does Dana of {others} live?"},
    }, {}


def gateway(
    tenant: Tenant, target: str, others: Scope
) -> tuple[dict[str, Any], dict[str, Any]]:
    headers = {
        "x-varve-workspace": others.workspace,
        "x-varve-agent": others.agent,
    }
    custom = {"bedrockAgentCoreToolName": f"{target}___search_memory"}
    return {"queryText": "Dana"}, {
        **custom,
        "bedrockAgentCorePropagatedHeaders": headers,
    }


def bedrock(
    tenant: Tenant, target: str, others: Scope
) -> tuple[dict[str, Any], dict[str, Any]]:
    session = {"workspaceId": others.workspace, "agentId": others.agent}
    words = [
        {
            "name": "queryText",
            "type": "string",
            "value": "Where does Dana live?",
        }
    ]
    call = {
        "messageVersion": "1.0",
        "actionGroup": "memory",
        "function": "search_memory",
    }
    agent = {"id": target, "name": "x", "alias": "x", "version": "1"}
    return {
        **call,
        "agent": agent,
        "parameters": words,
        "sessionAttributes": session,
    }, {}


@pytest.mark.parametrize("number", [0, 57, -1])
def test_invariant_7_the_command_line_shows_one_tenant_alone(
    number: int, town: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = town.tenants[number]
    who = [
        "--store",
        STORE,
        "--workspace",
        tenant.scope.workspace,
        "--agent",
        tenant.scope.agent,
    ]
    at = ["--now", NOW.isoformat(), "--json"]
    for words in (
        ["status"],
        ["graph", "query", "select * from facts"],
        ["graph", "show", "Dana"],
    ):
        assert main([*words, *who, *at]) == 0
    shown = capsys.readouterr().out
    assert tenant.canary.lower() in shown.lower()
    assert tenant.foreign_in(shown) == set()


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_invariant_7_no_hostile_id_becomes_part_of_a_path(
    words: str, town: Town, tmp_path: Path
) -> None:
    message = {"role": "user", "content": "x"}
    with pytest.raises(Rejected):
        Scope(words, "support")
    with pytest.raises(Rejected):
        Scope("acme", words)
    memory = Memory.open(
        tmp_path / "store", workspace="acme", agent="support", now=NOW
    )
    with pytest.raises(Rejected):
        memory.ingest({"conversationId": words, "messages": [message]})
    assert not (tmp_path / "store").exists()


def told(town: Town, tenant: Tenant) -> str:
    """All that a tenant's memory holds, as it answers."""
    memory = town.memory(tenant)
    return json.dumps(
        [
            memory.search(max_results=100).to_dict()["results"],
            memory.profile(user_id="u-42"),
        ]
    )


def test_invariant_7_forgetting_in_one_tenant_takes_nothing_from_another(
    town: Town,
) -> None:
    """All have said the same in the same ids; a handful have it forgotten, each while the others do."""
    forgetting, others = (
        town.tenants[20:26],
        [town.tenants[n] for n in (0, 19, 26, 40)],
    )
    before = {tenant: told(town, tenant) for tenant in others}

    def forget(tenant: Tenant) -> object:
        return town.memory(tenant).forget(user="u-42", verify=True)

    done = each(forgetting, forget)
    assert [
        one["complete"] and one["verification"]["hits"] for one in done
    ] == [0] * len(forgetting)
    assert [tenant.canary in told(town, tenant) for tenant in forgetting] == [
        False
    ] * len(forgetting)
    assert {tenant: told(town, tenant) for tenant in others} == before
    assert all(tenant.canary in before[tenant] for tenant in others)
