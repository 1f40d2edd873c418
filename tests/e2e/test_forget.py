"""`forget` over real files and a real S3 server: no byte left, nobody else's lost, nothing comes back."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.s3 import s3_server
from varve import Memory
from varve.cli import main
from varve.domain.errors import Retryable

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
BUCKET = "varve-test"
CANARIES = ("zebrinaquoll", "kumquatolia", "osprelliant", "danaquetzal")
Conversation = dict[str, Any]


def open_memory(root: str | Path) -> Memory:
    return Memory.open(
        root, workspace="acme", agent="support", now=NOW, environment={}
    )


def conversation(
    name: str, user: str, speaker: str, *texts: str, day: str = "2026-04-19"
) -> Conversation:
    said = [
        {
            "id": f"{name}-m{index}",
            "role": "user" if index % 2 == 0 else "assistant",
            "name": speaker if index % 2 == 0 else "Bot",
            "content": text,
            "timestamp": f"{day}T09:{index:02}:00Z",
        }
        for index, text in enumerate(texts)
    ]
    return {"conversationId": name, "userId": user, "messages": said}


DANA = conversation(
    "c-danaquetzal", "u-danaquetzal", "Danaquetzal",
    "I live in Kumquatolia.", "Kumquatolia, how nice!", "I like zebrinaquoll.", "Zebrinaquoll?",
    "I work at Osprelliant Ltd.", day="2026-04-12",
)  # fmt: skip
MARCO = [
    conversation(f"c-{day}", "u-marco", "Marco", f"I like dish {day}.", "Noted.", f"I live in Town{day}.",
                 day=f"2026-04-{day}")
    for day in (12, 13, 19)
]  # fmt: skip


def told(root: str | Path, *conversations: Conversation) -> Memory:
    memory = open_memory(root)
    memory.ingest(list(conversations))
    memory.summarize()
    return memory


def forms(data: bytes) -> Iterator[bytes]:
    """The bytes, and what they hold where they are packed."""
    yield data
    if data[:2] == b"\x1f\x8b":
        yield from forms(gzip.decompress(data))
    if data[:4] == b"\x28\xb5\x2f\xfd":
        yield from forms(
            pa.input_stream(io.BytesIO(data), compression="zstd").read()
        )
    if data[:4] == b"PAR1":
        yield json.dumps(
            pq.read_table(io.BytesIO(data)).to_pylist(), default=str
        ).encode()


def traces(files: dict[str, bytes], *words: str) -> list[str]:
    """The files that hold one of the words in any of their forms, or in their names."""
    return [
        name
        for name, data in files.items()
        if any(
            word.encode() in form.lower()
            for word in words
            for form in (name.encode(), *forms(data))
        )
    ]


def files_under(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def held(memory: Memory) -> list[tuple[str, str, str | None, str]]:
    """Every record by what it says."""
    grains = ("working", "daily", "weekly", "monthly", "quarterly", "yearly")
    found = [
        r
        for grain in grains
        for r in memory.search(None, grain=grain, max_results=100).results
    ]
    return sorted((r.grain, r.period, r.user_id, r.content) for r in found)


SELECTIONS = [
    ({"user": "u-danaquetzal"}, CANARIES),
    ({"conversation": "c-danaquetzal"}, CANARIES),
    ({"query": "zebrinaquoll"}, ("zebrinaquoll",)),
]


@pytest.mark.parametrize(
    ("selection", "words"), SELECTIONS, ids=lambda value: next(iter(value))
)
def test_invariant_8_no_file_holds_a_byte_of_the_forgotten(
    tmp_path: Path, selection: dict[str, str], words: tuple[str, ...]
) -> None:
    memory = told(tmp_path / "store", DANA, *MARCO)
    before = traces(files_under(tmp_path), *words)
    areas = {name.split("/")[1] for name in before}
    assert areas >= {"vectordb", "graphs", "timeline"}
    receipt = memory.forget(**selection, verify=True)
    assert receipt["verification"]["proved"]
    assert receipt["verification"]["objects"] > 10
    assert traces(files_under(tmp_path), *words) == []
    assert memory.search(words[0]).results == [] or words[0] not in str(
        memory.search(words[0]).to_dict()["results"]
    )
    memory.ingest(DANA, now=NOW + timedelta(days=1))
    memory.summarize()
    assert traces(files_under(tmp_path), *words) == []


def words_of(root: Path) -> set[str]:
    """The words of six letters or more that stand in any file or its name; no base64, no bit patterns."""
    files = files_under(root)
    texts = [
        *files,
        *(
            form.decode("utf-8", "replace")
            for data in files.values()
            for form in forms(data)
        ),
    ]
    plain = (re.sub("[A-Za-z0-9+/]{60,}", " ", text).lower() for text in texts)
    found = {word for text in plain for word in re.findall("[a-z]{6,}", text)}
    return {word for word in found if not re.search(r"(.)\1{2}", word)}


def test_words_that_every_store_holds_are_nobodys_traces(
    tmp_path: Path,
) -> None:
    memory = told(tmp_path / "one", DANA)
    told(tmp_path / "two", *MARCO).record_outcome("c-12", "SUCCESS")
    memory.record_outcome("c-danaquetzal", "SUCCESS")
    everywhere = sorted(
        words_of(tmp_path / "one") & words_of(tmp_path / "two")
    )
    assert {"english", "language", "support"} <= set(everywhere)
    memory.ingest(
        conversation("c-words", "u-words", "Support", " ".join(everywhere))
    )
    assert memory.forget(user="u-words", verify=True)["verification"]["proved"]


def test_what_was_reported_of_a_conversation_goes_with_it_whoever_is_named(
    tmp_path: Path,
) -> None:
    memory = told(tmp_path / "store", DANA, *MARCO)
    for conversation_id in ("c-danaquetzal", "c-12"):
        memory.record_outcome(
            conversation_id,
            "FAILURE",
            correction=f"Not so, said {conversation_id}.",
        )
    receipt = memory.forget(user="u-danaquetzal", verify=True)
    assert receipt["erased"]["experience"] == 1
    assert receipt["verification"]["proved"]
    assert traces(files_under(tmp_path), "said c-danaquetzal") == []
    assert traces(files_under(tmp_path), "said c-12") != []


def test_invariant_8_by_record_id_its_message_goes_and_the_others_stay(
    tmp_path: Path,
) -> None:
    memory = told(tmp_path / "store", DANA, *MARCO)
    (fact,) = (
        r
        for r in memory.search("osprelliant").results
        if r.content == "Danaquetzal works at Osprelliant Ltd."
    )
    assert memory.forget(ids=[fact.id], verify=True)["verification"]["proved"]
    assert traces(files_under(tmp_path), "osprelliant") == []
    assert "Kumquatolia" in str(held(memory))


def test_the_rest_is_what_it_would_be_without_him(tmp_path: Path) -> None:
    memory, control = (
        told(tmp_path / "one", DANA, *MARCO),
        told(tmp_path / "two", *MARCO),
    )
    memory.forget(user="u-danaquetzal")
    memory.summarize()
    assert held(memory) == held(control)


def test_the_receipt_and_the_tombstones_hold_no_content(
    tmp_path: Path,
) -> None:
    memory = told(tmp_path, DANA)
    key = memory.forget(user="u-danaquetzal", verify=True)["receipt"]
    receipt = json.loads((tmp_path / key).read_text())
    assert receipt["complete"]
    assert receipt["erased"]["messages"] == len(DANA["messages"])
    assert receipt["verification"]["hits"] == 0
    audit = {
        name: data
        for name, data in files_under(tmp_path).items()
        if name.startswith("audit/")
    }
    assert (
        len(audit) == 3
    )  # the receipt, the tombstones, and no needles any more
    assert traces(audit, *CANARIES, "u-danaquetzal") == []


def test_verification_finds_what_was_left_behind(tmp_path: Path) -> None:
    """An area that a later version might add, packed, and an agent's file nobody thought of."""
    memory = told(tmp_path, DANA)
    left = tmp_path / "caches" / "acme" / "support"
    left.mkdir(parents=True)
    (left / "notes.gz").write_bytes(
        gzip.compress(b'{"said": "I live in Kumquatolia."}')
    )
    checked = memory.forget(user="u-danaquetzal", verify=True)["verification"]
    assert (checked["proved"], checked["foundIn"]) == (
        False,
        ["caches/acme/support/notes.gz"],
    )


