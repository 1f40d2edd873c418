"""Erasure reaches what was published, and the proof looks there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.test_forget import conversation
from tests.support.s3 import s3_server
from varve import Memory
from varve.adapters.lance_cache.inspection import LanceInspector
from varve.cli.main import main
from varve.ports.objects import Objects
from varve.usecases.analytics.targets import targets_key
from varve.wiring.sessions import Sessions

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
DANA = conversation(
    "c-1", "u-7", "Dana", "I live in Kumquatolia.", "How nice!"
)
MARCO = conversation("c-2", "u-8", "Marco", "I like espresso.", "Noted.")
BUCKET = "published-tables"


def open_memory(root: Path, agent: str = "support") -> Memory:
    return Memory.open(
        root, workspace="acme", agent=agent, now=NOW, environment={}
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "published"


@pytest.fixture
def memory(root: Path, target: Path) -> Memory:
    memory = open_memory(root)
    memory.ingest([DANA, MARCO])
    memory.publish(target)
    return memory


def finds(place: Objects, text: str) -> list[str]:
    """Return the keys of the objects in which the text stands, in any form."""
    inspector = LanceInspector("", place)
    found = []
    for area in ("_varve", "workspace=acme"):
        for info in place.list(area):
            stored = place.get(info.key)
            assert stored is not None
            if any(text in form for form in inspector.forms(stored.data)):
                found.append(info.key)
    return found


def open_place(memory: Memory, target: Path | str) -> Objects:
    return memory.sessions.open_target(str(target))


@pytest.mark.parametrize("selector", ["user", "conversation", "ids"])
def test_forget_writes_the_published_files_again_and_proves_it(
    memory: Memory, target: Path, selector: str
) -> None:
    place = open_place(memory, target)
    assert finds(place, "Kumquatolia")
    turn = memory.search("Kumquatolia", memory_types=["turn"]).results[0]
    given = {"user": "u-7", "conversation": "c-1", "ids": [turn.id]}
    receipt = memory.forget(**{selector: given[selector]}, verify=True)
    assert finds(place, "Kumquatolia") == []
    assert finds(place, "espresso")
    assert receipt["complete"] is True
    (published,) = receipt["published"]
    assert published["target"] == str(target)
    assert published["reached"] is True
    assert published["files"] > 0
    proof = receipt["verification"]
    assert (proof["proved"], proof["notRead"], proof["hits"]) == (True, [], 0)


@pytest.mark.parametrize("selector", ["user", "id"])
def test_forget_takes_every_version_of_a_note_from_what_is_published(
    memory: Memory, target: Path, selector: str
) -> None:
    memory.notes.put("tea.md", "Dana drinks gyokuro.", user_id="u-7")
    note = memory.notes.put(
        "tea.md", "Dana drinks sencha.", overwrite=True, user_id="u-7"
    )
    memory.notes.put("tea.md", "Marco drinks oolong.", user_id="u-8")
    memory.publish(target)
    place = open_place(memory, target)
    assert finds(place, "gyokuro")
    given = {"user": "u-7"} if selector == "user" else {"ids": [note.id]}
    receipt = memory.forget(**given, verify=True)
    assert receipt["verification"]["proved"] is True
    assert finds(place, "gyokuro") == []
    assert finds(place, "sencha") == []
    assert finds(place, "oolong")


def test_the_proof_finds_words_that_are_left_in_a_published_file(
    memory: Memory, target: Path
) -> None:
    folder = target / "workspace=acme/agent=support/type=turns/month=2026-03"
    memory.forget(user="u-7")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "copy.json").write_text(
        json.dumps({"said": "I live in Kumquatolia."})
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "varve.usecases.erasure.published.republish", lambda *_: None
        )
        proof = memory.forget(user="u-7", verify=True)["verification"]
    assert proof["proved"] is False
    assert proof["foundIn"] == [
        f"{target}/workspace=acme/agent=support/type=turns/month=2026-03/copy.json"
    ]
    again = memory.forget(user="u-7", verify=True)["verification"]
    assert again["proved"] is True  # a run drops what it did not write


@pytest.mark.parametrize("selector", ["user", "ids"])
def test_a_target_that_is_not_there_is_told_and_a_later_run_finishes(
    memory: Memory, target: Path, selector: str
) -> None:
    turn = memory.search("Kumquatolia", memory_types=["turn"]).results[0]
    given = {selector: {"user": "u-7", "ids": [turn.id]}[selector]}
    away = target.rename(target.with_name("unmounted"))
    receipt = memory.forget(**given, verify=True)
    assert receipt["complete"] is False
    assert receipt["published"][0]["reached"] is False
    assert receipt["verification"]["proved"] is False
    assert receipt["verification"]["notRead"] == [str(target)]
    assert any(
        "PUBLISHED FILES WERE NOT REACHED" in note for note in receipt["notes"]
    )
    stored = memory.sessions.store.objects.get(receipt["receipt"])
    assert stored is not None
    body = json.loads(stored.data)
    assert (body["complete"], body["published"][0]["reached"]) == (
        False,
        False,
    )
    assert not target.exists()
    away.rename(target)
    place = open_place(memory, target)
    assert finds(place, "Kumquatolia")
    again = memory.forget(**given, verify=True)
    assert finds(place, "Kumquatolia") == []
    assert again["complete"] is True
    assert again["verification"]["proved"] is True


def test_the_next_publish_pays_what_an_erasure_owes(
    memory: Memory, target: Path
) -> None:
    away = target.rename(target.with_name("unmounted"))
    memory.forget(user="u-7")
    away.rename(target)
    noted = read_note(memory)
    assert noted == {str(target): ["support"]}
    memory.publish(target)
    assert finds(open_place(memory, target), "Kumquatolia") == []
    assert read_note(memory) == {str(target): []}


def read_note(memory: Memory) -> dict[str, list[str]]:
    stored = memory.sessions.store.objects.get(targets_key("acme"))
    assert stored is not None
    targets: dict[str, list[str]] = json.loads(stored.data)["targets"]
    return targets


def test_an_erasure_leaves_the_files_of_other_agents_as_they_are(
    root: Path, memory: Memory, target: Path
) -> None:
    sales = open_memory(root, "sales")
    sales.ingest(DANA)
    sales.publish(target)
    memory.forget(user="u-7")
    left = finds(open_place(memory, target), "Kumquatolia")
    assert left
    assert all("agent=sales" in key for key in left)


def test_words_of_the_files_themselves_are_no_hits(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "memory")
    words = (
        "My standing is contradicting supporting predicate expired published."
    )
    memory.ingest(conversation("c-1", "u-7", "Dana", words, "Ah!"))
    memory.publish(tmp_path / "published")
    proof = memory.forget(user="u-7", verify=True)["verification"]
    assert (proof["proved"], proof["foundIn"]) == (True, [])


def test_a_run_that_read_rows_before_an_erasure_does_not_publish_them_after_it(
    root: Path, memory: Memory, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erasure runs when a second run has its rows and is about to write them."""
    memory.ingest(
        conversation("c-3", "u-7", "Dana", "I left Kumquatolia.", "Oh!")
    )
    open_stage = Sessions.open_stage
    erased = []

    def erase_meanwhile(sessions: Sessions) -> object:
        stage = open_stage(sessions)
        if not erased:
            erased.append(True)
            return _Interrupted(
                stage, lambda: open_memory(root).forget(user="u-7")
            )
        return stage

    monkeypatch.setattr(Sessions, "open_stage", erase_meanwhile)
    memory.publish(target)
    assert finds(open_place(memory, target), "Kumquatolia") == []


