"""Sharing: what an agent grants another one reads, and nothing else, until it is revoked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, WordEmbedder, a_record, embedded
from tests.support.sessions import session_over
from tests.unit.test_experience_memory import learnt
from tests.unit.test_look_pages import shown
from varve import AsyncMemory, Memory, Rejected
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.calendar import Grain
from varve.domain.damage import Damaged
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.search.answer import Result, SearchResponse
from varve.domain.search.query import parse_search_request
from varve.integrations.mcp_tools import Tools
from varve.usecases import sharing
from varve.usecases.search.search import search
from varve.usecases.session import Session

NOW = MORNING + timedelta(days=3)
WORKSPACES = [f"w-{number}" for number in range(20)]
AGENTS = [f"a-{number}" for number in range(10)]
USERS = ("u-1", "u-2", None)
TYPES = (MemoryType.FACT, MemoryType.TURN, MemoryType.SUMMARY)


class CountingObjects(InMemoryObjects):
    """Objects that note which keys were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get(self, key: str) -> Any:
        self.read.append(key)
        return super().get(key)


class Town:
    """Two hundred tenants who say nearly the same, in the same conversations."""

    def __init__(self, max_rows: int = 1_000) -> None:
        self.objects = CountingObjects()
        self.records = InMemoryRecords(max_rows)
        self.graph = InMemoryGraph()
        self.rows: dict[str, tuple[Scope, Record]] = {}
        for workspace in WORKSPACES:
            for agent in AGENTS:
                self._fill(Scope(workspace, agent))

    def _fill(self, scope: Scope) -> None:
        rows = [_row(scope, kind, user) for kind in TYPES for user in USERS]
        said = [
            row for row in rows if row.memory_type is not MemoryType.SUMMARY
        ]
        summed = [row for row in rows if row.memory_type is MemoryType.SUMMARY]
        model = WordEmbedder.model
        self.records.upsert(scope, Grain.WORKING, embedded(*said), model)
        self.records.upsert(scope, Grain.DAILY, embedded(*summed), model)
        self.rows.update((row.id, (scope, row)) for row in rows)

    def open(self, scope: Scope) -> Session:
        return session_over(
            scope,
            NOW,
            records=self.records,
            objects=self.objects,
            graph=self.graph,
            embedder=WordEmbedder(),
        )

    def ask(self, scope: Scope, **arguments: Any) -> SearchResponse:
        return search(self.open(scope), parse_search_request(arguments))


def _row(scope: Scope, kind: MemoryType, user: str | None) -> Record:
    own = {} if kind is not MemoryType.SUMMARY else {"conversation_id": None}
    return a_record(
        f"Dana keeps a {kind} about {user} and {scope.workspace} {scope.agent}",
        id=f"{kind}.{user}.{scope.workspace}.{scope.agent}",
        memory_type=kind,
        user_id=user,
        about=None,
        source_ids=("m-1",),
        **own,
    )


TOWN = Town()
Given = tuple[str, str, tuple[str, ...], tuple[str, ...] | None]
"""Who grants, who may read, which types, and of which users."""
FEW = AGENTS[:4]
"""Agents of which many a drawn grant concerns the one that asks."""
GRANT = st.tuples(
    st.sampled_from(FEW),
    st.sampled_from(FEW),
    st.lists(
        st.sampled_from(["fact", "turn", "summary", "lesson"]), min_size=1, unique=True
    ).map(tuple),
    st.none() | st.lists(st.sampled_from(["u-1", "u-2"]), min_size=1, unique=True).map(tuple),
)  # fmt: skip


def allowed(
    reader: Scope, asked: Sequence[str], grants: Sequence[Given]
) -> set[str]:
    """The ids of the records that a search may show, by the grants alone."""
    last = {(grant[0], grant[1]): grant for grant in grants}
    shown = set()
    for id_, (scope, row) in TOWN.rows.items():
        if scope == reader:
            shown.add(id_)
        if scope.workspace != reader.workspace or scope.agent not in asked:
            continue
        grant = last.get((scope.agent, reader.agent))
        if grant is None or row.memory_type not in grant[2]:
            continue
        if grant[3] is None or row.user_id in grant[3]:
            shown.add(id_)
    return shown


def ids_in(found: SearchResponse) -> set[str]:
    """The ids of all records that an answer names."""
    ids = {result.id for result in found.results}
    for result in found.results:
        ids |= {*result.also_in}
        ids |= {result.superseded_by} if result.superseded_by else set()
    return ids


