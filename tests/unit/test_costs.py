"""Costs in a directory: the models' tokens by agent, verb and day, with their prices."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import raw_conversation, raw_message
from tests.support.model_server import ModelServer, Request, prompt
from varve import Memory
from varve.cli.main import main
from varve.domain.errors import Rejected
from varve.domain.prices import parse_prices, prices_with
from varve.domain.usage import Item

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG = "The rain fell on the roofs of the old town again. " * 40


def terse(request: Request) -> dict[str, Any]:
    if "<sources>" not in prompt(request):
        return {"facts": [], "triples": []}
    lists: dict[str, Any] = {"people": [], "topics": [], "open_questions": []}
    return {"summary": "It rained.", **lists}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(terse) as server:
        yield server


def opened(store: Path, model: ModelServer, now: datetime = NOW) -> Memory:
    environment = {**model.environment, "VARVE_LLM": "openai:gpt-4o-mini"}
    return Memory.open(
        store,
        workspace="acme",
        agent="support",
        now=now,
        environment=environment,
    )


def told(model: ModelServer) -> int:
    """Return the words of all prompts: the server counts each as a token."""
    return sum(len(prompt(chat.body).split()) for chat in model.chats)


def test_the_models_tokens_are_counted_by_verb_and_day(
    tmp_path: Path, model: ModelServer
) -> None:
    with opened(tmp_path, model) as memory:
        memory.ingest(raw_conversation(raw_message(LONG)))
    extracting = told(model)
    with opened(tmp_path, model, NOW + timedelta(days=40)) as memory:
        memory.summarize(grain="daily")
    later = opened(tmp_path, model, NOW + timedelta(days=40))
    costs = later.costs(since=NOW)
    rows = {
        (row.verb, row.day): row.count(Item.TOKENS_IN) for row in costs.rows
    }
    assert rows == {
        ("extract", "2026-11-20"): extracting,
        ("summarize", "2026-12-30"): told(model) - extracting,
    }
    assert [row.day for row in later.costs().rows] == ["2026-12-30"]


def test_a_day_is_one_of_the_workspaces_zone(
    tmp_path: Path, model: ModelServer
) -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    with opened(tmp_path, model, late) as memory:
        memory.configure("timezone", "Asia/Tokyo")
        memory.ingest(raw_conversation())
    (row,) = opened(tmp_path, model, late).costs().rows
    assert row.day == "2026-12-01"
    assert sorted(
        path.name for path in (tmp_path / "costs").rglob("*.json")
    ) == [
        "2026-12.json",
        "2026-12.json",
    ]


def test_costs_hold_no_content_and_no_users_id(
    tmp_path: Path, model: ModelServer
) -> None:
    with opened(tmp_path, model) as memory:
        memory.ingest(
            raw_conversation("Tulip is my password.", userId="u-tulip")
        )
    for path in (tmp_path / "costs").rglob("*.json"):
        assert b"tulip" not in path.read_bytes().lower()


def test_a_store_without_a_model_or_requests_has_no_costs(
    tmp_path: Path,
) -> None:
    with Memory.open(tmp_path, now=NOW, environment={}) as memory:
        memory.ingest(
            {"conversationId": "c", "messages": [raw_message("I ski.")]}
        )
        assert memory.costs().rows == ()
    assert not (tmp_path / "costs").exists()


def test_costs_expire_after_the_days_that_the_workspace_sets(
    tmp_path: Path, model: ModelServer
) -> None:
    with opened(tmp_path, model) as memory:
        memory.ingest(raw_conversation())
    much_later = opened(tmp_path, model, NOW + timedelta(days=399))
    much_later.cleanup()
    assert much_later.costs(since=NOW).rows
    much_later.configure("costs.keepDays", "90")
    much_later.cleanup()
    assert not much_later.costs(since=NOW).rows


def test_the_command_prints_a_table_and_its_rows_as_json(
    tmp_path: Path,
    model: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VARVE_LLM", "openai:gpt-4o-mini")
    said = {
        **raw_conversation(),
        "agentId": "default",
        "workspaceId": "default",
    }
    (tmp_path / "c.json").write_text(json.dumps(said))
    store = [
        "--store",
        str(tmp_path / "store"),
        "--now",
        "2026-11-20T12:00:00Z",
    ]
    assert main(["ingest", str(tmp_path / "c.json"), *store]) == 0
    assert "model: 1 call, " in capsys.readouterr().out
    assert main(["costs", "--since", "2026-11-20", *store]) == 0
    printed = capsys.readouterr().out
    assert "estimated" in printed
    assert "not verified" in printed
    assert main(["costs", "--json", *store]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    tokens = told(model)
    assert (row["workspaceId"], row["agentId"], row["verb"]) == (
        "default",
        "default",
        "extract",
    )
    assert (row["modelCalls"], row["tokensIn"]) == (1, tokens)
    expected = (tokens * 0.15 + row["tokensOut"] * 0.60) / 1e6
    assert row["dollars"] == pytest.approx(expected, abs=1e-8)
    assert main(["costs", "--since", "yesterday", *store]) == 2
    assert main(["costs", "--since", "2026-11-21", *store]) == 2
    future = "--since: 2026-11-21 lies after today, 2026-11-20"
    assert future in capsys.readouterr().err


def test_a_workspaces_price_replaces_the_listed_one() -> None:
    counts = Counter(
        {Item.TOKENS_IN.of("gpt-4.1"): 10**6, Item.PUTS.value: 10**6}
    )
    assert prices_with(None).estimate(counts) == (7.0, ())
    assert prices_with("gpt-4.1=1/4, puts=6").estimate(counts) == (7.0, ())
    assert prices_with("puts=6").estimate(counts) == (8.0, ())


def test_a_model_without_a_price_is_named_and_not_guessed() -> None:
    counts = {
        Item.TOKENS_IN.of("tiny"): 5,
        Item.TOKENS_IN.of("openai/gpt-4.1"): 10**6,
    }
    assert prices_with(None).estimate(counts) == (2.0, ("tiny",))


@pytest.mark.parametrize(
    "text", ["gpt-4.1", "=1", "a=x", "a=-1", "a=1/nan", "a=inf"]
)
def test_a_price_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(Rejected, match=r"costs\.prices"):
        parse_prices(text, "costs.prices")
