"""The project's corpus through the whole pipeline on a directory: in any order, again, and by every face."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support.drivers import open_driver
from varve import Memory
from varve.cli import main
from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.language.courtesies import is_courtesy
from varve.domain.search.query import Filter

pytestmark = pytest.mark.usefixtures("clean_environment")

CORPUS = Path(__file__).parents[1] / "corpus"
NOW = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
EVERYTHING = 1_000_000
SCOPES = [Scope("brightline", "helpdesk"), Scope("northwind", "assistant")]

Conversations = list[dict[str, Any]]


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = json.loads(
        (CORPUS / "questions.json").read_text("utf-8")
    )
    return asked


def opened(root: Path, scope: Scope) -> Memory:
    return Memory.open(
        root, workspace=scope.workspace, agent=scope.agent, now=NOW
    )


def scope_of(named: dict[str, Any]) -> Scope:
    return Scope(named["workspaceId"], named["agentId"])


def ingest(root: Path, conversations: Conversations) -> None:
    memories = {scope: opened(root, scope) for scope in SCOPES}
    for conversation in conversations:
        memories[scope_of(conversation)].ingest(conversation)


def records(root: Path, scope: Scope) -> list[dict[str, Any]]:
    """All records of an agent, whole, in order of their ids."""
    reader = open_driver(store=root).records
    found = [
        asdict(record) | {"grain": str(grain)}
        for grain in Grain
        for record in reader.browse(
            scope, grain, where=Filter(), limit=EVERYTHING
        )
    ]
    return sorted(found, key=lambda record: (record["grain"], record["id"]))


def triples(root: Path, scope: Scope) -> list[dict[str, Any]]:
    """The rows of an agent's facts.parquet, in order of their ids."""
    rows = pq.read_table(
        root / "graphs" / scope.workspace / scope.agent / "facts.parquet"
    ).to_pylist()
    return sorted(rows, key=lambda row: row["id"])


def export(root: Path) -> bytes:
    """Records, then triples, of one agent after the other, a line of JSON each."""
    rows = [
        row
        for scope in SCOPES
        for row in (*records(root, scope), *triples(root, scope))
    ]
    return "\n".join(
        json.dumps(row, sort_keys=True, ensure_ascii=False, default=str)
        for row in rows
    ).encode()


def listing(root: Path) -> dict[str, str]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {
        str(path.relative_to(root)): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in files
    }


def versions(root: Path) -> dict[str, int]:
    """How many versions each table has."""
    counts: defaultdict[str, int] = defaultdict(int)
    for path in root.rglob("_versions/*.manifest"):
        counts[str(path.parent.relative_to(root))] += 1
    return counts


class TestAnyOrder:
    def test_shuffled_and_twice_gives_the_same_bytes_as_once_in_order(
        self, tmp_path: Path, corpus_store: Path, conversations: Conversations
    ) -> None:
        for seed in (4711, 42):
            ingest(
                tmp_path,
                random.Random(seed).sample(conversations, len(conversations)),
            )
        assert export(tmp_path) == export(corpus_store)

    def test_the_export_holds_the_whole_corpus(
        self, corpus_store: Path, conversations: Conversations
    ) -> None:
        for scope in SCOPES:
            own = [c for c in conversations if scope_of(c) == scope]
            kept = records(corpus_store, scope)
            assert {record["conversation_id"] for record in kept} <= {
                c["conversationId"] for c in own
            }
            sources = {
                source for record in kept for source in record["source_ids"]
            }
            spoken = {
                message["id"]
                for c in own
                for message in c["messages"]
                if message["role"] == "user"
                and isinstance(message["content"], str)
                and not is_courtesy(message["content"])
            }
            assert len(spoken - sources) <= 0.02 * len(spoken), (
                "only injected memory, courtesies and silence may be missing"
            )
            assert triples(corpus_store, scope)

    def test_again_changes_no_record_and_adds_no_version(
        self, tmp_path: Path, conversations: Conversations
    ) -> None:
        few = random.Random(7).sample(conversations, 25)
        ingest(tmp_path, few)
        before, counted, kept = (
            export(tmp_path),
            versions(tmp_path),
            listing(tmp_path),
        )
        ingest(tmp_path, few)
        later = datetime(2027, 1, 1, tzinfo=UTC)
        for conversation in few:
            scope = scope_of(conversation)
            memory = Memory.open(
                tmp_path,
                workspace=scope.workspace,
                agent=scope.agent,
                now=later,
            )
            done = memory.ingest(conversation).to_dict()
            assert set(done["stored"].values()) == {0}
        assert versions(tmp_path) == counted
        assert export(tmp_path) == before
        assert listing(tmp_path) == kept

    def test_grown_message_by_message_says_the_same_words(
        self, tmp_path: Path, corpus_store: Path, conversations: Conversations
    ) -> None:
        longest = max(conversations, key=lambda c: len(c["messages"]))
        scope = scope_of(longest)
        for end in range(1, len(longest["messages"]) + 1):
            opened(tmp_path, scope).ingest(
                longest | {"messages": longest["messages"][:end]}
            )

        def turns(root: Path) -> list[dict[str, Any]]:
            own = [
                r
                for r in records(root, scope)
                if r["conversation_id"] == longest["conversationId"]
            ]
            return [
                record for record in own if record["memory_type"] == "turn"
            ]

        assert turns(tmp_path) == turns(corpus_store)