@given(
    workspace=st.sampled_from(WORKSPACES),
    reader=st.sampled_from(FEW),
    grants=st.lists(GRANT, min_size=4, max_size=16),
    elsewhere=st.lists(GRANT, max_size=3),
    asked=st.lists(st.sampled_from(FEW), min_size=1, max_size=4),
    user=st.sampled_from([None, "u-1", "u-2", "u-3"]),
    kind=st.sampled_from([None, "fact", "turn", "summary"]),
)
def test_among_two_hundred_tenants_a_search_shows_what_is_granted_and_nothing_else(
    workspace: str,
    reader: str,
    grants: list[Given],
    elsewhere: list[Given],
    asked: list[str],
    user: str | None,
    kind: str | None,
) -> None:
    given_grants = [one for one in grants if one[0] != one[1]]
    scope = Scope(workspace, reader)
    other_workspace = WORKSPACES[WORKSPACES.index(workspace) - 1]
    made = [(workspace, one) for one in given_grants]
    made += [(other_workspace, one) for one in elsewhere if one[0] != one[1]]
    for where, (granter, to, types, users) in made:
        sharing.grant(TOWN.open(Scope(where, granter)), to, types, users)
    pins: dict[str, Any] = {"agents": asked}
    pins |= {"userId": user} if user else {}
    pins |= {"memoryTypes": [kind]} if kind else {}
    try:
        may = {
            id_
            for id_ in allowed(scope, asked, given_grants)
            if user in (None, TOWN.rows[id_][1].user_id)
            and kind in (None, TOWN.rows[id_][1].memory_type)
        }
        browsed = TOWN.ask(scope, maxResults=100, **pins)
        assert ids_in(browsed) == may
        found = TOWN.ask(
            scope, queryText="What does Dana keep?", maxResults=100, **pins
        )
        assert ids_in(found) <= may
    finally:
        for where, (granter, to, _, _) in made:
            sharing.revoke(TOWN.open(Scope(where, granter)), to)
    own = {id_ for id_ in may if TOWN.rows[id_][0] == scope}
    assert ids_in(TOWN.ask(scope, maxResults=100, **pins)) == own


@pytest.mark.parametrize("max_rows", [1_000, 1])
@pytest.mark.parametrize("text", ["", "What does Dana keep?"])
def test_types_users_and_the_workspace_each_limit_what_another_agent_sees(
    max_rows: int, text: str
) -> None:
    town = TOWN if max_rows > 1 else Town(max_rows)
    reader, granter = Scope("w-1", "a-1"), Scope("w-1", "a-2")

    def see(asker: Scope = reader, **pins: Any) -> set[str]:
        asked = {
            "queryText": text,
            "agents": ["a-2"],
            "maxResults": 100,
            **pins,
        }
        found = town.ask(asker, **asked)
        return {one.id for one in found.results if one.agent_id == "a-2"}

    assert see() == set()
    sharing.grant(town.open(granter), "a-1", ["fact", "summary"], ["u-1"])
    try:
        assert see() == {"fact.u-1.w-1.a-2", "summary.u-1.w-1.a-2"}
        assert see(userId="u-2") == see(memoryTypes=["turn"]) == set()
        assert see(userId="u-1", memoryTypes=["fact"]) == {"fact.u-1.w-1.a-2"}
        assert see(Scope("w-2", "a-1")) == set()
        assert see(Scope("w-1", "a-3")) == set()
        sharing.grant(town.open(granter), "a-1", ["turn"])
        assert see() == {f"turn.{user}.w-1.a-2" for user in USERS}
    finally:
        assert sharing.revoke(town.open(granter), "a-1")
    assert see() == set()
    assert not sharing.revoke(town.open(granter), "a-1")


def test_a_search_without_agents_reads_no_grant_and_one_with_agents_reads_one_each() -> (
    None
):
    scope = Scope("w-3", "a-1")
    TOWN.objects.read.clear()
    TOWN.ask(scope, queryText="Dana")
    assert TOWN.objects.read == []
    TOWN.ask(scope, queryText="Dana", agents=["a-2", "a-2", "a-1", "a-3"])
    assert TOWN.objects.read == [
        "grants/w-3/a-2/grants.json",
        "grants/w-3/a-3/grants.json",
    ]