class _Interrupted:
    """A stage before whose first part something else happens."""

    def __init__(self, opened: object, happen: object) -> None:
        self._opened = opened
        self._happen = happen

    def __enter__(self) -> _Interrupted:
        self._stage = self._opened.__enter__()  # type: ignore[attr-defined]
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.__exit__(*error)  # type: ignore[attr-defined]

    def add(self, *given: object) -> object:
        return self._stage.add(*given)

    def parts(self, table: object) -> object:
        if self._happen:
            happen, self._happen = self._happen, None
            happen()  # type: ignore[operator]
        return self._stage.parts(table)


def test_the_command_fails_while_a_target_is_not_reached(
    memory: Memory,
    root: Path,
    target: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    away = target.rename(target.with_name("unmounted"))
    words = [
        "forget",
        "--user",
        "u-7",
        "--yes",
        "--verify",
        "--store",
        str(root),
    ]
    place = ["--workspace", "acme", "--agent", "support"]
    assert main([*words, *place]) == 1
    told = capsys.readouterr()
    assert "PUBLISHED FILES WERE NOT REACHED" in told.out
    assert "published files were not reached" in told.err
    away.rename(target)
    assert main([*words, *place]) == 0
    assert "written again" in capsys.readouterr().out


def test_a_bucket_is_published_to_and_erased_from(root: Path) -> None:
    with s3_server(BUCKET):
        memory = Memory.open(root, workspace="acme", agent="support", now=NOW)
        memory.ingest([DANA, MARCO])
        target = f"s3://{BUCKET}/tables"
        report = memory.publish(f"{target}/")
        assert report["target"] == target
        place = open_place(memory, target)
        assert finds(place, "Kumquatolia")
        receipt = memory.forget(user="u-7", verify=True)
        assert receipt["verification"]["proved"] is True
        assert finds(place, "Kumquatolia") == []
        assert finds(place, "espresso")
        memory.publish(target, remove=True)
        assert list(place.list("workspace=acme")) == []
