"""The pages as files: complete, closed, and only where they may be."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from tests.support.look import NOW, open_told
from varve import Memory
from varve.cli import main
from varve.domain.errors import Rejected
from varve.look.files import WrittenPages, write_pages
from varve.look.links import (
    Target,
    file_name,
    parse_address,
    server_address,
    target,
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return open_told(tmp_path_factory.mktemp("look") / "store")


@pytest.fixture(scope="module")
def written(
    memory: Memory, tmp_path_factory: pytest.TempPathFactory
) -> WrittenPages:
    directory = tmp_path_factory.mktemp("pages") / "out"
    return write_pages(memory, "./memory", directory)


def files(written: WrittenPages) -> dict[str, str]:
    pages = written.index.parent.glob("*.html")
    return {path.name: path.read_text("utf-8") for path in pages}


def test_every_link_leads_to_a_file(written: WrittenPages) -> None:
    there = {path.name for path in written.index.parent.iterdir()}
    for name, page in files(written).items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', page):
            path = html.unescape(link).partition("#")[0]
            assert path in there or path in ("", "data:,"), (name, link)


def test_no_link_leads_to_what_memory_does_not_know(
    written: WrittenPages,
) -> None:
    for name, page in files(written).items():
        assert "<h1>Not here" not in page, name


def test_a_summary_has_no_command_that_forget_refuses(
    written: WrittenPages,
) -> None:
    pages = files(written)
    summaries = [one for one in pages if one.startswith("record-summary")]
    assert summaries
    for name in summaries:
        assert "varve forget" not in pages[name], name


def test_every_word_and_every_record_has_a_page(
    memory: Memory, written: WrittenPages
) -> None:
    pages = files(written)
    assert written.pages == len(pages)
    for record in memory.search(max_results=50).results:
        if record.memory_type != "note":
            assert f"record-{record.id}.html" in pages
    notes = [name for name in pages if name.startswith("note-")]
    assert len(notes) == 2
    assert (
        "I moved to Lisbon last week."
        in pages["conversation-2026-02-23-c-1.html"]
    )
    assert "user-u-dana.html" in pages


def test_a_file_has_no_form_and_a_policy_of_its_own(
    written: WrittenPages,
) -> None:
    for page in files(written).values():
        assert "<form" not in page
        assert "Content-Security-Policy" in page


def test_writing_again_replaces_the_pages(
    memory: Memory, written: WrittenPages
) -> None:
    directory = written.index.parent
    (directory / "record-gone.html").write_text("old")
    again = write_pages(memory, "./memory", directory)
    assert again == written
    assert not (directory / "record-gone.html").exists()


def test_a_directory_with_other_files_is_refused(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "thesis.html").write_text("mine")
    with pytest.raises(Rejected, match="holds no pages"):
        write_pages(memory, "./memory", tmp_path)
    assert (tmp_path / "thesis.html").read_text() == "mine"


def test_progress_is_told_for_each_page(
    memory: Memory, tmp_path: Path
) -> None:
    told: list[tuple[str, int, int]] = []
    found = write_pages(
        memory, "x", tmp_path, lambda *counts: told.append(counts)
    )
    assert [done for _, done, _ in told] == list(range(1, found.pages + 1))
    assert told[-1] == ("pages", found.pages, found.pages)


def test_the_command_writes_them(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = memory.sessions.settings.store
    options = [
        "--workspace",
        "acme",
        "--agent",
        "support",
        "--now",
        NOW.isoformat(),
    ]
    out = tmp_path / "out"
    assert (
        main(["look", "--store", store, *options, "--out", str(out), "--json"])
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer == {
        "pages": len(files_of(out)),
        "index": str(out / "index.html"),
    }


def files_of(directory: Path) -> list[Path]:
    return list(directory.glob("*.html"))


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5"])
def test_a_wrong_port_is_bad_usage(
    port: str, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    store = memory.sessions.settings.store
    assert main(["look", "--store", store, f"--port={port}"]) == 2
    assert "--port" in capsys.readouterr().err


@pytest.mark.parametrize(
    "where",
    [
        Target("timeline"),
        target("period", "2026-W09", user="u-42"),
        target("conversation", "2026-02-23", "c-1", start=50),
        target("entity", "a/b?c=d&e#f%2F"),
        target("search", q="¿dónde? & <b>", user="a b"),
    ],
)
def test_an_address_is_read_back_as_its_target(where: Target) -> None:
    assert parse_address(server_address(where)) == where


def test_distinct_targets_have_distinct_files() -> None:
    names = [
        file_name(target("entity", "a b")),
        file_name(target("entity", "a-b")),
        file_name(target("entity", "A-b")),
        file_name(target("entity", "a-b", at="2026-01-01")),
        file_name(target("entity", "a" * 300)),
        file_name(target("entity", "a" * 301)),
        file_name(target("entity", "../../etc/passwd")),
    ]
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", name) for name in names)


def test_a_message_without_a_turn_and_a_day_without_words_have_no_link(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path / "store", now=NOW)
    said = [
        ("user", "Dana", "I have an interview tomorrow."),
        ("assistant", "Helper", "Good luck, Dana!"),
        ("tool", "calendar", '{"free": true}'),
        ("system", "rules", "Be brief."),
    ]
    messages = [
        {
            "role": role,
            "name": name,
            "content": text,
            "timestamp": f"2026-03-02T09:0{minute}:00Z",
        }
        for minute, (role, name, text) in enumerate(said)
    ]
    conversation = {"conversationId": "c-1", "userId": "u-dana"}
    memory.ingest({**conversation, "messages": messages})
    memory.summarize()
    pages = files(write_pages(memory, "./memory", tmp_path / "out"))
    assert not [name for name, page in pages.items() if "Not here" in page]
    (words,) = [
        page
        for name, page in pages.items()
        if name.startswith("conversation-")
    ]
    assert words.count('href="record-turn-') == 2
    assert 'href="period-2026-03-02.html"' in pages["period-2026-03.html"]