def test_the_answer_does_not_tell_whether_an_agent_without_a_grant_exists() -> (
    None
):
    scope = Scope("w-3", "a-1")
    hints = []
    for name in ("a-2", "zz9"):
        found = TOWN.ask(scope, queryText="Dana", agents=[name])
        assert found.searched.agents == []
        assert all(result.agent_id is None for result in found.results)
        hints.append((found.hint or "").replace(name, "NAME"))
    assert hints == ["Nothing is shared with this agent by NAME."] * 2


def test_a_damaged_grant_is_told_and_grants_nothing() -> None:
    scope = Scope("w-4", "a-1")
    TOWN.objects.put(
        "grants/w-4/a-2/grants.json", b'{"agent": "a-2", "grants"'
    )
    try:
        with pytest.raises(Damaged, match="grants/w-4/a-2"):
            TOWN.ask(scope, queryText="Dana", agents=["a-2"])
    finally:
        TOWN.objects.delete(["grants/w-4/a-2/grants.json"])


def test_grants_of_an_agent_whose_folder_is_taken_for_anothers_do_not_count() -> (
    None
):
    """Where a file system ignores case, `A-2` finds the object of `a-2`."""
    given_by = Scope("w-5", "a-2")
    sharing.grant(TOWN.open(given_by), "a-1", ["fact"])
    stored = TOWN.objects.get("grants/w-5/a-2/grants.json")
    TOWN.objects.put("grants/w-5/a-9/grants.json", stored.data)
    found = TOWN.ask(Scope("w-5", "a-1"), agents=["a-9"], maxResults=100)
    assert {
        result.user_id for result in found.results if result.agent_id
    } == set()


# ---- Memory, over a directory ----------------------------------------------------------------------


DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def open_memory(folder: Path, agent: str, workspace: str = "acme") -> Memory:
    return Memory.open(
        folder, workspace=workspace, agent=agent, now=DAY, environment={}
    )


def tell(
    memory: Memory, *texts: str, user: str = "u-1", talk: str = "c-1"
) -> None:
    messages = [
        {"role": "user", "name": "Dana", "content": text, "id": f"m{number}"}
        | {"timestamp": f"2026-03-01T09:{number:02}:00Z"}
        for number, text in enumerate(texts)
    ]
    memory.ingest(
        {"conversationId": talk, "userId": user, "messages": messages}
    )


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Memory, Memory]:
    """An agent that asks, and one that has granted it turns and facts."""
    own, other = (
        open_memory(tmp_path, "support"),
        open_memory(tmp_path, "sales"),
    )
    other.share.grant("support", types=["turn", "fact"])
    return own, other


def best(memory: Memory, text: str, **given_: Any) -> Result:
    return memory.search(text, agents=["sales"], **given_).results[0]


