"""On a file system that ignores case, two ids that differ in case alone never share a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.folding_mount import folding_mount, missing
from varve import Memory
from varve.adapters.objects.store import local_objects
from varve.domain.errors import Misconfigured, Rejected


@pytest.fixture(scope="module")
def folding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    with folding_mount(tmp_path_factory.mktemp("folding")) as folder:
        yield folder


def said(words: str, conversation: str = "c-1") -> dict[str, Any]:
    message = {"id": "m1", "role": "user", "name": "Dana", "content": words}
    message["timestamp"] = "2026-03-02T09:15:00Z"
    return {"conversationId": conversation, "messages": [message]}


def found(memory: Memory) -> list[str]:
    return [one.content for one in memory.search(max_results=50).results]


def test_the_mount_ignores_case_and_normalization(folding: Path) -> None:
    (folding / "Caf\u00e9").write_text("x")
    assert (folding / "cafE\u0301").read_text() == "x"
    assert [one.name for one in folding.iterdir() if one.is_file()] == [
        "Caf\u00e9"
    ]


def test_invariant_7_a_workspace_of_another_case_is_refused_by_name(
    folding: Path,
) -> None:
    store = folding / "workspaces-differ"
    upper = Memory.open(store, workspace="Acme", agent="support")
    upper.ingest(said("I moved to Lisbon."))
    held = found(upper)
    assert held
    lower = Memory.open(store, workspace="acme", agent="support")
    for verb in (
        lambda: lower.search("where does Dana live?"),
        lambda: lower.ingest(said("I like rye.")),
        lambda: lower.forget(conversation="c-1"),
    ):
        with pytest.raises(
            Misconfigured, match=r"'acme' would share .* 'Acme'"
        ):
            verb()
    assert found(upper) == held


def test_invariant_7_an_agent_of_another_case_is_refused_by_name(
    folding: Path,
) -> None:
    store = folding / "agents-differ"
    Memory.open(store, workspace="acme", agent="Support").ingest(
        said("I like rye.")
    )
    other = Memory.open(store, workspace="acme", agent="support")
    with pytest.raises(
        Misconfigured, match=r"'support' would share .* 'Support'"
    ):
        other.search("rye")


def test_a_conversation_of_another_case_is_refused_and_none_is_lost(
    folding: Path,
) -> None:
    store = folding / "conversations-differ"
    memory = Memory.open(store, workspace="acme", agent="support")
    memory.ingest(said("I like rye.", "C-1"))
    with pytest.raises(
        Misconfigured, match=r"'c-1.json' would share .* 'C-1.json'"
    ):
        memory.ingest(said("I like quinces.", "c-1"))
    assert any("rye" in words for words in found(memory))


def test_a_memory_lives_on_such_a_file_system_as_on_any_other(
    folding: Path,
) -> None:
    memory = Memory.open(
        folding / "lives", workspace="Acme", agent="Support-1"
    )
    memory.ingest(said("I moved to Lisbon.", "Run-7"))
    memory.summarize()
    assert memory.search("where does Dana live?").results
    memory.forget(conversation="Run-7")
    assert found(memory) == []


def test_a_name_with_a_dot_at_its_end_is_another_on_no_windows(
    folding: Path,
) -> None:
    objects = local_objects(folding / "dots")
    objects.put("workspaces/acme/config.json", b"{}")
    with pytest.raises(Misconfigured, match="would share"):
        objects.get("workspaces/acme./config.json")


def test_a_file_system_that_tells_case_apart_takes_both(
    tmp_path: Path,
) -> None:
    for workspace in ("Acme", "acme"):
        memory = Memory.open(tmp_path, workspace=workspace, agent="support")
        memory.ingest(said(f"The key of {workspace} is red."))
        (told,) = found(memory)
        assert workspace in told


@pytest.mark.parametrize(
    "name", ["caf\u00e9", "cafe\u0301", "\u212aelvin", "stra\u00dfe"]
)
def test_no_id_in_a_path_has_two_unicode_forms(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(Rejected):
        Memory.open(tmp_path, workspace=name, agent="support")
