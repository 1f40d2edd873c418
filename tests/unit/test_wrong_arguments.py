"""Every public method refuses arguments of wrong types by a Rejected that names the argument."""

import inspect
from contextlib import suppress
from datetime import UTC, date, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from varve import Memory, Rejected, VarveError
from varve.api.answers import AnswerBook
from varve.api.experience import Experience
from varve.api.graph import Graph
from varve.api.lessons import LessonBook
from varve.api.notes import Notes
from varve.api.research import ResearchNotes
from varve.api.sharing import Share
from varve.domain.note_operations import NoteOperation
from varve.domain.search.query import SearchRequest
from varve.usecases.experience.lessons import NewLesson

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
NONSENSE = object()
WRONG = (
    3, 10**30, -1, 2.5, float("nan"), True, None, "", "x", "\ud800", b"x",
    [], [3], {}, {"a": 1}, NONSENSE,
    date(2020, 1, 1), datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC),
)  # fmt: skip
VALUES = {
    "conversation": {
        "conversationId": "c",
        "messages": [{"role": "user", "content": "I like tea"}],
    },
    "facts": [],
    "key": "diet",
    "messages": [{"role": "user", "content": "I like tea"}],
    "month": "2026-03",
    "name": "summaries.scope",
    "proposal": NewLesson("Ask twice", "in doubt", "ask"),
    "operation": NoteOperation("view", "a.md"),
    "query": "my tea",
    "questions": [],
    "request": SearchRequest(),
    "research": len,
    "sql": "SELECT 1 AS one",
    "types": ["fact"],
    "value": "user",
}
# These end processes, ask models or write files, whatever they are given.
OUTSIDE = {"close", "connect", "diagnose", "open", "publish", "reembed"}
PLAIN = "a plain word"


OWNERS = {
    "": Memory,
    "graph": Graph,
    "notes": Notes,
    "experience": Experience,
    "experience.lessons": LessonBook,
    "experience.answers": AnswerBook,
    "experience.research": ResearchNotes,
    "share": Share,
}
CALLS = [
    (owner, verb)
    for owner, class_ in OWNERS.items()
    for verb, _ in inspect.getmembers(class_, inspect.isfunction)
    if not verb.startswith("_") and verb not in OUTSIDE
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory.open(tmp_path_factory.mktemp("memory"), now=MONDAY)
    memory.remember("I live in Lisbon", user_id="u-1")
    return memory


def find_call(
    memory: Memory, owner: str, verb: str, folder: Path
) -> tuple[Any, dict[str, Any]]:
    """Return a method, with a right argument for each one that has no default."""
    call = attrgetter(f"{owner}.{verb}".strip("."))(memory)
    parameters = inspect.signature(call).parameters.values()
    values = {**VALUES, "directory": folder / "files"}
    right = {
        one.name: values.get(one.name, PLAIN)
        for one in parameters
        if one.default is one.empty
    }
    return call, right


@pytest.mark.parametrize(("owner", "verb"), CALLS)
def test_a_wrong_argument_raises_an_error_of_the_library(
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: str,
    verb: str,
) -> None:
    monkeypatch.chdir(tmp_path)  # "x" is the path of a directory
    call, right = find_call(memory, owner, verb, tmp_path)
    for name in inspect.signature(call).parameters:
        for value in WRONG:
            with suppress(VarveError):
                call(**{**right, name: value})


@pytest.mark.parametrize(("owner", "verb"), CALLS)
def test_the_error_names_the_argument(
    memory: Memory, tmp_path: Path, owner: str, verb: str
) -> None:
    call, right = find_call(memory, owner, verb, tmp_path)
    for name in inspect.signature(call).parameters:
        with pytest.raises(Rejected) as refused:
            call(**{**right, name: NONSENSE})
        assert refused.value.field == name


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"ids": 3}, "ids: must be an array"),
        ({"ids": ["r", 3]}, "ids[1]: must be a string"),
        ({"user": ""}, "user: is empty; leave it out to pin nothing"),
        ({"user": "u-1", "dry_run": None}, "dry_run: must be true or false"),
    ],
)
def test_the_error_says_what_was_wrong(
    memory: Memory, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(Rejected) as refused:
        memory.forget(**arguments)
    assert str(refused.value) == told


def test_a_wrong_argument_leaves_nothing_half_written(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory", now=MONDAY)
    with pytest.raises(Rejected, match="at: "):
        memory.remember("I live in Porto", at="yesterday")  # type: ignore[arg-type]
    assert not (tmp_path / "memory").exists()