def test_the_best_record_of_another_agent_comes_first_and_the_limit_counts_once(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(
        own,
        "My cat is called Biscuit.",
        "The weather was fine.",
        "I had soup.",
    )
    tell(other, "I live in Porto, near the river.", "Lunch was late today.")
    found = own.search(
        "Where does Dana live?", agents=["sales"], max_results=2
    )
    assert "Porto" in found.results[0].content
    assert found.results[0].agent_id == "sales"
    assert len(found.results) == 2
    assert found.searched.agents == ["sales"]
    scores = [result.score for result in found.results]
    assert scores == sorted(scores, reverse=True)
    assert best(own, "What is the cat called?").agent_id == "support"


def test_the_same_ids_in_two_agents_are_two_statements(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(own, "The invoice number is 4711.")
    tell(other, "The printer on the third floor is broken.")
    found = own.search("Which printer is broken? invoice", agents=["sales"])
    words = " ".join(result.content for result in found.results)
    assert "4711" in words
    assert "printer" in words


def test_what_two_agents_were_told_alike_takes_one_place(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(own, "I am allergic to peanuts.", talk="c-7")
    tell(other, "I am allergic to peanuts.", talk="c-8")
    found = own.search("What is Dana allergic to?", agents=["sales"])
    assert sum("peanuts" in result.content for result in found.results) == 1


def test_a_statement_is_superseded_by_its_own_agents_statements_only(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(own, "I live in Lisbon.")
    tell(
        other, "I live in Porto.", "I moved: I live in Braga now.", talk="c-9"
    )
    found = own.search(
        "Where does Dana live?", agents=["sales"], max_results=20
    )
    current = {
        city: result.current
        for city in ("Lisbon", "Porto", "Braga")
        for result in found.results
        if city in result.content
    }
    assert current["Lisbon"]
    assert current["Braga"]


def test_the_id_of_a_successor_that_is_not_granted_is_left_out(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(other, "I live in Porto.", "I moved: I live in Braga now.")

    def find_superseded() -> list[Result]:
        asked = {"agents": ["sales"], "include_superseded": True}
        found = own.search("Where does Dana live?", max_results=20, **asked)
        return [one for one in found.results if not one.current]

    assert find_superseded()[0].superseded_by is not None
    other.share.grant("support", types=["fact"])
    assert [one.superseded_by for one in find_superseded()] == [None]


def test_a_pinned_search_finds_that_users_records_of_every_agent(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(own, "My dog is called Rex.", user="u-1")
    tell(other, "My dog is called Bello.", user="u-1", talk="c-2")
    tell(other, "My dog is called Fido.", user="u-2", talk="c-3")
    found = own.search("dog", agents=["sales"], user_id="u-1")
    assert {result.user_id for result in found.results} == {"u-1"}
    assert {result.agent_id for result in found.results} == {
        "support",
        "sales",
    }


def test_after_forget_nothing_of_the_user_is_seen_by_others(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(other, "My passport number is X1234567.", user="u-9")
    assert "X1234567" in best(own, "passport number").content
    other.forget(user="u-9")
    found = own.search("passport number", agents=["sales"])
    assert found.results == []


def test_forget_takes_the_user_out_of_the_agents_grants(
    pair: tuple[Memory, Memory],
) -> None:
    _, other = pair
    tell(other, "My passport number is X1234567.", user="u-9")
    other.share.grant("support", types=["fact"], users=["u-9", "u-1"])
    other.share.grant("billing", types=["fact"], users=["u-9"])
    told = other.forget(user="u-9", verify=True)
    assert told["verification"]["proved"]
    listed = other.share.list().granted
    assert [(grant.to, grant.users) for grant in listed] == [
        ("support", ("u-1",))
    ]


def test_metadata_is_sought_in_each_agents_own_records(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    said = {"role": "user", "content": "The order is late.", "id": "m1"}
    for memory, channel in ((own, "mail"), (other, "phone")):
        message = {**said, "metadata": {"channel": channel}}
        memory.ingest({"conversationId": "c-1", "messages": [message]})
    found = own.search("order", agents=["sales"], where={"channel": "phone"})
    assert [result.agent_id for result in found.results] == ["sales"]


def test_the_configuration_names_agents_that_a_search_reads_unless_it_names_others(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(other, "I live in Porto.")
    own.configure("agents.support.search.agents", "sales, billing ,sales")
    assert own.setting("agents.support.search.agents") == "sales,billing"
    found = own.search("Where does Dana live?")
    assert found.searched.agents == ["sales"]
    assert found.results[0].agent_id == "sales"
    alone = own.search("Where does Dana live?", agents=["support"])
    assert alone.results == []
    assert other.search("Where does Dana live?").results[0].agent_id is None


@pytest.mark.parametrize(
    "names", ["../x", "a,,b", "a b", ",".join(map(str, range(21)))]
)
def test_names_of_agents_are_validated(
    names: str, pair: tuple[Memory, Memory]
) -> None:
    own, _ = pair
    with pytest.raises(Rejected, match=r"search\.agents"):
        own.configure("agents.support.search.agents", names)
    with pytest.raises(Rejected, match="agents"):
        own.search("Dana", agents=names.split(","))


def test_experience_is_shared_by_its_own_types_and_users(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    learnt(other)  # from episodes of three users

    def ask() -> set[tuple[str, str | None]]:
        text = "threads wait for a connection"
        found = own.search(text, memory_types=["lesson"], agents=["sales"])
        assert {one.agent_id for one in found.results} <= {"sales"}
        return {(one.memory_type, one.user_id) for one in found.results}

    assert ask() == set()
    other.share.grant("support", types=["lesson"])
    assert ask() == {("lesson", None)}
    other.share.grant("support", types=["episode"], users=["u-1"])
    assert ask() == {("episode", "u-1")}
    other.share.grant("support", types=["lesson"], users=["u-0"])
    assert ask() == set()  # the lesson rests on other users' episodes as well


def test_a_context_has_what_other_agents_share_and_says_whose_it_is(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(own, "My train leaves at nine.", user="u-1")
    tell(other, "I am allergic to peanuts.", user="u-1")
    tell(other, "I am allergic to shrimps.", user="u-2", talk="c-2")
    prompt = "What food is Dana allergic to?"
    assert "allergic" not in str(own.context(prompt, user_id="u-1"))
    block = own.context(prompt, user_id="u-1", agents=["sales"])
    assert "peanuts" in str(block)
    assert "shrimps" not in str(block)
    assert any(id_.startswith("sales/") for id_ in block.ids)
    assert block.searched.agents == ["sales"]
    own.configure("agents.support.search.agents", "sales")
    assert "peanuts" in str(own.context(prompt))
    other.share.revoke("support")
    assert "peanuts" not in str(own.context(prompt, agents=["sales"]))


def test_a_context_has_lessons_where_the_grant_names_them(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    learnt(other)
    prompt = "threads wait for a connection"

    def count(**given_: Any) -> int:
        return own.context(prompt, **given_).searched.lessons

    assert count(agents=["sales"]) == 0
    other.share.grant("support", types=["lesson"])
    assert count(agents=["sales"]) > 0
    assert count(agents=["sales"], user_id="u-0") == 0
    assert count() == 0


@pytest.mark.parametrize("asked", [["sales"], "sales", ["sales", "billing"]])
def test_a_model_may_name_only_the_agents_that_the_mcp_server_offers(
    asked: Any, pair: tuple[Memory, Memory]
) -> None:
    own, other = pair
    tell(other, "I live in Porto.")
    call = {"queryText": "Where does Dana live?", "agents": asked}
    refused = Tools(own, None).answer("search_memory", call)
    assert refused["error"]["field"] == "agents"
    answer = Tools(own, None, agents=["sales"]).answer("search_memory", call)
    if "billing" in asked:
        assert answer["error"]["field"] == "agents"
    else:
        assert [one["agentId"] for one in answer["results"]] == ["sales"]


def test_the_page_searches_other_agents_and_links_only_to_its_own_records(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    tell(own, "My cat is called Biscuit.")
    tell(other, "My dog is called Rex.")
    page = shown(own, "search", q="What are the pets called?", agents="sales")
    assert "shared by <bdi>sales</bdi>" in page
    (mine, theirs) = own.search("pets called", agents=["sales"]).results
    linked = {
        one.agent_id: f"/record/{one.id}" in page for one in (mine, theirs)
    }
    assert linked == {"support": True, "sales": False}


def test_a_function_takes_agents_among_the_arguments_and_no_identity(
    pair: tuple[Memory, Memory],
) -> None:
    call = {"queryText": "Dana", "agents": "sales,billing"}
    assert parse_search_request(call).agents == ["sales", "billing"]
    with pytest.raises(Rejected, match="identity"):
        parse_search_request({**call, "agentId": "sales"})


def test_a_grant_says_when_it_was_made_and_both_sides_list_it(
    pair: tuple[Memory, Memory],
) -> None:
    own, other = pair
    made = {"agent": "sales", "to": "support", "types": ["turn", "fact"]}
    made |= {"users": None, "grantedAt": "2026-03-02T09:00:00Z"}
    assert other.share.list().to_dict() == {"granted": [made], "received": []}
    assert own.share.list().to_dict() == {"granted": [], "received": [made]}
    assert other.share.revoke("support")
    assert own.share.list().received == ()


@pytest.mark.parametrize(
    ("given_", "field"),
    [
        ({"agent": "sales", "types": ["fact"]}, "to"),
        ({"agent": "../x", "types": ["fact"]}, "to"),
        ({"agent": "b", "types": []}, "types"),
        ({"agent": "b", "types": ["finding"]}, "types"),
        ({"agent": "b", "types": ["fact"], "users": []}, "users"),
        ({"agent": "b", "types": ["fact"], "users": ["a b"]}, "users"),
    ],
)
def test_a_grant_of_bad_names_is_refused_by_field(
    given_: dict[str, Any], field: str, pair: tuple[Memory, Memory]
) -> None:
    _, other = pair
    with pytest.raises(Rejected, match=field):
        other.share.grant(given_.pop("agent"), **given_)


def test_the_asynchronous_memory_shares_too(tmp_path: Path) -> None:
    async def run() -> list[tuple[str, ...]]:
        async with await AsyncMemory.open(
            tmp_path, agent="a", environment={}
        ) as memory:
            await memory.share.grant("b", types=["fact"])
            listed = await memory.share.list()
            assert await memory.share.revoke("b")
            return [grant.types for grant in listed.granted]

    assert asyncio.run(run()) == [("fact",)]
