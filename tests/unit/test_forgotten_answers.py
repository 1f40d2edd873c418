"""The assistant's answers to a request to forget, which may repeat what it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory

NUMBER = "533417220"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def list_told(memory: Memory, words: str) -> list[str]:
    """Return what search, browsing and context tell with these words."""
    found = memory.search(words, user_id="u-1", include_superseded=True)
    browsed = memory.search(user_id="u-1", max_results=100)
    told = [one.content for one in (*found.results, *browsed.results)]
    told += memory.context(words, user_id="u-1").text.split("\n")
    return [one for one in told if words in one]


@pytest.mark.parametrize("day", [1, 2], ids=["one talk", "two talks"])
@pytest.mark.parametrize("thing", ["passport", "phone"])
def test_the_answer_to_a_request_repeats_nothing_that_it_names(
    memory: Memory, thing: str, day: int
) -> None:
    told = [f"My {thing} number is {NUMBER}.", f"> Noted: {NUMBER}."]
    asked = [
        f"Please forget my {thing} number.",
        f"> Done, I have removed {NUMBER} from my notes. Oslo is in Norway.",
    ]
    if day == 1:
        memory.ingest(talk(1, *told, *asked))
    else:
        memory.ingest(talk(1, *told))
        memory.ingest(talk(2, *asked))
    memory.summarize()

    assert list_told(memory, NUMBER) == []
    assert list_told(memory, "Oslo is in Norway") != []


def test_an_answer_that_comes_later_is_hidden_and_erased_too(
    memory: Memory,
) -> None:
    asked = ("Forget my phone number.", f"> Done: {NUMBER} is gone.")
    memory.ingest(talk(1, f"My phone number is {NUMBER}."))
    memory.ingest(talk(2, *asked[:1]))
    memory.ingest(talk(2, *asked))

    assert list_told(memory, NUMBER) == []

    memory.forget(query="phone number", user="u-1")

    held = memory.search(NUMBER, include_superseded=True).results
    assert not [one for one in held if NUMBER in one.content]


def test_what_is_told_anew_after_a_request_is_kept(memory: Memory) -> None:
    memory.ingest(talk(1, f"My passport number is {NUMBER}."))
    memory.ingest(
        talk(
            2,
            "Forget my passport number.",
            "> Done.",
            "My new passport number is 611222333.",
            "> Noted: 611222333.",
        )
    )

    assert any("new passport" in one for one in list_told(memory, "611222333"))


def test_all_that_is_said_after_everything_was_forgotten_is_kept(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, f"My passport number is {NUMBER}."))
    memory.ingest(
        talk(2, "Forget everything about me.", "> Done. Lima is in Peru.")
    )

    assert list_told(memory, "Lima is in Peru") != []
