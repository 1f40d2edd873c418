"""A list without a question and `show` know what a search knows of ended values (8)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


@pytest.mark.parametrize(
    ("told", "end", "rest"),
    [
        (
            "I'm allergic to latex and kiwi.",
            "I'm not allergic to kiwi any more.",
            "Dana is allergic to latex.",
        ),
        (
            "Soy alérgica al látex y al kiwi.",
            "Ya no soy alérgica al kiwi.",
            "Dana tiene alergia a látex.",
        ),
        (
            "I like hiking, opera and chess.",
            "I've gone off chess.",
            "Dana likes hiking. Dana likes opera.",
        ),
    ],
)
def test_8_a_list_and_show_keep_what_holds_of_several_values(
    tmp_path: Path, told: str, end: str, rest: str
) -> None:
    memory = tell(tmp_path, (told, end), NOW)
    found = memory.search(user_id=USER).results
    (listed,) = [one for one in found if one.conversation_id == "c-0"]
    assert (listed.content, listed.current) == (rest, True)
    for id_ in (listed.id, *listed.also_in):
        assert memory.show(id_)["current"]


@pytest.mark.parametrize(
    ("told", "end"),
    [
        (
            "I'm allergic to latex and kiwi.",
            "I'm not allergic to latex or kiwi any more.",
        ),
        (
            "Soy alérgica al látex y al kiwi.",
            "Ya no soy alérgica al látex ni al kiwi.",
        ),
        ("I live in Oslo.", "I moved to Bergen."),
        ("Vivo en Oslo.", "Me mudé a Bergen."),
    ],
)
def test_8_a_list_and_show_mark_what_ended_as_a_whole(
    tmp_path: Path, told: str, end: str
) -> None:
    memory = tell(tmp_path, (told, end), NOW)
    found = memory.search(user_id=USER).results
    (listed,) = [one for one in found if one.conversation_id == "c-0"]
    assert not listed.current
    for id_ in (listed.id, *listed.also_in):
        assert not memory.show(id_)["current"]
