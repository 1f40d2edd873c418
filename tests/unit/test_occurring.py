"""Who and what `varve status --people --topics` lists: persons by name, and no verbs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import SetClock
from tests.support.drivers import open_memory
from tests.unit.test_told_last import FIRST, NOW, talk
from varve import Memory
from varve.cli import main
from varve.domain.identity import Scope
from varve.domain.language.verbs import is_verb_form

SAID = (
    (
        None,
        "I moved to Porto with my sister Laura. I adopted a dog and repaired my bicycle.",
    ),
    ("User", "I baked bread with Laura and learned to swim."),
    ("Dana", "Marta explained the project to Laura. We finished the project."),
    (
        "usuario",
        "Me compré una bicicleta y aprendí a nadar. Arreglamos la cocina, quería explicarte el proyecto.",
    ),
)


@pytest.fixture
def listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, dict[str, int]]:
    """The people and topics of a memory, as the command lists them."""
    memory = open_memory(Scope("default", "default"), tmp_path)
    for number, (name, text) in enumerate(SAID):
        message: dict[str, Any] = {"role": "user", "content": text}
        if name:
            message["name"] = name
        memory.ingest({"conversationId": f"c{number}", "messages": [message]})
    store = ["--store", str(tmp_path), "--json"]
    assert main(["status", "--people", "--topics", *store]) == 0
    shown = json.loads(capsys.readouterr().out)
    return {
        "people": {one["name"]: one["records"] for one in shown["people"]},
        "topics": {one["topic"]: one["records"] for one in shown["topics"]},
    }


def test_only_persons_are_listed_by_name(
    listed: dict[str, dict[str, int]],
) -> None:
    assert set(listed["people"]) == {"Laura", "Dana"}
    assert listed["topics"].keys().isdisjoint({"user", "usuario"})


def test_nouns_are_topics_and_verbs_are_none(
    listed: dict[str, dict[str, int]],
) -> None:
    nouns = {"dog", "bicycle", "bread", "project", "bicicleta", "cocina", "proyecto"}  # fmt: skip
    verbs = {
        "adopted", "repaired", "baked", "learned", "explained", "finished", "compré",
        "aprendí", "arreglamos", "quería", "explicarte",
    }  # fmt: skip
    assert nouns <= listed["topics"].keys()
    assert listed["topics"].keys().isdisjoint(verbs)


@pytest.mark.parametrize(
    "word",
    ["visited", "carried", "broke", "enjoy", "vendimos", "viajamos", "compraron",
     "trabajaba", "cocinando", "comprándolo", "ayudarme", "hablará", "vendido"],
)  # fmt: skip
def test_forms_of_verbs_are_known(word: str) -> None:
    assert is_verb_form(word)


@pytest.mark.parametrize(
    "word",
    ["bread", "wedding", "hiking", "visit", "shed", "speed", "seabed", "hundred", "red", "pared",
     "café", "bebé", "comité", "esquí", "gramos", "tramos", "íntimos", "préstamos", "sílaba",
     "comando", "panadería", "energía", "hogar", "taller", "mujer", "muerte", "charla", "universe",
     "comida", "vino", "mitglied", "jardín", "papá", "sofá", "Orlando".lower(), "charles"],
)  # fmt: skip
def test_a_noun_that_ends_as_verbs_do_stays_a_noun(word: str) -> None:
    assert not is_verb_form(word)


def test_persons_and_topics_stay_when_the_words_have_expired(
    tmp_path: Path,
) -> None:
    clock = SetClock(NOW)
    memory = Memory.open(tmp_path / "memory", now=clock)
    memory.configure("plan", "free")
    said = talk(
        1,
        "My sister Clara lives in Ghent.",
        "> Ghent has wonderful belfries.",
        "Clara likes cycling. Marta's brother Luis works at Globex.",
        "> Cycling past belfries is lovely.",
    )
    clock.now = FIRST + timedelta(days=2)
    memory.ingest(said)
    fresh = _list_occurring(memory)
    clock.now += timedelta(days=5)
    memory.summarize()
    memory.cleanup()
    assert memory.list().records == ()
    expired = _list_occurring(memory)
    for listed in (fresh, expired):
        assert min(listed["people"].values()) > 0
        assert set(listed["people"]) == {"u-1", "Clara", "Marta", "Luis"}
        assert listed["topics"]["cycling"] > 0
        assert "belfries" not in listed["topics"]


def _list_occurring(memory: Memory) -> dict[str, dict[str, int]]:
    shown = memory.status(people=True, topics=True)
    return {
        "people": {one["name"]: one["records"] for one in shown["people"]},
        "topics": {one["topic"]: one["records"] for one in shown["topics"]},
    }
