"""Every block of code and every command in README.md and docs/ works as shown."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from docs import reference
from tests.docs.blocks import (
    LANGUAGES,
    PAGES,
    ROOT,
    Runner,
    blocks_of,
    commands_of,
)
from varve import Memory
from varve.cli.arguments import build_parser

EMPTY_AT_START = {"README.md", "quickstart.md"}
"""Pages that tell a reader to begin with nothing; the others begin with a small memory."""

CONVERSATION = {
    "conversationId": "c-1",
    "userId": "u-42",
    "messages": [
        {
            "id": "m1",
            "role": "user",
            "name": "Dana",
            "content": "I moved to Lisbon last week.",
            "timestamp": "2026-03-02T09:15:00Z",
        },
        {
            "id": "m2",
            "role": "assistant",
            "content": "Enjoy the new home!",
            "timestamp": "2026-03-02T09:15:20Z",
        },
    ],
}
EPISODE = {
    "conversationId": "c-7",
    "userId": "u-42",
    "messages": [
        {
            "role": "user",
            "name": "Dana",
            "content": "Requests time out, threads wait for connections.",
            "timestamp": "2026-03-03T10:00:00Z",
            "state": "debugging",
        },
        {
            "role": "assistant",
            "content": "I raise the pool size.",
            "timestamp": "2026-03-03T10:01:00Z",
            "state": "debugging",
            "outcome": "FAILURE",
        },
    ],
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a small memory and the files that commands name."""
    place = tmp_path_factory.mktemp("prepared")
    memory = Memory.open(place / "memory", environment={})
    memory.ingest([CONVERSATION, EPISODE])
    memory.experience.lessons.add(
        "Roll back before tuning",
        when="errors begin with a rollout",
        then="roll the release back",
        evidence=[memory.experience.episodes()[0]["id"]],
    )
    (place / "conversation.json").write_text(json.dumps(CONVERSATION), "utf-8")
    question = {"question": "Where does Dana live?", "messageIds": ["m1"]}
    (place / "questions.json").write_text(json.dumps([question]), "utf-8")
    (place / "itinerary.txt").write_text("Monday: fly to Porto.\n", "utf-8")
    scenario = next((ROOT / "tests" / "scenarios").glob("*.json"))
    shutil.copy(scenario, place / "scenarios.json")
    return place


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_the_blocks_of_a_page_run_in_order(
    page: Path,
    prepared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = tmp_path / "work"
    if page.name in EMPTY_AT_START:
        place.mkdir()
    else:
        shutil.copytree(prepared, place)
    monkeypatch.chdir(place)
    for name in ("VARVE_STORE", "VARVE_WRITE_QUEUE_URL"):
        monkeypatch.delenv(name, raising=False)
    runner = Runner()
    with patch.dict(os.environ):  # what a page exports ends with the page
        for block in blocks_of(page):
            if block.reason is None:
                runner.run(block)


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_block_names_a_language_that_is_run_or_a_reason(
    page: Path,
) -> None:
    for block in blocks_of(page):
        assert block.language in LANGUAGES, block.place
        assert block.reason is None or len(block.reason.split()) >= 3, (
            block.place
        )


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_varve_command_of_a_block_that_is_not_run_parses(
    page: Path,
) -> None:
    for block in blocks_of(page):
        if block.reason is None or block.language != "sh":
            continue
        for command in commands_of(block.text):
            words = shell_words(command)
            if words[:1] == ["varve"]:
                parsed(words[1:], f"{block.place}: {command}")


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_json_file_that_a_block_writes_is_json(page: Path) -> None:
    for block in blocks_of(page):
        for command in (
            commands_of(block.text) if block.language == "sh" else ()
        ):
            first, _, rest = command.partition("\n")
            if re.match(r"cat > \S+\.json <<", first):
                json.loads(rest)


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_configuration_key_that_a_page_sets_exists(page: Path) -> None:
    known = {key for key, _, _ in reference.configuration_keys()}
    named = re.findall(
        r"config (?:set|get) ([a-z][\w.]*)", page.read_text("utf-8")
    )
    # What an agent has of its own is part of one key.
    keys = {re.sub(r"^agents\..*", "agents", name) for name in named}
    assert keys <= known


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_option_of_a_command_in_the_text_exists(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    known = options_by_command()
    for command, rest in re.findall(r"`varve ([a-z-]+)([^`]*)`", text):
        options = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", rest))
        assert options <= known[command], f"{page.name}: varve {command}{rest}"


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_benchmark_command_names_a_script_and_its_options(
    page: Path,
) -> None:
    text = page.read_text("utf-8")
    found = re.findall(
        r"python (?:-m )?benchmarks[./](\w+)(?:\.py)?([^`\n|]*)", text
    )
    for script, rest in found:
        source = (ROOT / "benchmarks" / f"{script}.py").read_text("utf-8")
        for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", rest):
            assert f'"{option}"' in source, f"{page.name}: {script} {option}"


def options_by_command() -> dict[str, set[str]]:
    """Return the options of every command."""
    (action,) = (a for a in build_parser()._actions if a.dest == "command")
    assert isinstance(action.choices, dict)
    options: dict[str, set[str]] = {}
    for name, command in action.choices.items():
        options[name] = set()
        for argument in command._actions:
            options[name].update(argument.option_strings)
    return options


def shell_words(command: str) -> list[str]:
    """Return the words of a command's first line; none where a shell would need more."""
    try:
        return shlex.split(command.partition("\n")[0], comments=True)
    except ValueError:
        return []


def parsed(words: list[str], place: str) -> None:
    """Parse a command's words. Fails, naming the place, where the grammar refuses them."""
    try:
        build_parser().parse_args(words)
    except SystemExit:
        pytest.fail(f"{place}: does not parse")