def test_invariant_4_others_lose_nothing_while_somebody_is_forgotten(
    tmp_path: Path,
) -> None:
    """A writer in another opening of the store goes on; what it is refused it says again, as it may."""
    memory = told(tmp_path / "one", DANA, *MARCO)
    others = [
        conversation(
            f"c-new-{n}", "u-marco", "Marco", f"I like meal {n}.", "Noted."
        )
        for n in range(6)
    ]

    def write() -> None:
        writer = open_memory(tmp_path / "one")
        for one in others:
            while True:
                try:
                    writer.ingest(one)
                    break
                except Retryable:
                    continue

    thread = threading.Thread(target=write)
    thread.start()
    while True:
        try:
            done = memory.forget(user="u-danaquetzal")
            break
        except Retryable:
            continue
    thread.join()
    assert done["complete"]
    control = told(tmp_path / "two", *MARCO, *others)
    memory.summarize()
    assert held(memory) == held(control)
    # What lost against another's commit leaves files behind, until none can be a write's that still goes on.
    past = (NOW - timedelta(days=365)).timestamp()
    for file in (tmp_path / "one" / "vectordb").rglob("*"):
        if file.is_file() and file.parent.name != "_versions":
            os.utime(file, (past, past))
    checked = memory.forget(user="u-danaquetzal", verify=True)["verification"]
    assert (checked["foundIn"], checked["remains"]) == ([], [])
    assert checked["proved"]
    assert held(memory) == held(control)
    assert traces(files_under(tmp_path), *CANARIES) == []


