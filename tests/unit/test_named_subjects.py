"""Texts that tell the state of somebody by name, and whose state they leave as it is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve.domain.statements.pairs.named_subjects import names_another

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
NAMED = [
    "Bo Larsen lives in Oslo.",
    "Bo Larsen moved to Oslo last week.",
    "Bo now works at Acme.",
    "Helen is a nurse.",
    "Ana Ruiz is allergic to nuts.",
    "Dr. Meyer has moved to Bonn.",
    "Sam got married in May.",
    "Bo Larsen vive en Oslo.",
    "Marta se ha mudado a Vigo.",
    "Pilar trabaja en Acme.",
    "Lucía es vegetariana.",
    "Ana tiene dos hijos.",
]
OTHERS = [
    "I moved to Porto.",
    "Dana lives in Porto.",
    "dana moved to Porto.",
    "She lives in Oslo.",
    "It works now.",
    "Rent is 900 euros.",
    "Porto is where I live.",
    "The oven works again.",
    "We moved to Porto.",
    "Vivo en Oporto.",
    "Ella vive en Oslo.",
    "Me mudé a Oporto.",
    "Hoy trabajo en casa.",
    "El horno vive sus últimos días.",
    "Bo Larsen and I moved to Porto.",
]


@pytest.mark.parametrize("text", NAMED)
def test_a_text_tells_of_another_by_name(text: str) -> None:
    assert names_another(text, "Dana")


@pytest.mark.parametrize("text", OTHERS)
def test_a_text_tells_of_no_other_by_name(text: str) -> None:
    assert not names_another(text, "Dana")


@pytest.mark.parametrize("question", [None, "Where do I live?"])
@pytest.mark.parametrize(
    "texts",
    [
        ("I live in Porto.", "Bo Larsen moved to Oslo."),
        ("Bo Larsen lives in Oslo.", "I moved to Porto."),
        ("Vivo en Oporto.", "Bo Larsen se ha mudado a Oslo."),
    ],
)
def test_neither_ones_own_nor_anothers_state_is_marked(
    tmp_path: Path, texts: tuple[str, str], question: str | None
) -> None:
    memory = tell(tmp_path, texts, NOW)
    found = memory.search(question, user_id=USER).results
    assert {one.current for one in found} == {True}
    assert any("Oslo" in one.content for one in found)
    assert any("port" in one.content.casefold() for one in found)


@pytest.mark.parametrize(
    ("texts", "gone"),
    [
        (("Dana lives in Lisbon.", "I moved to Porto."), "Lisbon"),
        (("I live in Lisbon.", "I moved to Porto."), "Lisbon"),
        (("Bo Larsen lives in Oslo.", "Bo Larsen moved to Rome."), "Oslo"),
        (
            ("I live with Bo in Oslo.", "Bo and I moved to Rome."),
            "Oslo",
        ),
    ],
)
def test_a_later_state_of_the_same_person_still_supersedes(
    tmp_path: Path, texts: tuple[str, str], gone: str
) -> None:
    memory = tell(tmp_path, texts, NOW)
    asked = "Where does Bo Larsen live?" if "Rome" in texts[1] else ""
    found = memory.search(
        asked or "Where do I live?", user_id=USER, include_superseded=True
    ).results
    before = [one for one in found if gone in one.content]
    assert before
    assert not any(one.current for one in before)
