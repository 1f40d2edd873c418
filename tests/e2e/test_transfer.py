"""Export and import: a memory leaves whole and comes back the same; what is damaged changes nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.e2e.test_corpus import CORPUS, NOW, opened
from tests.support.drivers import driver_of, open_driver, open_memory
from varve import Memory
from varve.cli import main
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.record import STORES
from varve.usecases import timeline
from varve.usecases.ingest.taken_in import read_taken_in
from varve.usecases.transfer import exporting

pytestmark = pytest.mark.usefixtures("clean_environment")

DANA = Scope("northwind", "assistant")
OTHER = Scope("southwind", "twin")
State = dict[str, Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some of the corpus with its summaries, a profile set by hand, experience, and a setting."""
    root = tmp_path_factory.mktemp("transfer") / "store"
    memory = opened(root, DANA)
    for conversation in conversations():
        memory.ingest(conversation)
    memory.configure("plan", "pro")
    memory.set_profile("diet", "vegetarian", user_id="u-dana")
    memory.summarize()
    return root


@pytest.fixture(scope="module")
def exported(store: Path) -> Path:
    directory = store.parent / "export"
    opened(store, DANA).export(directory)
    return directory


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Path:
    """An export of the test's own, to damage."""
    directory = tmp_path / "export"
    directory.mkdir()
    for path in exported.iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    return directory


def conversations() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (CORPUS / "northwind-dana.json").read_text("utf-8")
    )
    return found[:12]


def state(root: Path, scope: Scope) -> State:
    """All that a memory is: records with vectors, triples, profiles, messages, what was taken in, due."""
    parts = open_driver(store=root)
    held = {str(s): parts.stores.embedded(scope, s) for s in STORES}
    days = timeline.list_days(scope, objects=parts.objects)
    return {
        "records": {
            name: (model, [e.record for e in found])
            for name, (model, found) in held.items()
        },
        "vectors": {
            e.record.id: np.asarray(e.vector).tolist()
            for _, found in held.values()
            for e in found
        },
        "triples": parts.graph.triples(scope),
        "profiles": {
            u: parts.profiles.entries(scope, u)
            for u in parts.profiles.users(scope)
        },
        "timeline": [
            pair
            for day in days
            for pair in sorted(
                timeline.messages_of_day(day, scope, objects=parts.objects),
                key=lambda pair: (pair[0], pair[1]["position"]),
            )
        ],
        "taken in": dict(read_taken_in(scope, objects=parts.objects)),
    }