def test_invariant_8_what_others_said_or_are_known_for_as_well_does_not_spoil_the_proof(
    tmp_path: Path,
) -> None:
    texts = (
        "I'm Dana.",
        "You're welcome!",
        "I live in Kumquatolia.",
        "Understood, thank you.",
    )
    one, other = (
        conversation(f"c-{user}", user, "Dana", *texts)
        for user in ("u-one", "u-other")
    )
    memory = told(
        tmp_path,
        {**one, "messages": [{**m, "name": None} for m in one["messages"]]},
        other,
    )
    done = memory.forget(user="u-one", verify=True)
    assert done["verification"]["foundIn"] == []
    assert done["verification"]["proved"]
    assert memory.search(
        "Who lives in Kumquatolia?", user_id="u-other"
    ).results


@pytest.fixture(scope="module")
def moto() -> Iterator[Any]:
    with s3_server(BUCKET):
        client = boto3.client("s3")
        yield client
        client.close()


def objects_in(client: Any) -> dict[str, bytes]:
    pages = client.get_paginator("list_object_versions").paginate(
        Bucket=BUCKET
    )
    found = [
        (o["Key"], o["VersionId"])
        for page in pages
        for o in page.get("Versions", [])
    ]
    return {
        f"{key}@{version}": client.get_object(
            Bucket=BUCKET, Key=key, VersionId=version
        )["Body"].read()
        for key, version in found
    }


def test_invariant_8_on_s3_old_versions_of_tables_are_gone_and_versioning_is_told_of(
    moto: Any,
) -> None:
    memory = told(f"s3://{BUCKET}/plain", DANA, MARCO[0])
    assert traces(objects_in(moto), *CANARIES)
    done = memory.forget(user="u-danaquetzal", verify=True)
    assert done["verification"]["proved"]
    assert done["notes"] == []
    assert traces(objects_in(moto), *CANARIES) == []
    moto.put_bucket_versioning(
        Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"}
    )
    (note,) = memory.forget(user="u-danaquetzal")["notes"]
    assert "BUCKET VERSIONING IS ENABLED" in note


def varve(
    root: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    common = [
        "--store",
        str(root),
        "--workspace",
        "acme",
        "--agent",
        "support",
        "--now",
        "2026-04-20T12:00:00Z",
    ]
    code = main([*words, *common])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_command_asks_first_and_needs_to_be_told_where_it_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, DANA)
    for words in (["--json"], []):
        code, out, err = varve(
            tmp_path, capsys, "forget", "--user", "u-danaquetzal", *words
        )
        assert (code, out) == (2, "")
        assert "--yes" in err
    assert traces(files_under(tmp_path), "kumquatolia")
    code, out, _ = varve(
        tmp_path,
        capsys,
        "forget",
        "--user",
        "u-danaquetzal",
        "--yes",
        "--verify",
        "--json",
    )
    assert code == 0
    done = json.loads(out)
    assert done["verification"]["hits"] == 0
    assert traces(files_under(tmp_path), *CANARIES) == []
    code, out, _ = varve(tmp_path, capsys, "status")
    assert code == 0
    assert f"complete, proved: {done['receipt']}" in out


def test_the_command_says_what_a_description_would_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, DANA)
    code, out, _ = varve(
        tmp_path, capsys, "forget", "--query", "zebrinaquoll", "--dry-run"
    )
    assert code == 0
    assert "zebrinaquoll" in out
    assert traces(files_under(tmp_path), "zebrinaquoll")
    code, out, _ = varve(
        tmp_path, capsys, "forget", "--query", "zebrinaquoll", "--yes"
    )
    assert (code, out.splitlines()[0]) == (0, "erased:")
    assert traces(files_under(tmp_path), "zebrinaquoll") == []


@pytest.mark.parametrize(
    "words",
    [
        ["--user", "u-nobody"],
        ["--conversation", "c-none"],
        ["--id", "fact-none"],
        ["--query", "xylem"],
    ],
)
def test_forgetting_somebody_unknown_says_so_and_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    told(tmp_path, DANA)
    code, out, _ = varve(tmp_path, capsys, "forget", *words, "--yes")
    assert (code, out.strip().splitlines()[0]) == (0, "nothing was found")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--conversation", "a", "--query", "b"],
        ["--user", "a", "--conversation", "c"],
        ["--user", "../x", "--query", "b"],
        ["--user", "../x"],
        ["--conversation", "a/b"],
    ],
)
def test_what_to_forget_is_said_in_one_way_and_validly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, err = varve(tmp_path, capsys, "forget", *words, "--yes")
    assert (code, out) == (2, "")
    assert err.startswith("varve: ")
