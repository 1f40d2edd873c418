"""A visit, a trip or an appointment on a day ends no home."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory

HOME = {
    "en": "I moved to Porto on Saturday.",
    "es": "Me mudé a Oporto el sábado.",
}
QUESTIONS = {"en": "Where do I live?", "es": "¿Dónde vivo?"}


@pytest.mark.parametrize(
    ("language", "later"),
    [
        ("en", "I fly to Leeds on Friday."),
        ("en", "I'm in Leeds from Friday to Monday."),
        ("en", "Off to Leeds on Friday, back on Sunday."),
        ("en", "Wednesdays at 11 please, starting next week."),
        ("es", "Vuelo a Leeds el viernes."),
        ("es", "Estoy en Leeds del viernes al lunes."),
    ],
)
def test_invariant_11_a_visit_on_a_day_ends_no_home(
    tmp_path: Path, language: str, later: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(0, HOME[language]), talk(7, later)])
    first, *_ = memory.search(QUESTIONS[language], user_id="u-1").results
    assert ("m0-0" in first.source_ids, first.current) == (True, True)


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I moved to Porto on Saturday.", "I moved to Leeds on Friday.", "Where do I live?"),
        (
            "I work at Globex from Monday to Thursday.",
            "I start at Initech on Monday.",
            "Where do I work?",
        ),
        ("Me mudé a Oporto el sábado.", "Me mudé a Vigo el lunes.", "¿Dónde vivo?"),
    ],
)  # fmt: skip
def test_invariant_11_what_ends_a_statement_of_a_day_still_does(
    tmp_path: Path, earlier: str, later: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(0, earlier), talk(7, later)])
    first, *_ = memory.search(question, user_id="u-1").results
    assert "m7-0" in first.source_ids
