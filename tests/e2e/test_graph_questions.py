"""Questions about people and things of the corpus, put to the graph that its conversations lead to."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.drivers import driver_of, open_driver
from tests.support.model_replies import messages_of
from tests.support.model_server import ModelServer, Request
from varve import Memory
from varve.adapters.in_memory import InMemoryRecords
from varve.domain.conversation import parse_conversation
from varve.domain.identity import Scope
from varve.domain.names import normalized

CORPUS = Path(__file__).parents[1] / "corpus"
NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)

OFFLINE_FLOOR = 15
"""Of 68, three of which expect nothing: what the rules must at least get right. Careful, not complete."""
MODEL_FLOOR = 67
"""Of 68. The replies are a person's, so this tells of the fold and the names, not of any model."""

Question = dict[str, Any]


def questions() -> list[Question]:
    asked: list[Question] = json.loads(
        (CORPUS / "graph" / "questions.json").read_text("utf-8")
    )
    return asked


def memories(
    root: Path, environment: dict[str, str], seed: int | None = None
) -> dict[Scope, Memory]:
    """The corpus, shuffled where there is a seed, through the pipeline; the records stay in memory."""
    records = InMemoryRecords()
    application = open_driver(
        environment, root, NOW, records=records, stores=records
    )
    found: defaultdict[Scope, list[Any]] = defaultdict(list)
    for path in sorted(CORPUS.glob("*.json")):
        if path.name != "questions.json":
            for conversation in map(
                parse_conversation, json.loads(path.read_text("utf-8"))
            ):
                found[conversation.scope].append(conversation)
    for scope, conversations in found.items():
        if seed is not None:
            random.Random(seed).shuffle(conversations)
        for conversation in conversations:
            application.ingest([conversation.in_scope(scope)])
    return {scope: application.memory(scope) for scope in found}


def answered(question: Question, told: dict[Scope, Memory]) -> set[str]:
    graph = told[Scope(question["workspaceId"], question["agentId"])].graph
    as_of = question["asOf"] and datetime.fromisoformat(question["asOf"])
    facts = graph.entity(question["entity"], as_of=as_of)["facts"]
    return {
        fact["targetId"]
        for fact in facts
        if fact["label"] == question["predicate"]
    }


def right(question: Question, told: dict[Scope, Memory]) -> bool:
    return answered(question, told) == set(map(normalized, question["values"]))


def score(told: dict[Scope, Memory]) -> int:
    """How many answers are right to the last value; told is what went wrong too."""
    wrong = [q for q in questions() if not right(q, told)]
    for q in wrong:
        print(
            f"  {q['question']} {sorted(answered(q, told))}, not {q['values']}"
        )
    then = [q for q in questions() if q["asOf"]]
    print(f"{len(questions()) - len(wrong)} of {len(questions())} right, as of a time "
          f"{len(then) - sum(1 for q in wrong if q['asOf'])} of {len(then)}")  # fmt: skip
    return len(questions()) - len(wrong)


def recorded(request: Request) -> dict[str, Any]:
    """The reply kept for the conversation whose messages the prompt holds; those without have nothing."""
    replies: dict[str, Any] = json.loads(
        (CORPUS / "graph" / "replies.json").read_text("utf-8")
    )
    spoken = {message["id"] for message in messages_of(request)}
    conversations = {id_.rpartition(".")[0] for id_ in spoken}
    nothing: dict[str, Any] = {"facts": [], "triples": []}
    return (
        replies.get(conversations.pop(), nothing)
        if len(conversations) == 1
        else nothing
    )


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> dict[Scope, Memory]:
    return memories(tmp_path_factory.mktemp("offline"), {})


@pytest.fixture(scope="module")
def model_environment() -> Iterator[dict[str, str]]:
    with ModelServer(recorded) as model:
        yield {**model.environment, "VARVE_LLM": "openai:recorded"}
        assert len(model.chats) >= 101


@pytest.fixture(scope="module")
def with_model(
    tmp_path_factory: pytest.TempPathFactory, model_environment: dict[str, str]
) -> dict[Scope, Memory]:
    return memories(tmp_path_factory.mktemp("model"), model_environment)


def test_there_are_questions_enough_about_now_and_about_then() -> None:
    asked = questions()
    assert len([q for q in asked if q["asOf"] is None]) >= 40
    assert len([q for q in asked if q["asOf"]]) >= 15
    assert len({q["id"] for q in asked}) == len(asked)


def test_the_rules_answer_what_they_did(offline: dict[Scope, Memory]) -> None:
    assert score(offline) >= OFFLINE_FLOOR


def test_invariant_2_the_conversations_order_does_not_matter_to_the_graph(
    tmp_path: Path,
    with_model: dict[Scope, Memory],
    model_environment: dict[str, str],
) -> None:
    again = memories(tmp_path, model_environment, seed=4711)
    for scope, memory in with_model.items():
        key = f"graphs/{scope}/facts.parquet"
        stored = [
            driver_of(m).objects.get(key) for m in (memory, again[scope])
        ]
        assert stored[0] == stored[1]
        assert stored[0] is not None


def test_with_good_replies_the_graph_answers_nearly_all(
    with_model: dict[Scope, Memory],
) -> None:
    assert score(with_model) >= MODEL_FLOOR


def test_a_question_gets_the_same_answer_under_any_name(
    with_model: dict[Scope, Memory],
) -> None:
    graph = with_model[Scope("northwind", "assistant")].graph
    for short, full in [
        ("Dana", "Dana Whitfield"),
        ("Reme", "remedios ferrer"),
        ("Rui", "Rui Bastos"),
    ]:
        assert graph.entity(short, history=True) == graph.entity(
            full, history=True
        )
        assert (
            graph.entity(short, history=True)["mentions"]
            + graph.entity(short)["facts"]
        )
