"""The command line: what it takes, what it prints where, how it exits; bad input leaves no trace."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer
from varve.cli import main
from varve.cli.main import COMMANDS

NOW = "2026-03-10T12:00:00Z"
VARVE = Path(sys.executable).with_name("varve")

RESULT = {
    "id", "content", "grain", "period", "date", "eventTime", "score", "why", "conversationId", "sourceIds",
    "userId",
}  # fmt: skip
SEARCHED = {"grains", "since", "until", "records", "fallback"}
ADDED = {
    "memoryType", "tokens", "understood", "until", "alsoIn", "current", "confirmedAt", "supersededBy",
}  # fmt: skip
"""What the answer tells beyond the contract's keys; a new one is a change of the contract."""


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def contents(self) -> list[str]:
        return [result["content"] for result in self.json["results"]]


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting from outside, and `./memory` inside the test's own directory."""
    for name in list(os.environ):
        if name.startswith(("VARVE_", "AWS_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run(*words: object) -> Ran:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


def conversation(
    *said: tuple[str, str],
    id_: str = "c-1",
    speaker: str = "Dana",
    **changes: Any,
) -> dict[str, Any]:
    """What somebody said when; messages have ids of their own."""
    messages = [
        {
            "id": f"{id_}.m{number}",
            "role": "user",
            "name": speaker,
            "content": words,
            "timestamp": when,
        }
        for number, (when, words) in enumerate(said, start=1)
    ]
    return {
        "conversationId": id_,
        "userId": "u-42",
        "messages": messages,
    } | changes


def write(path: Path, value: Any) -> Path:
    path.write_text(
        value if isinstance(value, str) else json.dumps(value), "utf-8"
    )
    return path


def listing(root: Path) -> dict[str, str] | None:
    """Every file below with the hash of its bytes; None where there is no such directory."""
    if not root.exists():
        return None
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {
        str(path.relative_to(root)): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in files
    }


MOVE = conversation(
    ("2026-03-02T09:15:00Z", "I live in Lisbon now."),
    ("2026-03-02T09:16:00Z", "The router shows ERR-4711 again."),
)
TRIP = conversation(
    ("2026-03-09T18:00:00Z", "Please book a table, I am allergic to nuts."),
    id_="c-2",
)
PEER = conversation(
    ("2026-03-08T10:00:00Z", "I live in Valencia."),
    id_="c-3",
    userId="u-7",
    speaker="Marco",
)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the three conversations are, to be copied."""
    folder = tmp_path_factory.mktemp("three")
    path = write(folder / "three.json", [MOVE, TRIP, PEER])
    command = ["ingest", str(path), "--store", str(folder / "store")]
    assert main([*command, "--now", NOW]) == 0
    return folder / "store"


@pytest.fixture
def store(tmp_path: Path, three: Path) -> Path:
    """A store of the test's own, of the three conversations in three.json beside it."""
    write(tmp_path / "three.json", [MOVE, TRIP, PEER])
    return Path(shutil.copytree(three, tmp_path / "store"))


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that every bad command must leave as it is."""
    folder = tmp_path_factory.mktemp("untouched")
    path = write(folder / "one.json", MOVE)
    assert (
        main(
            [
                "ingest",
                str(path),
                "--store",
                str(folder / "store"),
                "--now",
                NOW,
            ]
        )
        == 0
    )
    return folder / "store"


def changed(
    base: dict[str, Any], *path: str | int, to: Any = None
) -> dict[str, Any]:
    """A copy with the value at the path replaced, or removed where `to` is None."""
    copy: Any = json.loads(json.dumps(base))
    at = copy
    for step in path[:-1]:
        at = at[step]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    result: dict[str, Any] = copy
    return result


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


FIRST = ("messages", 0)
BAD_FILES: dict[str, tuple[bytes, str, str]] = {
    "no messages": (text(changed(MOVE, "messages")), "messages", "is missing"),
    "an empty conversation": (
        text(changed(MOVE, "messages", to=[])),
        "messages",
        "at least one",
    ),
    "no role": (
        text(changed(MOVE, *FIRST, "role")),
        "messages[0].role",
        "is missing",
    ),
    "no content": (
        text(changed(MOVE, *FIRST, "content")),
        "messages[0].content",
        "is missing",
    ),
    "an unknown role": (
        text(changed(MOVE, *FIRST, "role", to="narrator")),
        "messages[0].role",
        "narrator",
    ),
    "content of a wrong type": (
        text(changed(MOVE, *FIRST, "content", to=7)),
        "messages[0].content",
        "must",
    ),
    "messages of a wrong type": (
        text(changed(MOVE, "messages", to="hello")),
        "messages",
        "must be an array",
    ),
    "a message of a wrong type": (
        text(changed(MOVE, *FIRST, to="hello")),
        "messages[0]",
        "must be an object",
    ),
    "an id of a wrong type": (
        text(changed(MOVE, "conversationId", to=7)),
        "conversationId",
        "a string",
    ),
    "an unparsable date": (
        text(
            changed(MOVE, "messages", 1, "timestamp", to="yesterday at noon")
        ),
        "messages[1].timestamp",
        "not an ISO 8601",
    ),
    "a date that is none": (
        text(changed(MOVE, *FIRST, "timestamp", to="2026-02-30T09:00:00Z")),
        "messages[0].timestamp",
        "not an ISO 8601",
    ),
    "a date as a number": (
        text(changed(MOVE, *FIRST, "timestamp", to=1772442900)),
        "messages[0].timestamp",
        "as a string",
    ),
    "a start that is none": (
        text(MOVE | {"startedAt": "soon"}),
        "startedAt",
        "not an ISO 8601",
    ),
    "an id with a slash": (
        text(MOVE | {"conversationId": "a/b"}),
        "conversationId",
        "not a valid id",
    ),
    "an id with dots": (
        text(MOVE | {"conversationId": "a..b"}),
        "conversationId",
        "not a valid id",
    ),
    "an id that climbs": (
        text(MOVE | {"agentId": "../x"}),
        "agentId",
        "not a valid id",
    ),
    "an id that is too long": (
        text(MOVE | {"conversationId": "c" * 129}),
        "conversationId",
        "not a valid id",
    ),
    "a user with a slash": (
        text(MOVE | {"userId": "a/b"}),
        "userId",
        "not a valid id",
    ),
    "a message id with a blank": (
        text(changed(MOVE, *FIRST, "id", to="m 1")),
        "messages[0].id",
        "not a valid id",
    ),
    "a message id twice": (
        text(changed(MOVE, "messages", 1, "id", to="c-1.m1")),
        "messages[1].id",
        "c-1.m1",
    ),
    "a message of 5 MB": (
        text(changed(MOVE, *FIRST, "content", to="x" * 5_000_000)),
        "messages[0].content",
        "5,000,000 bytes",
    ),
    "too many messages": (
        text(
            MOVE | {"messages": [{"role": "user", "content": "hi"}] * 10_001}
        ),
        "messages",
        "limit is 10000",
    ),
    "half a character": (
        text(changed(MOVE, *FIRST, "content", to="\ud800")),
        "messages[0].content",
        "surrogate",
    ),
    "invalid UTF-8": (
        text(MOVE).replace(b"Lisbon", b"Lisb\xf3n"),
        "",
        "not valid UTF-8 (at byte",
    ),
    "UTF-16": (json.dumps(MOVE).encode("utf-16"), "", "not valid UTF-8"),
    "an empty file": (b"", "", "holds no conversation"),
    "white space": (b" \n\n", "", "holds no conversation"),
    "an empty array": (b"[]", "", "holds no conversation"),
    "invalid JSON": (
        b'{"conversationId": "c-1",\n "messages": [}',
        "",
        "not valid JSON (line 2, column 15",
    ),
    "a key twice in one object": (
        b'{"conversationId": "c-1", "messages": [{"role": "user", "content": "a", "content": "b"}]}',
        "",
        "the key 'content' appears twice in one object",
    ),
    "something after the JSON": (text(MOVE) + b" x", "", "not valid JSON"),
    "a number": (b"42", "conversation", "must be a JSON object"),
    "null": (b"null", "conversation", "not null"),
    "a string": (b'"hello"', "conversation", "not a string"),
    "a number of many digits": (
        b'{"conversationId": "c-1", "messages": [], "x": '
        + b"1" * 5_000
        + b"}",
        "",
        "not valid JSON",
    ),
    "deeply nested JSON": (b"[" * 200_000, "", "nested too deeply"),
    "deeply nested JSON inside": (
        text(MOVE)[:-1] + b', "labels": ' + b"[" * 600 + b"]" * 600 + b"}",
        "",
        "nested too deeply",
    ),
    "a faulty element of an array": (
        text([MOVE, changed(TRIP, *FIRST, "role")]),
        "[1].messages[0].role",
        "is missing",
    ),
    "a faulty line of JSON Lines": (
        text(MOVE)
        + b"\n\n"
        + text(changed(TRIP, *FIRST, "role", to="narrator"))
        + b"\n",
        "line 3: messages[0].role",
        "narrator",
    ),
    "a line that is no JSON": (
        text(MOVE) + b"\n{oops}\n",
        "",
        "line 2, column 2",
    ),
    "a line that is cut off": (
        text(MOVE) + b"\n" + text(TRIP)[:50] + b"\n",
        "",
        "line 2",
    ),
}


def assert_refused(ran: Ran, *said: str) -> None:
    """One line on stderr with everything in it, nothing on stdout, exit 2."""
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.endswith("\n")
    assert len(ran.err.splitlines()) == 1, ran.err
    assert len(ran.err) < 700
    for words in said:
        assert words in ran.err


MISSING_ID = text(changed(MOVE, "conversationId"))
BROKEN_LATER = {
    "something after the JSON",
    "a faulty element of an array",
    "a faulty line of JSON Lines",
    "a line that is no JSON",
    "a line that is cut off",
}
"""Bad files with a good conversation before the fault."""


class TestBadInput:
    @pytest.mark.parametrize("name", sorted(BROKEN_LATER))
    def test_after_a_good_conversation_stops_nothing_and_is_named(
        self, run: Run, tmp_path: Path, name: str
    ) -> None:
        data, field, reason = BAD_FILES[name]
        path = tmp_path / "bad input.json"
        path.write_bytes(data)
        ran = run("ingest", path, "--store", tmp_path / "store", "--json")
        assert ran.code == 2
        assert ran.json["accepted"] == {"conversations": 1, "messages": 2}
        for words in (str(path), field, reason, "the others are stored"):
            assert words in ran.err

    def test_without_a_conversations_id_is_a_chat_unless_the_contract_is_named(
        self, run: Run, tmp_path: Path
    ) -> None:
        path = tmp_path / "chat.json"
        path.write_bytes(MISSING_ID)
        ran = run("ingest", path, "--format", "varve")
        assert_refused(ran, str(path), "conversationId", "is missing")
        ran = run("ingest", path, "--dry-run", "--json")
        assert ran.json["files"][str(path)]["format"] == "jsonl"

    @pytest.mark.parametrize("name", sorted(BAD_FILES.keys() - BROKEN_LATER))
    def test_is_named_by_file_field_and_reason_and_changes_nothing(
        self, run: Run, tmp_path: Path, untouched: Path, name: str
    ) -> None:
        data, field, reason = BAD_FILES[name]
        path = tmp_path / "bad input.json"
        path.write_bytes(data)
        before = listing(untouched)
        for store in (untouched, tmp_path / "none"):
            assert_refused(
                run("ingest", path, "--store", store), str(path), field, reason
            )
        assert listing(untouched) == before
        assert not (tmp_path / "none").exists()

    def test_of_two_files_with_the_second_bad_the_first_is_stored(
        self, run: Run, tmp_path: Path, untouched: Path
    ) -> None:
        good, bad = (
            write(tmp_path / "good.json", TRIP),
            write(tmp_path / "bad.json", changed(TRIP, "messages")),
        )
        ran = run("ingest", good, bad, "--store", untouched, "--json")
        assert ran.code == 2
        assert ran.json["accepted"]["conversations"] == 1
        for words in (
            str(bad),
            "messages: is missing",
            "the others are stored",
        ):
            assert words in ran.err

    def test_may_be_a_directory_a_missing_file_or_a_name_that_cannot_be(
        self, run: Run, tmp_path: Path
    ) -> None:
        assert_refused(
            run("ingest", tmp_path), str(tmp_path), "is a directory"
        )
        assert_refused(
            run("ingest", tmp_path / "none.json"),
            "none.json",
            "does not exist",
        )
        assert_refused(run("ingest", "a\0b"), "cannot be read")
        assert list(tmp_path.iterdir()) == []

    def test_may_be_scenarios_that_are_none(
        self, run: Run, tmp_path: Path
    ) -> None:
        path = write(tmp_path / "trip.json", TRIP)
        assert_refused(
            run("eval", "experience", "--scenarios", path),
            f"{path}: name",
            "is missing",
        )

    @pytest.mark.parametrize("field", ["workspaceId", "agentId"])
    def test_may_be_a_conversation_of_someone_else(
        self, run: Run, tmp_path: Path, untouched: Path, field: str
    ) -> None:
        path = write(tmp_path / "other.json", [TRIP, PEER | {field: "globex"}])
        option = "--workspace" if field == "workspaceId" else "--agent"
        ran = run("ingest", path, "--store", untouched, option, "acme")
        assert ran.code == 2
        for words in (str(path), field, "globex", "acme"):
            assert words in ran.err
        assert "the others are stored" in ran.err

    def test_may_come_from_standard_input(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"conversationId": 1}'))
        )
        assert_refused(
            run("ingest", "-"), "standard input", "conversationId", "a string"
        )
        assert not Path("memory").exists()


class TestBadUsage:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (
                ["search", "x", "--max-results", "0"],
                ["--max-results", "greater than or equal to 1"],
            ),
            (
                ["search", "x", "--max-results", "101"],
                ["--max-results", "less than or equal to 100"],
            ),
            (
                ["search", "x", "--max-results", "abc"],
                ["--max-results", "whole number"],
            ),
            (
                ["search", "x", "--max-results", "1.5"],
                ["--max-results", "whole number"],
            ),
            (
                ["search", "x", "--max-results=-1"],
                ["--max-results", "greater than or equal to 1"],
            ),
            (
                ["context", "x", "--max-tokens", "0"],
                ["--max-tokens", "greater than or equal to 1"],
            ),
            (
                ["search", "x", "--max-tokens", "0"],
                ["--max-tokens", "greater than or equal to 1"],
            ),
            (["search", "x", "--grain", "hourly"], ["grain", "hourly"]),
            (["search", "x", "--grain", "WORKING"], ["grain", "WORKING"]),
            (["search", "x", "--since", "yesterday"], ["since", "yesterday"]),
            (
                ["search", "x", "--until", "2026-13-01"],
                ["until", "2026-13-01"],
            ),
            (
                [
                    "search",
                    "x",
                    "--since",
                    "2026-03-05",
                    "--until",
                    "2026-03-01",
                ],
                ["until", "no time"],
            ),
            (
                ["search", "x", "--min-days-ago", "9", "--max-days-ago", "2"],
                ["--max-days-ago", "no time"],
            ),
            (
                ["search", "x", "--min-days-ago=-1"],
                ["--min-days-ago", "greater than or equal to 0"],
            ),
            (
                ["search", "x", "--max-days-ago", "soon"],
                ["--max-days-ago", "whole number"],
            ),
            (["search", "x", "--as-of", "then"], ["--as-of", "then"]),
            (["search", "x", "--user", "a/b"], ["--user", "not a valid id"]),
            (
                ["search", "x", "--conversation", "../c"],
                ["--conversation", "not a valid id"],
            ),
            (["search", "x" * 10_001], ["text", "10,000"]),
            (["search", "x", "--now", "now"], ["--now", "now"]),
            (["status", "--now", "2026-02-30"], ["--now", "2026-02-30"]),
            (["status", "--workspace", "a/b"], ["workspace", "'a/b'"]),
            (["status", "--workspace", ".."], ["workspace", "'..'"]),
            (
                ["status", "--workspace", "a" * 129],
                ["workspace", "not a valid id"],
            ),
            (["search", "x", "--agent", ".hidden"], ["agent", "'.hidden'"]),
            (["show", "no-such-record"], ["id", "no-such-record"]),
            (["show", "' OR 1=1 --"], ["id", "' OR 1=1 --"]),
            # Bytes that are no UTF-8, as Python hands them on.
            (["show", "\udcff"], ["id", "not valid Unicode"]),
            (["graph", "show", "\udcff"], ["name", "not valid Unicode"]),
            (["recall", "\udcff"], ["situation", "not valid Unicode"]),
            (["ingest", "\udcff"], [r"\udcff", "does not exist"]),
        ],
    )
    def test_is_named_in_one_line_and_changes_nothing(
        self,
        run: Run,
        tmp_path: Path,
        untouched: Path,
        words: list[str],
        said: list[str],
    ) -> None:
        before = listing(untouched)
        for store in (untouched, tmp_path / "none"):
            assert_refused(run(*words, "--store", store), *said)
        assert listing(untouched) == before
        assert not (tmp_path / "none").exists()

    @pytest.mark.parametrize(
        "option",
        [["--workspace", "a/b"], ["--agent", ".."], ["--now", "soon"]],
    )
    def test_of_ingest_is_told_before_anything_is_stored(
        self, run: Run, tmp_path: Path, option: list[str]
    ) -> None:
        path = write(tmp_path / "good.json", MOVE)
        assert_refused(
            run("ingest", path, "--store", tmp_path / "none", *option),
            option[1],
        )
        assert not (tmp_path / "none").exists()

    @pytest.mark.parametrize(
        ("store", "said"),
        [("s3://", "no bucket"), ("gs://bucket/x", "s3://bucket/prefix"), ("{file}", "not a directory"),
         ("{file}/x", "cannot be a directory"), ("x" * 300, "too long"), ("a\0b", "null")],
    )  # fmt: skip
    def test_may_be_a_store_that_is_none(
        self, run: Run, tmp_path: Path, store: str, said: str
    ) -> None:
        path = write(tmp_path / "good.json", MOVE)
        where = store.format(file=path)
        assert_refused(run("status", "--store", where), said)
        assert_refused(run("ingest", path, "--store", where), said)
        assert sorted(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize(
        ("variable", "value"),
        [("VARVE_LLM", "gpt-9"), ("VARVE_EMBEDDER", "openai:x"), ("VARVE_STORE", "ftp://x"),
         ("VARVE_DEFAULT_PLAN", "gold")],
    )  # fmt: skip
    def test_may_be_a_setting_and_is_named_by_its_variable(
        self,
        run: Run,
        monkeypatch: pytest.MonkeyPatch,
        variable: str,
        value: str,
    ) -> None:
        monkeypatch.setenv(variable, value)
        assert_refused(run("search", "x"), variable, value)

    @pytest.mark.parametrize(
        "words",
        [[], ["remember"], ["serach", "x"], ["ingest"], ["show"], ["search", "two", "texts"],
         ["search", "x", "--max", "3"], ["status", "--nope"], ["search", "--grain"]],
    )  # fmt: skip
    def test_of_the_grammar_is_told_on_stderr(
        self, run: Run, tmp_path: Path, words: list[str]
    ) -> None:
        ran = run(*words)
        assert ran.code == 2
        assert ran.out == ""
        assert ran.err.startswith("usage: varve")
        assert "error:" in ran.err.splitlines()[-1]
        assert list(tmp_path.iterdir()) == []

    def test_every_verb_of_the_contract_is_known(self, run: Run) -> None:
        contract = {
            "demo", "ingest", "search", "show", "context", "summarize", "cleanup", "status", "graph",
            "profile", "config", "forget", "export", "import", "reembed", "dlq",
        }  # fmt: skip
        told = run("--help")
        assert told.code == 0
        assert {
            verb
            for verb in contract
            if re.search(rf"^    {verb}\b", told.out, re.MULTILINE)
        } == contract


class TestIngest:
    @pytest.mark.parametrize(
        "form",
        [
            lambda all_: json.dumps(all_),
            lambda all_: json.dumps(all_, indent=4),
            lambda all_: "\n".join(map(json.dumps, all_)),
            lambda all_: "\r\n".join(map(json.dumps, all_)) + "\r\n\r\n",
            lambda all_: "\ufeff" + "\n".join(map(json.dumps, all_)),
        ],
        ids=["array", "indented", "lines", "windows lines", "byte order mark"],
    )
    def test_takes_every_form_of_file(
        self, run: Run, tmp_path: Path, form: Callable[[list[Any]], str]
    ) -> None:
        path = tmp_path / "three"
        path.write_bytes(form([MOVE, TRIP, PEER]).encode())
        ran = run("ingest", path, "--json")
        assert ran.code == 0
        assert ran.json["accepted"] == {"conversations": 3, "messages": 4}
        assert ran.json["stored"]["turns"] == 4

    def test_takes_lines_that_hold_unicode_line_separators(
        self, run: Run, tmp_path: Path
    ) -> None:
        odd = changed(
            MOVE, *FIRST, "content", to="one\u2028two\u0085three\u000bfour"
        )
        path = write(
            tmp_path / "lines",
            "\n".join(json.dumps(c, ensure_ascii=False) for c in (odd, TRIP)),
        )
        ran = run("ingest", path, "--json")
        assert (ran.code, ran.err.count("varve:")) == (0, 0)
        assert ran.json["accepted"] == {"conversations": 2, "messages": 3}

    def test_takes_one_conversation_several_files_and_standard_input(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, two = (
            write(tmp_path / "one.json", MOVE),
            write(tmp_path / "two.json", TRIP),
        )
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BytesIO(text(PEER)))
        )
        ran = run("ingest", one, "-", two, "--json")
        assert ran.json["accepted"] == {"conversations": 3, "messages": 4}
        assert run("search", "--json").json["searched"]["records"] >= 4

    def test_sending_again_adds_nothing(
        self, run: Run, tmp_path: Path, store: Path
    ) -> None:
        before = listing(store)
        ran = run(
            "ingest", tmp_path / "three.json", "--store", store, "--json"
        )
        assert ran.code == 0
        assert set(ran.json["stored"].values()) == {0}
        assert listing(store) == before

    def test_a_grown_conversation_adds_only_what_is_new(
        self, run: Run, tmp_path: Path, store: Path
    ) -> None:
        before = {
            r["id"]
            for r in run(
                "search", "--store", store, "--max-results", 100, "--json"
            ).json["results"]
        }
        more = {
            "id": "m9",
            "role": "user",
            "content": "I sold the car.",
            "timestamp": "2026-03-10T08:00:00Z",
        }
        path = write(
            tmp_path / "grown.json",
            MOVE | {"messages": [*MOVE["messages"], more]},
        )
        ran = run("ingest", path, "--store", store, "--json")
        assert ran.json["accepted"] == {"conversations": 1, "messages": 3}
        assert ran.json["stored"]["messages"] == 1
        assert ran.json["stored"]["turns"] == 1
        after = run(
            "search", "--store", store, "--max-results", 100, "--json"
        ).json["results"]
        assert before <= {r["id"] for r in after}
        assert {
            source
            for r in after
            if r["id"] not in before
            for source in r["sourceIds"]
        } == {"m9"}

    def test_an_earlier_message_with_other_words_is_ignored_and_counted(
        self, run: Run, tmp_path: Path, store: Path
    ) -> None:
        path = write(
            tmp_path / "edited.json",
            changed(MOVE, *FIRST, "content", to="I moved to Rome."),
        )
        ran = run("ingest", path, "--store", store)
        assert ran.code == 0
        assert (
            "ignored 1 message stored earlier with different text" in ran.out
        )
        assert "Rome" not in run("search", "Rome", "--store", store).out

    def test_conversations_go_to_the_memory_they_name_or_the_options_name(
        self, run: Run, tmp_path: Path
    ) -> None:
        own = write(
            tmp_path / "own.json",
            MOVE | {"workspaceId": "acme", "agentId": "support"},
        )
        none = write(tmp_path / "none.json", TRIP)
        assert run("ingest", own, none).code == 0
        acme = ("--workspace", "acme", "--agent", "support", "--json")
        assert all(
            "Lisbon" in c or "ERR" in c for c in run("search", *acme).contents
        )
        assert "nuts" in str(run("search", "--json").contents)
        assert (
            run("search", "--workspace", "acme", "--json").json["results"]
            == []
        )

    def test_openai_messages_are_taken_as_they_are(
        self, run: Run, tmp_path: Path
    ) -> None:
        parts = [
            {"type": "text", "text": "My cat is Biscuit"},
            {"type": "image_url", "image_url": {"url": "x"}},
        ]
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
        }
        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": "call_1",
                "content": "tool says 42",
            },
            {"role": "assistant", "content": "Noted."},
        ]
        path = write(
            tmp_path / "chat.json",
            {"conversationId": "c-9", "messages": messages},
        )
        ran = run("ingest", path, "--json", "--now", NOW)
        assert ran.json["stored"] | {"facts": 0, "tripleOperations": 0} == {
            "messages": 5, "turns": 1, "facts": 0, "tripleOperations": 0, "ignored": 0,
            "forgotten": 0,
        }  # fmt: skip
        found = run("search", "--json", "--now", NOW)
        assert "Biscuit" in str(found.contents)
        assert "42" not in str(found.contents)
        assert {r["eventTime"] for r in found.json["results"]} == {NOW}

    def test_is_silent_on_stderr_when_piped(
        self, run: Run, tmp_path: Path
    ) -> None:
        many = [
            conversation((NOW, f"note {n}"), id_=f"c-{n}") for n in range(25)
        ]
        ran = run("ingest", write(tmp_path / "many.json", many), "--json")
        assert ran.err == ""
        assert ran.json["accepted"]["conversations"] == 25


class TestSearch:
    def test_answers_in_exactly_the_contracts_shape(
        self, run: Run, store: Path
    ) -> None:
        ran = run(
            "search",
            "where does Dana live",
            "--store",
            store,
            "--now",
            NOW,
            "--json",
        )
        assert (ran.code, ran.err) == (0, "")
        answer = ran.json
        assert list(answer) == ["results", "searched", "hint"]
        assert SEARCHED <= set(answer["searched"]) <= SEARCHED | ADDED
        assert answer["hint"] is None
        best = answer["results"][0]
        assert "Lisbon" in best["content"]
        for result in answer["results"]:
            assert RESULT <= set(result) <= RESULT | ADDED
            assert set(result["why"]) == {
                "vector",
                "keyword",
                "recency",
                "importance",
            }
            assert 0 <= result["score"] <= 1
        assert best["grain"] == "working"
        assert best["period"] == best["date"] == "2026-03-02"
        assert best["eventTime"] == "2026-03-02T09:15:00Z"
        assert best["conversationId"] == "c-1"
        assert best["sourceIds"] == ["c-1.m1"]
        assert best["userId"] == "u-42"

    def test_without_text_gives_the_newest_first(
        self, run: Run, store: Path
    ) -> None:
        answer = run("search", "--store", store, "--now", NOW, "--json").json
        times = [result["eventTime"] for result in answer["results"]]
        assert times == sorted(times, reverse=True)
        assert times[0] >= "2026-03-09T18:00:00Z"
        assert {result["why"]["vector"] for result in answer["results"]} == {
            None
        }
        assert (
            run("search", "", "--store", store, "--now", NOW, "--json").json
            == answer
        )

    @pytest.mark.parametrize(
        ("limits", "conversations"),
        [
            ([], {"c-1", "c-2", "c-3"}),
            (["--since", "2026-03-08"], {"c-2", "c-3"}),
            (["--since", "2026-03-08T10:00:01Z"], {"c-2"}),
            (["--since", "2026-03-08T11:00:00+01:00"], {"c-2", "c-3"}),
            (["--until", "2026-03-02"], {"c-1"}),
            (["--until", "2026-03-08T10:00:00Z"], {"c-1"}),
            (["--since", "2026-03-03", "--until", "2026-03-08"], {"c-3"}),
            (["--max-days-ago", "1"], {"c-2"}),
            (["--max-days-ago", "2"], {"c-2", "c-3"}),
            (["--min-days-ago", "2"], {"c-1", "c-3"}),
            (["--min-days-ago", "2", "--max-days-ago", "2"], {"c-3"}),
            (["--min-days-ago", "9"], set()),
            (["--as-of", "2026-03-08"], {"c-1", "c-3"}),
            (["--as-of", "2026-03-03", "--max-days-ago", "1"], {"c-1"}),
            (["--user", "u-7"], {"c-3"}),
            (["--user", "nobody"], set()),
            (["--conversation", "c-1"], {"c-1"}),
            (["--user", "u-42", "--since", "2026-03-05"], {"c-2"}),
            (["--grain", "working"], {"c-1", "c-2", "c-3"}),
        ],
    )
    @pytest.mark.parametrize(
        "asked", [[], ["what did they say about nuts"]], ids=["browse", "ask"]
    )
    def test_keeps_to_its_limits(
        self,
        run: Run,
        store: Path,
        asked: list[str],
        limits: list[str],
        conversations: set[str],
    ) -> None:
        answer = run(
            "search", *asked, *limits, "--store", store, "--now", NOW, "--json"
        ).json
        found = {result["conversationId"] for result in answer["results"]}
        # A question finds only what shares a word or a meaning with it.
        assert found <= conversations if asked else found == conversations
        assert (answer["hint"] is None) == bool(found)

    def test_gives_at_most_so_many_results_and_tokens(
        self, run: Run, store: Path
    ) -> None:
        common = ("--store", store, "--now", NOW, "--json")
        assert (
            len(run("search", *common, "--max-results", 2).json["results"])
            == 2
        )
        every = run("search", *common, "--max-results", 100).contents
        budget = len(every[0].encode()) // 4 + 2
        within = run("search", *common, "--max-tokens", budget).contents
        assert within
        assert len(within) < len(every)
        assert sum(len(content.encode()) / 4 for content in within) <= budget
        tiny = run("search", *common, "--max-tokens", 1).json
        assert tiny["results"] == []
        assert "maxTokens" in tiny["hint"]

    def test_tells_an_empty_memory_from_a_wrong_window(
        self, run: Run, tmp_path: Path, store: Path
    ) -> None:
        empty = run("search", "x", "--store", tmp_path / "none", "--json")
        assert empty.code == 0
        assert empty.json["searched"]["records"] == 0
        assert "empty" in empty.json["hint"]
        assert not (tmp_path / "none").exists()
        window = run(
            "search", "x", "--store", store, "--since", "2030-01-01", "--json"
        )
        assert window.code == 0
        assert window.json["searched"]["since"] == "2030-01-01T00:00:00Z"
        assert "none within" in window.json["hint"]

    def test_finds_a_code_by_its_characters(
        self, run: Run, store: Path
    ) -> None:
        ran = run("search", "ERR-4711", "--store", store, "--json")
        assert "ERR-4711" in ran.contents[0]

    def test_reads_well_without_json(self, run: Run, store: Path) -> None:
        ran = run(
            "search",
            "where does Dana live",
            "--store",
            store,
            "--now",
            NOW,
            "--explain",
        )
        assert (ran.code, ran.err) == (0, "")
        assert "2026-03-02" in ran.out
        assert "Lisbon" in ran.out
        assert "searched" in ran.out

    @pytest.mark.parametrize(
        "asked",
        [
            "'",
            '"; DROP TABLE memories',
            "\\",
            "%",
            "😀",
            "AND OR NOT (",
            "--x",
        ],
    )
    def test_takes_any_text(self, run: Run, store: Path, asked: str) -> None:
        ran = run("search", "--store", store, "--json", "--", asked)
        assert ran.code == 0
        assert ran.json["searched"]["records"] > 0

    def test_reading_changes_nothing(self, run: Run, store: Path) -> None:
        before = listing(store)
        for words in (
            ["search", "Lisbon"],
            ["search"],
            ["status"],
            ["show", first_id(run, store)],
        ):
            assert run(*words, "--store", store).code == 0
        assert listing(store) == before


def first_id(run: Run, store: Path) -> str:
    found = run("search", "Lisbon", "--store", store, "--json").json["results"]
    return str(found[0]["id"])


class TestShowAndStatus:
    def test_show_gives_a_record_with_the_messages_it_came_from(
        self, run: Run, store: Path
    ) -> None:
        id_ = first_id(run, store)
        shown = run("show", id_, "--store", store, "--json")
        assert (shown.code, shown.err) == (0, "")
        assert shown.json["id"] == id_
        assert shown.json["conversationId"] == "c-1"
        assert [source["content"] for source in shown.json["sources"]] == [
            "I live in Lisbon now."
        ]
        for_people = run("show", id_, "--store", store)
        assert "I live in Lisbon now." in for_people.out

    def test_status_counts_what_is_there(self, run: Run, store: Path) -> None:
        held = run("status", "--store", store, "--json")
        assert (held.code, held.err) == (0, "")
        working = held.json["grains"]["working"]
        every = run(
            "search", "--store", store, "--max-results", 100, "--json"
        ).json["results"]
        folded = sum(len(result["alsoIn"]) for result in every)
        assert working["records"] == len(every) + folded >= 4
        assert working["bytes"] > 0
        assert working["oldest"] == min(
            result["eventTime"] for result in every
        )
        assert working["newest"] == max(
            result["eventTime"] for result in every
        )
        assert held.json["timeline"]["bytes"] > 0
        assert set(held.json["grains"]) == {
            "working", "daily", "weekly", "monthly", "quarterly", "yearly",
        }  # fmt: skip
        assert "working" in run("status", "--store", store).out

    def test_status_of_nothing_is_zeros(
        self, run: Run, tmp_path: Path
    ) -> None:
        held = run("status", "--store", tmp_path / "none", "--json")
        assert held.code == 0
        assert held.json["grains"]["working"]["records"] == 0
        assert not (tmp_path / "none").exists()


def command(*words: object, data: bytes = b"", **environment: str) -> Ran:
    """Run the installed command in a process of its own."""
    ran = subprocess.run(
        [VARVE, *map(str, words)],
        input=data,
        capture_output=True,
        env={**os.environ, **environment},
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


class TestOtherEmbedder:
    """Invariant 10: a mismatch of model or dimensions is an error that names both."""

    @pytest.mark.parametrize(
        ("verb", "other"),
        [
            ("search", "text-embedding-3-small:256"),
            ("search", "thenlper/gte-base:768"),
            ("ingest", "thenlper/gte-base:768"),
        ],
    )
    def test_invariant_10_is_refused_for_asking_as_for_writing(
        self,
        tmp_path: Path,
        store: Path,
        run: Run,
        monkeypatch: pytest.MonkeyPatch,
        verb: str,
        other: str,
    ) -> None:
        path = write(
            tmp_path / "more.json",
            conversation((NOW, "I sold the car."), id_="c-9"),
        )
        what = path if verb == "ingest" else "the car"
        monkeypatch.setenv("VARVE_EMBEDDER", f"openai:{other}")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        with ModelServer(api_key="sk-test") as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            ran = run(verb, what, "--store", store)
        assert_refused(
            ran, "wordllama-l2-supercat:256", other.partition(":")[0]
        )


class TestOutage:
    def test_an_interruption_is_one_line(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setitem(COMMANDS, "status", interrupted)
        again = "varve: interrupted; run it again to go on\n"
        assert run("status") == Ran(130, "", again)

    def test_a_failure_that_may_pass_exits_1(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write(tmp_path / "good.json", MOVE)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            for name, value in {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{unused.getsockname()[1]}",
                "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
                "NO_PROXY": "*",
            }.items():
                monkeypatch.setenv(name, value)
            for words in (["search", "x"], ["ingest", path]):
                ran = run(*words, "--store", "s3://bucket/prefix", "--json")
                assert (ran.code, ran.out) == (1, "")
                assert ran.err.startswith("varve: ")
                assert len(ran.err.splitlines()) == 1


class TestCommand:
    """The installed command, in a process of its own."""

    def test_remembers_from_one_process_to_the_next(
        self, tmp_path: Path
    ) -> None:
        where = {"VARVE_STORE": str(tmp_path / "store")}
        taken = command("ingest", "-", "--now", NOW, data=text(MOVE), **where)
        assert taken.code == 0, taken.err
        assert "varve, 1 conversation, 2 messages, 2026-03-02 to" in taken.out
        found = command(
            "search", "where does Dana live", "--now", NOW, "--json", **where
        )
        assert found.code == 0, found.err
        assert "Lisbon" in found.contents[0]
        assert found.err == ""

    def test_refuses_bad_input_without_a_traceback(
        self, tmp_path: Path
    ) -> None:
        ran = command(
            "ingest",
            "-",
            data=text(changed(MOVE, *FIRST, "role", to="narrator")),
        )
        assert_refused(ran, "standard input", "messages[0].role", "narrator")
        assert list(tmp_path.iterdir()) == []

    def test_refuses_an_unknown_verb(self) -> None:
        ran = command("remember")
        assert (ran.code, ran.out) == (2, "")
        assert "remember" in ran.err

    def test_stays_quiet_when_the_reader_of_its_output_leaves(
        self, tmp_path: Path, run: Run
    ) -> None:
        assert run("ingest", write(tmp_path / "one.json", MOVE)).code == 0
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            ran = subprocess.run(
                [VARVE, "search"], stdout=closed, stderr=subprocess.PIPE
            )
        assert b"Traceback" not in ran.stderr

    def test_prints_any_character_whatever_the_locale(
        self, tmp_path: Path, run: Run
    ) -> None:
        said = conversation((NOW, "Nació Alma 😀"))
        assert run("ingest", write(tmp_path / "one.json", said)).code == 0
        ran = command(
            "search",
            "Alma",
            "--json",
            LC_ALL="C",
            PYTHONUTF8="0",
            PYTHONIOENCODING="",
        )
        assert ran.code == 0, ran.err
        assert any("Nació Alma 😀" in content for content in ran.contents)

    def test_is_a_module_too(self) -> None:
        ran = subprocess.run(
            [sys.executable, "-m", "varve", "--help"], capture_output=True
        )
        assert ran.returncode == 0
        assert ran.stdout.startswith(b"usage: varve")