def files(root: Path) -> dict[str, bytes]:
    """Every file under a root."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def standing(memory: Memory) -> dict[str, Any]:
    """Which summaries are ready and which wait, without sizes."""
    status = memory.status()
    return {
        grain: held.get("periods") for grain, held in status["grains"].items()
    }


def rewritten(directory: Path, name: str, data: bytes) -> None:
    """Another file in place of one, with a manifest that says so."""
    (directory / name).write_bytes(data)
    manifest = json.loads((directory / "manifest.json").read_bytes())
    manifest["files"][name] = {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    (directory / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def changed_line(
    directory: Path, name: str, number: int, change: Callable[[Any], Any]
) -> None:
    lines = (directory / name).read_text("utf-8").splitlines()
    lines[number - 1] = json.dumps(change(json.loads(lines[number - 1])))
    rewritten(directory, name, ("\n".join(lines) + "\n").encode())


def test_a_memory_comes_back_whole(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    fresh = opened(tmp_path / "fresh", DANA)
    done = fresh.import_(exported)
    assert done["config"] == "taken over"
    assert done["reembedded"] == 0
    assert state(tmp_path / "fresh", DANA) == state(store, DANA)
    assert fresh.config() == opened(store, DANA).config()
    assert standing(fresh) == standing(opened(store, DANA))
    assert fresh.profile(user_id="u-dana") == opened(store, DANA).profile(
        user_id="u-dana"
    )
    for question in ("where does Dana live?", "trip", None):
        before = opened(store, DANA).search(question).to_dict()
        assert fresh.search(question).to_dict() == before
        assert before["results"]


def test_an_export_does_not_say_where_words_and_keys_are_sent(
    copied: Path, tmp_path: Path
) -> None:
    config = json.loads((copied / "config.json").read_bytes())
    models = {
        "baseUrl": "https://elsewhere.example/v1",
        "key": {"environment": "OPENAI_API_KEY"},
    }
    config["models"] = config.get("models", {}) | models
    rewritten(copied, "config.json", json.dumps(config).encode())
    fresh = opened(tmp_path / "fresh", DANA)
    assert fresh.import_(copied)["config"] == "taken over"
    stored = driver_of(fresh).config(DANA.workspace).models
    assert (stored.base_url, stored.key) == (None, None)


def test_what_was_taken_in_before_is_known_after(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    fresh = opened(tmp_path / "fresh", DANA)
    fresh.import_(exported)
    before = state(tmp_path / "fresh", DANA)
    for conversation in conversations():
        stored = fresh.ingest(conversation).to_dict()["stored"]
        assert stored is not None
        assert not any(stored.values())
    assert state(tmp_path / "fresh", DANA) == before == state(store, DANA)


def test_importing_again_changes_no_file(
    exported: Path, tmp_path: Path
) -> None:
    fresh = opened(tmp_path / "fresh", DANA)
    fresh.import_(exported)
    before = files(tmp_path / "fresh")
    again = fresh.import_(exported)
    assert (
        again["records"]["new"]
        == again["messages"]
        == again["tripleOperations"]
        == 0
    )
    assert (
        again["profileEntries"] == again["takenIn"] == again["reembedded"] == 0
    )
    assert files(tmp_path / "fresh") == before


def test_a_memory_that_has_a_part_gets_the_rest(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    part = opened(tmp_path / "part", DANA)
    for conversation in conversations()[:4]:
        part.ingest(conversation)
    done = part.import_(exported)
    assert done["records"]["new"]
    assert done["records"]["present"]
    assert not done["records"]["differing"]
    assert state(tmp_path / "part", DANA) == state(store, DANA)


def test_into_another_workspace_and_agent(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    fresh = opened(tmp_path / "fresh", OTHER)
    fresh.import_(exported)
    assert state(tmp_path / "fresh", OTHER) == state(store, DANA)
    assert {
        path.name for path in (tmp_path / "fresh" / "vectordb").iterdir()
    } == {OTHER.workspace}


def test_a_summary_that_knows_its_sources_is_ready_and_one_that_does_not_is_due(
    exported: Path, tmp_path: Path
) -> None:
    whole = opened(tmp_path / "whole", DANA)
    whole.import_(exported)
    assert (
        sum(
            periods["ready"] for periods in standing(whole).values() if periods
        )
        > 0
    )
    assert whole.summarize()["built"] == 0

    part = opened(tmp_path / "part", DANA)
    part.ingest({**conversations()[0], "conversationId": "one-more"})
    part.import_(exported)
    assert part.summarize()["built"] > 0


def test_an_import_that_was_cut_off_goes_on(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    fresh = opened(tmp_path / "fresh", DANA)
    with pytest.raises(Retryable, match="cut off"):
        cut_off_at("exchange", "ledger/", tmp_path / "fresh").import_(exported)
    fresh.import_(exported)
    assert state(tmp_path / "fresh", DANA) == state(store, DANA)
    assert standing(fresh) == standing(opened(store, DANA))


class CutOff:
    """Objects of which one verb fails where a key begins like this."""

    def __init__(self, objects: Any, verb: str, prefix: str) -> None:
        self._objects, self._verb, self._prefix = objects, verb, prefix

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._objects, name)
        return verb if name != self._verb else partial(self._cut_off, verb)

    def _cut_off(
        self, verb: Callable[..., Any], given: Any, *more: Any
    ) -> Any:
        keys = [given] if isinstance(given, str) else [*given]
        if any(key.startswith(self._prefix) for key in keys):
            raise Retryable("cut off")
        return verb(given, *more)


def cut_off_at(verb: str, prefix: str, root: Path) -> Memory:
    """The memory in a process that is cut off at a verb of the objects."""
    return open_memory(
        DANA,
        root,
        NOW,
        wrap_objects=lambda objects: CutOff(objects, verb, prefix),
    )


def test_the_targets_privacy_applies(
    exported: Path, tmp_path: Path, copied: Path
) -> None:
    changed_line(copied, "timeline.jsonl", 1, with_address)
    changed_line(
        copied,
        "records.jsonl",
        1,
        lambda line: {**line, "content": "Ask dana@example.com"},
    )
    target = opened(tmp_path / "fresh", DANA)
    target.configure("privacy.mode", "redact")
    zone = json.loads((exported / "manifest.json").read_bytes())["timezone"]
    target.configure("timezone", zone)
    done = target.import_(copied)
    assert done["reembedded"] >= 1
    assert done["config"] == "kept"
    held = b"".join(files(tmp_path / "fresh").values())
    assert b"dana@example.com" not in held


def with_address(line: dict[str, Any]) -> dict[str, Any]:
    return {
        **line,
        "message": {**line["message"], "content": "Write to dana@example.com"},
    }


def test_invariant_8_an_import_brings_nothing_back_that_was_forgotten(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    fresh = opened(tmp_path / "fresh", DANA)
    fresh.import_(exported)
    gone = conversations()[0]["conversationId"]
    fresh.forget(conversation=gone)
    before = state(tmp_path / "fresh", DANA)
    again = fresh.import_(exported)
    assert again["forgotten"] > 0
    assert state(tmp_path / "fresh", DANA) == before
    held = before["records"]["working"][1]
    assert held
    assert gone not in {record.conversation_id for record in held}
    assert gone in {
        r.conversation_id for r in state(store, DANA)["records"]["working"][1]
    }
    assert gone not in {conversation for conversation, _ in before["timeline"]}


def test_what_was_cited_comes_back(tmp_path: Path) -> None:
    there, here = (
        opened(tmp_path / "there", DANA),
        opened(tmp_path / "here", DANA),
    )
    cited = "https://example.org/a page?of=it#part"
    there.experience.research.note(
        "release", "fact", "The pool was too small.", source=cited
    )
    there.experience.answers.remember(
        "pool", "size", "How large?", "Twenty.", citations=(cited,)
    )
    there.export(tmp_path / "export")
    here.import_(tmp_path / "export")
    assert here.experience.research.log(
        "release"
    ) == there.experience.research.log("release")
    assert (
        here.experience.answers.all() == there.experience.answers.all() != []
    )


def test_another_model_embeds_anew(
    store: Path, copied: Path, tmp_path: Path
) -> None:
    path = copied / "records.parquet"
    table = pq.read_table(path)
    other = table.set_column(
        table.schema.get_field_index("model"),
        "model",
        [["elsewhere:256"] * len(table)],
    )
    pq.write_table(other, path)
    rewritten(copied, "records.parquet", path.read_bytes())
    fresh = opened(tmp_path / "fresh", DANA)
    done = fresh.import_(copied)
    assert done["reembedded"] == done["records"]["new"] > 0
    assert state(tmp_path / "fresh", DANA) == state(store, DANA)


def test_the_manifest_tells_everything_but_where_it_came_from(
    store: Path, exported: Path
) -> None:
    text = (exported / "manifest.json").read_text("utf-8")
    manifest = json.loads(text)
    assert str(store) not in text
    assert str(store.parent) not in text
    assert (manifest["format"], manifest["version"]) == (
        exporting.FORMAT,
        exporting.VERSION,
    )
    assert {path.name for path in exported.iterdir()} == {
        *manifest["files"],
        "manifest.json",
    }
    for name, said in manifest["files"].items():
        data = (exported / name).read_bytes()
        assert said == {
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    assert (
        manifest["counts"]["records"]["working"]
        == pq.read_table(
            exported / "records.parquet", filters=[("grain", "=", "working")]
        ).num_rows
    )
    assert (
        manifest["counts"]["triples"]
        == pq.read_table(exported / "triples.parquet").num_rows
        > 0
    )


def test_an_export_is_whole_or_not_there(store: Path, tmp_path: Path) -> None:
    memory = cut_off_at("get", "timeline/", store)
    with pytest.raises(Retryable, match="cut off"):
        memory.export(tmp_path / "export")
    assert list(tmp_path.iterdir()) == []


def test_an_export_puts_nothing_in_a_directory_that_is_not_empty(
    store: Path, tmp_path: Path
) -> None:
    memory = opened(store, DANA)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    for force in (False, True):
        with pytest.raises(Rejected, match="DIR: is not empty"):
            memory.export(tmp_path / "mine", force=force)
    assert files(tmp_path) == {"mine/thesis.txt": b"all of it"}
    memory.export(tmp_path / "export")
    first = files(tmp_path / "export")
    with pytest.raises(Rejected, match="with --force"):
        memory.export(tmp_path / "export")
    memory.export(tmp_path / "export", force=True)
    assert files(tmp_path / "export") == first


@pytest.mark.parametrize("place", ["taken", "taken/x", "x" * 300, "a\0b"])
def test_an_export_goes_where_a_directory_can_be(
    store: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(Rejected, match=r"^DIR: .* a directory"):
        opened(store, DANA).export(tmp_path / place)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    "details", ["no JSON", "[1]", '[{"id": "fact-1"}]', '{"ended": [3]}', "7"]
)
def test_details_that_nobody_could_read_again_are_refused(
    copied: Path, tmp_path: Path, details: str
) -> None:
    """One such row in a store would end every summary, every search of experience and every erasure."""
    lines = (copied / "records.jsonl").read_text("utf-8").splitlines()
    kinds = [json.loads(line)["memoryType"] for line in lines]
    for kind in ("fact", "turn", "summary"):
        number = 1 + kinds.index(kind)
        directory = tmp_path / kind
        shutil.copytree(copied, directory)
        changed_line(
            directory,
            "records.jsonl",
            number,
            lambda v: {**v, "keyFacts": details},
        )
        with pytest.raises(Rejected, match=f"line {number}: keyFacts"):
            opened(tmp_path / "fresh", DANA).import_(directory)
    assert not (tmp_path / "fresh").exists()


@pytest.mark.parametrize(
    ("name", "number", "change", "said"),
    [
        ("records.jsonl", 2, lambda v: {**v, "eventTime": "yesterday"}, "line 2: eventTime"),
        ("records.jsonl", 2, lambda v: {**v, "grain": "hourly"}, "line 2: grain"),
        ("records.jsonl", 2, lambda v: {**v, "importance": "high"}, "line 2: importance"),
        ("records.jsonl", 2, lambda v: {**v, "importance": float("nan")}, "line 2"),
        ("records.jsonl", 2, lambda v: {**v, "importance": 7.0}, "line 2: importance"),
        ("records.jsonl", 2, lambda v: {**v, "confidence": -0.5}, "line 2: confidence"),
        ("records.jsonl", 2, lambda v: {**v, "position": 2**70}, "line 2: position"),
        ("records.jsonl", 2, lambda v: {**v, "userId": "../x"}, "line 2: userId"),
        ("records.jsonl", 2, lambda v: {**v, "conversationId": "a/b"}, "line 2: conversationId"),
        ("records.jsonl", 2, lambda v: {**v, "memoryType": "summary"}, "line 2: memoryType"),
        ("records.jsonl", 2, lambda v: {k: w for k, w in v.items() if k != "content"}, "line 2: content"),
        ("records.jsonl", 2, lambda v: {**v, "content": "\ud800"}, "line 2"),
        ("records.jsonl", 2, lambda v: {**v, "id": "fact-another"}, "records.parquet: holds other"),
        ("records.jsonl", 2, lambda _: [1], "line 2: must be a JSON object"),
        ("triples.jsonl", 1, lambda v: {**v, "evidence": [{}]}, r"line 1: evidence\[0\].op: is missing"),
        ("triples.jsonl", 1, lambda _: {}, "line 1: evidence"),
        ("profiles.jsonl", 1, lambda v: {**v, "key": "No Key"}, "line 1: key"),
        ("profiles.jsonl", 1, lambda v: {**v, "ends": "maybe"}, "line 1: ends"),
        ("timeline.jsonl", 3, lambda v: {**v, "day": "2026-02-30"}, "line 3: day"),
        ("timeline.jsonl", 3, lambda v: {**v, "position": -1}, "line 3: position"),
        ("timeline.jsonl", 3, lambda v: {**v, "position": 2**70}, "line 3: position"),
        ("timeline.jsonl", 3, lambda v: {**v, "message": {**v["message"], "x": float("inf")}}, "line 3"),
        ("timeline.jsonl", 3, lambda v: {**v, "message": {"id": "m", "role": "king"}}, "line 3: messages"),
        ("taken-in.jsonl", 1, lambda v: {**v, "conversationId": ".."}, "line 1: conversationId"),
        ("taken-in.jsonl", 1, lambda v: {**v, "messages": {"x": "y"}}, "line 1: messages"),
    ],
)  # fmt: skip
def test_a_faulty_line_is_named_and_nothing_is_written(
    copied: Path,
    tmp_path: Path,
    name: str,
    number: int,
    change: Callable[[Any], Any],
    said: str,
) -> None:
    changed_line(copied, name, number, change)
    with pytest.raises(Rejected, match=said):
        opened(tmp_path / "fresh", DANA).import_(copied)
    assert not (tmp_path / "fresh").exists()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lambda d: (d / "manifest.json").unlink(),
            "manifest.json: cannot be read",
        ),
        (
            lambda d: (d / "manifest.json").write_text("{"),
            "manifest.json: is not valid JSON",
        ),
        (
            lambda d: (d / "manifest.json").write_text("{}"),
            "manifest.json: files",
        ),
        (lambda d: in_manifest(d, version=2), "manifest.json: version: is 2"),
        (lambda d: in_manifest(d, format="x"), "manifest.json: format"),
        (
            lambda d: in_manifest(d, timezone="Asia/Tokyo"),
            "manifest.json: timezone",
        ),
        (
            lambda d: in_manifest(d, files={}),
            "manifest.json: files: does not name",
        ),
        (
            lambda d: in_manifest(d, files={"../x": {}}),
            "manifest.json: files: names something",
        ),
        (
            lambda d: (d / "timeline.jsonl").unlink(),
            "timeline.jsonl: is missing",
        ),
        (
            lambda d: cut(d / "records.parquet"),
            "records.parquet: differs from the manifest",
        ),
        (
            lambda d: cut(d / "records.jsonl"),
            "records.jsonl: differs from the manifest",
        ),
        (
            lambda d: rewritten(d, "records.parquet", b"PAR1"),
            "records.parquet: is not the Parquet file",
        ),
        (
            lambda d: rewritten(d, "records.jsonl", b"{\n"),
            "records.jsonl: line 1: is not valid JSON",
        ),
        (
            lambda d: rewritten(d, "config.json", b'{"plan": "gold"}'),
            "config.json: plan",
        ),
    ],
)
def test_a_damaged_export_is_refused_before_anything_is_written(
    copied: Path, tmp_path: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(copied)
    with pytest.raises(Rejected, match=said):
        opened(tmp_path / "fresh", DANA).import_(copied)
    assert not (tmp_path / "fresh").exists()


def in_manifest(directory: Path, **values: Any) -> None:
    path = directory / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def test_days_of_another_time_zone_are_not_mixed_in(
    exported: Path, tmp_path: Path
) -> None:
    target = opened(tmp_path / "fresh", DANA)
    target.configure("timezone", "Asia/Tokyo")
    before = files(tmp_path / "fresh")
    with pytest.raises(Rejected, match=r"timezone: .*Asia/Tokyo"):
        target.import_(exported)
    assert files(tmp_path / "fresh") == before


def test_the_command_line(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there, here = (
        ["--workspace", "northwind", "--agent", "assistant"],
        ["--store", str(tmp_path / "new")],
    )
    assert (
        main(
            [
                "export",
                str(tmp_path / "x"),
                "--store",
                str(store),
                *there,
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["counts"]["timeline"] > 0
    assert (
        main(["export", str(tmp_path / "x"), "--store", str(store), *there])
        == 2
    )
    assert "DIR: is not empty" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "x"), *here, *there]) == 0
    assert "new: " in capsys.readouterr().out
    assert state(tmp_path / "new", DANA) == state(store, DANA)
    assert main(["import", str(tmp_path / "nowhere"), *here]) == 2
