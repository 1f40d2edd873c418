"""`forget --query --only N`: a number stands for one statement, however often it was told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_once import conversation, open_memory
from varve import Memory
from varve.cli import main
from varve.usecases.forget.fold_proposals import fold_statements
from varve.usecases.forget.proposals import Proposal

PHONE = "My phone number is 555-0134."
QUERY = "my phone number is 555-0134"


def tell_four_times(folder: Path) -> Memory:
    """Store the same statement in four conversations, once beside another one."""
    memory = open_memory(folder)
    texts = [PHONE, PHONE, f"{PHONE} I like tea.", PHONE]
    for day, text in enumerate(texts, 1):
        memory.ingest(conversation(f"c-{day}", text, day=f"2026-03-0{day}"))
    return memory


def list_statements(memory: Memory, query: str = QUERY) -> list[Any]:
    plan = memory.forget(query=query, dry_run=True)
    statements: list[Any] = plan["statements"]
    return statements


def test_invariant_8_a_number_takes_every_telling_of_its_statement(
    tmp_path: Path,
) -> None:
    memory = tell_four_times(tmp_path)
    memory.ingest(
        conversation("c-5", "My phone number is 555-0199.", day="2026-03-05")
    )
    memory.summarize()
    shown = list_statements(memory)
    [first] = [one for one in shown if "0134" in one["content"]]
    assert first["tellings"] == 4
    receipt = memory.forget(query=QUERY, only=[first["number"]], verify=True)
    assert receipt["verification"]["proved"]
    held = [one.content for one in memory.list(limit=100).records]
    assert not any("0134" in content for content in held)
    assert any("0199" in content for content in held)


def test_the_listing_tells_how_many_tellings_a_number_stands_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_four_times(tmp_path)
    command = ["forget", "--store", str(tmp_path), "--query", QUERY]
    assert main([*command, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    numbered = [line for line in lines if line.lstrip().startswith("1. ")]
    assert len(numbered) == 1
    assert numbered[0].endswith("(told 4 times)")
    assert not any("2. " in line for line in lines)
    assert main([*command, "--only", "1", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["erased"]["messages"] == 4


def test_the_lists_tell_a_message_that_says_more_than_its_statement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = open_memory(tmp_path)
    told = "I live in Porto and my dog is called Rex."
    memory.ingest(conversation("c-1", told))
    memory.ingest(conversation("c-2", "Forget where I live."))
    whole = f"     with its whole message: Ana Ruiz: {told}"
    store = ["--store", str(tmp_path)]
    for command in (["review"], ["forget", "--proposal", "1", "--dry-run"]):
        assert main([*command, *store]) == 0
        assert whole in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("told", "again", "different", "query"),
    [
        (
            "I work in Porto.",
            "I live in Porto and I work in Porto.",
            "I live in Porto.",
            "I work in Porto",
        ),
        (
            "My dog is called Rex.",
            "I live in Lisbon. My dog is called Rex.",
            "My cat is called Rex.",
            "my dog is called Rex",
        ),
        (
            "Mi perro se llama Toby.",
            "Mi perro se llama Toby, como ya te dije.",
            "Mi gato se llama Toby.",
            "mi perro se llama Toby",
        ),
        (
            "My blood pressure is 140 over 90.",
            "The oven is new. My blood pressure is 140 over 90.",
            "My blood pressure is 150 over 90.",
            "my blood pressure is 140 over 90",
        ),
    ],
)
def test_a_number_takes_no_other_statement(
    tmp_path: Path, told: str, again: str, different: str, query: str
) -> None:
    memory = open_memory(tmp_path)
    for day, text in enumerate([told, again, different], 1):
        memory.ingest(conversation(f"c-{day}", text, day=f"2026-03-0{day}"))
    first = list_statements(memory, query)[0]
    assert first["tellings"] == 2
    memory.forget(query=query, only=[1])
    left = [one.content for one in memory.list(limit=100).records]
    assert f"Ana Ruiz: {different}" in left
    assert not any(told in content for content in left)


def test_a_proposal_stands_for_every_telling_too(tmp_path: Path) -> None:
    memory = tell_four_times(tmp_path)
    number = memory.propose_forget(QUERY)["proposal"]
    [waiting] = memory.forget_proposals()
    assert [one["tellings"] for one in waiting["statements"]] == [4]
    receipt = memory.forget(proposal=number, only=[1])
    assert receipt["erased"]["messages"] == 4


def build_proposal(id_: str, content: str, **values: Any) -> Proposal:
    given = {
        "memory_type": "turn",
        "date": "2026-03-02",
        "messages": frozenset([(id_, "m")]),
        "erases": (id_,),
        "users": frozenset(["u-1"]),
        "likeness": 1.0,
    }
    return Proposal(id=id_, content=content, **(given | values))


@pytest.mark.parametrize(
    "values",
    [
        {"users": frozenset(["u-2"])},
        {"memory_type": "note"},
        {"content": "See you tomorrow.", "date": "2026-03-04"},
    ],
)
def test_other_users_notes_and_days_are_other_statements(
    values: dict[str, Any],
) -> None:
    content = values.get("content", "I'm allergic to nuts.")
    one = build_proposal("a", content)
    other = build_proposal("b", **({"content": content} | values))
    folded = fold_statements("", [one, other])
    assert [proposal.tellings for proposal in folded] == [1, 1]
