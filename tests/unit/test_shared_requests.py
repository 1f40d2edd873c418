"""What a user asked one agent to forget is hidden from the agents that share its memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory


@pytest.mark.parametrize(
    "question", [None, "Helen", "Where does my sister live?"]
)
@pytest.mark.parametrize("types", [["fact", "turn", "summary"], ["turn"]])
def test_12_a_request_to_forget_holds_for_those_it_is_shared_with(
    tmp_path: Path, question: str | None, types: list[str]
) -> None:
    root = tmp_path / "memory"
    owner = Memory.open(root, agent="owner", now=NOW)
    owner.ingest(
        [
            talk(1, "My sister Helen moved to Rome last week."),
            talk(2, "The kiln needs a new valve."),
            talk(3, "Forget what I told you about my sister."),
        ]
    )
    owner.share.grant("reader", types=types)
    reader = Memory.open(root, agent="reader", now=NOW)
    found = reader.search(question, agents=["owner"], max_results=20).results
    assert not [one.content for one in found if "Rome" in one.content]
    kiln = reader.search("kiln", agents=["owner"]).results
    assert any("valve" in one.content for one in kiln)
    block = reader.context("Helen", agents=["owner"]).text
    assert "Rome" not in block
