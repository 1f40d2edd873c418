"""The fenced blocks of a Markdown page, and how a test runs them."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LANGUAGES = {"python", "sh", "sql", "json", "text"}
OUTPUT = "output of the block above"
NOT_RUN = "not run: "

_FENCE = re.compile(r"^ *(```+)(\w*)\s*$")
_COMMENT = re.compile(r"<!-- (.*?) -->\s*$", re.DOTALL)
_HEREDOC = re.compile(r"cat > (\S+) <<'(\w+)'$")
_EXPORT = re.compile(r"export (\w+)=(.*)$")


@dataclass(frozen=True)
class Block:
    """One fenced block; `remark` is the HTML comment right above it."""

    page: Path
    line: int
    language: str
    text: str
    remark: str

    @property
    def place(self) -> str:
        """Page and line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str | None:
        """Why the block is not run; None if it is run."""
        if not self.remark.startswith(NOT_RUN):
            return None
        return self.remark.removeprefix(NOT_RUN).strip()


def blocks_of(page: Path) -> list[Block]:
    """Return the page's fenced blocks in order."""
    found: list[Block] = []
    lines = page.read_text("utf-8").splitlines()
    start: int | None = None
    fence = language = ""
    for number, line in enumerate(lines):
        opening = _FENCE.match(line)
        if start is None and opening:
            fence, language, start = opening[1], opening[2], number
        elif start is not None and line.strip() == fence:
            inner = lines[start + 1 : number]
            above = "\n".join(lines[:start])
            text = "\n".join(_dedented(inner))
            found.append(
                Block(page, start + 1, language, text, _remark(above))
            )
            start = None
    assert start is None, f"{page}: a block is not closed"
    return found


def commands_of(script: str) -> Iterator[str]:
    """Yield a shell script's commands, continued lines joined, without comments."""
    lines = iter(script.splitlines())
    for line in lines:
        command = line
        while command.endswith("\\"):
            command = command[:-1] + next(lines)
        heredoc = _HEREDOC.search(command.strip())
        if heredoc:
            inner = []
            for body in lines:
                if body.strip() == heredoc[2]:
                    break
                inner.append(body)
            yield "\n".join([command.strip(), *inner])
        elif command.strip() and not command.strip().startswith("#"):
            yield command.strip()


class Runner:
    """Runs a page's blocks in the present directory, one after the other."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""

    def run(self, block: Block) -> None:
        """Run one block. Raises AssertionError or what the block raises."""
        match block.language:
            case "python":
                self._run_python(block)
            case "sh":
                self._printed = ""
                for command in commands_of(block.text):
                    self._run_command(block, command)
            case "sql":
                Memory.open("./memory").sql(block.text)
            case "json":
                json.loads(block.text)
            case "text" if block.remark == OUTPUT:
                assert block.text == self._printed.rstrip("\n"), block.place

    def _run_python(self, block: Block) -> None:
        padding = (
            "\n" * block.line
        )  # tracebacks then show the page's own lines
        code = compile(padding + block.text, block.place, "exec")
        printed = StringIO()
        with redirect_stdout(printed):
            exec(code, self._names)
        self._printed = printed.getvalue()

    def _run_command(self, block: Block, command: str) -> None:
        heredoc = _HEREDOC.match(command.partition("\n")[0])
        export = _EXPORT.match(command)
        words = shlex.split(command, comments=True) if heredoc is None else []
        if heredoc:
            Path(heredoc[1]).write_text(
                command.partition("\n")[2] + "\n", "utf-8"
            )
        elif export:
            os.environ[export[1]] = " ".join(shlex.split(export[2]))
        elif words[0] == "make":
            assert words[1] in make_targets(), block.place
        else:
            assert words[0] == "varve", (
                f"{block.place}: cannot run {command!r}"
            )
            printed = StringIO()
            with redirect_stdout(printed):
                code = main([_filled_in(word) for word in words[1:]])
            assert code == 0, f"{block.place}: {command!r} ended with {code}"
            self._printed += printed.getvalue()


def make_targets() -> set[str]:
    """Return the Makefile's targets."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def _filled_in(word: str) -> str:
    """Return the word, or the id that the placeholders ID, EPISODE, LESSON stand for."""
    if word not in ("ID", "EPISODE", "LESSON"):
        return word
    memory = Memory.open("./memory")
    if word == "EPISODE":
        return str(memory.experience.episodes()[0]["id"])
    if word == "LESSON":
        return memory.experience.lessons.all()[0].id
    return memory.search(memory_types=["fact"]).results[0].id


def _dedented(lines: list[str]) -> list[str]:
    margin = min(
        (len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0
    )
    return [line[margin:] for line in lines]


def _remark(above: str) -> str:
    found = _COMMENT.search(above[-300:])
    return " ".join(found[1].split()) if found else ""