class TestFaces:
    def test_the_command_line_answers_as_the_library_does(
        self,
        corpus_store: Path,
        questions: list[dict[str, Any]],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        for question in questions[::20]:
            scope = scope_of(question)
            for words, arguments in (
                ([], {}),
                (
                    ["--max-results", "3", "--user", "u-dana"],
                    {"max_results": 3, "user_id": "u-dana"},
                ),
                (
                    ["--since", "2026-01-01", "--max-tokens", "80"],
                    {"since": "2026-01-01", "max_tokens": 80},
                ),
            ):
                memory = opened(corpus_store, scope).search(
                    question["question"], **arguments
                )
                capsys.readouterr()
                where = [
                    "--workspace",
                    scope.workspace,
                    "--agent",
                    scope.agent,
                    "--store",
                    str(corpus_store),
                ]
                said = [
                    "search",
                    question["question"],
                    *words,
                    *where,
                    "--now",
                    NOW.isoformat(),
                    "--json",
                ]
                assert main(said) == 0
                printed = capsys.readouterr()
                assert json.loads(printed.out) == memory.to_dict()
                assert printed.err == ""

    def test_the_demo_answers_ten_questions_and_can_be_shown_again(
        self,
        tmp_path: Path,
        corpus_store: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        command = [
            "demo",
            "--store",
            str(tmp_path / "demo"),
            "--now",
            NOW.isoformat(),
            "--json",
        ]
        shown, left = [], []
        for _ in range(2):
            assert main(command) == 0
            shown.append(json.loads(capsys.readouterr().out))
            left.append(listing(tmp_path / "demo"))
        assert shown[0] == shown[1]
        assert left[0] == left[1]
        assert len(shown[0]["answers"]) == 10
        for answer in shown[0]["answers"]:
            assert answer["response"]["results"], answer["question"]
        held = {
            f"{s['workspaceId']}/{s['agentId']}": s["grains"]["working"]
            for s in shown[0]["status"]
        }
        assert {name: grain["records"] for name, grain in held.items()} == {
            str(scope): len(records(corpus_store, scope)) for scope in SCOPES
        }
        assert export(tmp_path / "demo") == export(corpus_store)

    def test_the_demo_for_people_ends_with_what_to_try_next(
        self, corpus_store: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert (
            main(
                [
                    "demo",
                    "--store",
                    str(corpus_store),
                    "--now",
                    NOW.isoformat(),
                ]
            )
            == 0
        )
        out = capsys.readouterr().out
        assert str(corpus_store) in out
        assert sum(line.startswith("? ") for line in out.splitlines()) == 10
        commands = [
            line.split()[1]
            for line in out.splitlines()
            if line.startswith("  varve ")
        ]
        assert commands == ["search", "search", "summarize", "look"]


class TestTenants:
    """Invariant 7: a tenant touches only its own prefix."""

    def test_no_question_is_answered_from_another_workspace(
        self,
        corpus_store: Path,
        questions: list[dict[str, Any]],
        conversations: Conversations,
    ) -> None:
        own: defaultdict[Scope, set[str]] = defaultdict(set)
        for conversation in conversations:
            own[scope_of(conversation)].add(conversation["conversationId"])
        assert not own[SCOPES[0]] & own[SCOPES[1]]
        memories = {scope: opened(corpus_store, scope) for scope in SCOPES}
        counts = {scope: len(records(corpus_store, scope)) for scope in SCOPES}
        tenant = [
            question for question in questions if question["kind"] == "tenant"
        ]
        assert len(tenant) >= 10
        for question in tenant:
            for scope, memory in memories.items():
                answer = memory.search(question["question"], max_results=100)
                assert {
                    result.conversation_id for result in answer.results
                } <= own[scope]
                assert answer.results
                assert answer.searched.records <= counts[scope]

    def test_a_user_of_both_is_two_people(
        self, corpus_store: Path, conversations: Conversations
    ) -> None:
        for scope in SCOPES:
            found = (
                opened(corpus_store, scope)
                .search(user_id="u-dana", max_results=100)
                .results
            )
            assert found
            for result in found:
                (source,) = [
                    c
                    for c in conversations
                    if c["conversationId"] == result.conversation_id
                ]
                assert scope_of(source) == scope

    def test_a_record_of_the_other_cannot_be_shown(
        self, corpus_store: Path
    ) -> None:
        theirs = {
            scope: {record["id"] for record in records(corpus_store, scope)}
            for scope in SCOPES
        }
        assert not theirs[SCOPES[0]] & theirs[SCOPES[1]]
        here, there = SCOPES
        with pytest.raises(Rejected, match="no record"):
            opened(corpus_store, here).show(min(theirs[there]))

    def test_files_lie_below_the_owners_prefix(
        self, corpus_store: Path
    ) -> None:
        owners = {(scope.workspace, scope.agent) for scope in SCOPES}
        names = [Path(name).parts for name in listing(corpus_store)]
        owned = {
            parts
            for parts in names
            if parts[0] in {"vectordb", "graphs", "profiles", "timeline"}
        }
        assert {parts[1:3] for parts in owned} == owners
        rest = set(names) - owned
        assert all(
            any({*owner} <= {*parts} for owner in owners)
            for parts in rest
            if parts[0] == "ledger"
        )
        assert {parts[0] for parts in rest} <= {"ledger", ".locks"}


@pytest.mark.parametrize(
    "question", ["Where do I live?", "Where does Dana live now?"]
)
def test_invariant_11_a_flight_home_ends_no_home(
    corpus_store: Path, question: str
) -> None:
    memory = opened(corpus_store, Scope("northwind", "assistant"))
    first, *_ = memory.search(question, user_id="u-dana").results
    assert first.current
    assert "I moved to Porto" in first.content
