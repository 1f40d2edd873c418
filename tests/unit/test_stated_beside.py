"""What is told beside another state ends none: "I also work at Initech"."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory

BESIDE = [
    ("I work at Globex.", "I also work at Initech on weekends.", "Where do I work?"),
    ("I work at Globex.", "I work at Initech too.", "Where do I work?"),
    ("I work at Globex.", "Also, I'm self-employed.", "Where do I work?"),
    ("I live in Lisbon.", "I also live in Porto in summer.", "Where do I live?"),
    ("Trabajo en Globex.", "También soy autónomo.", "¿Dónde trabajo?"),
    ("Trabajo en Globex.", "Además, trabajo en Initech los sábados.", "¿Dónde trabajo?"),
    ("Vivo en Vigo.", "Vivo también en Oporto en verano.", "¿Dónde vivo?"),
]  # fmt: skip
INSTEAD = [
    ("I work at Globex.", "I've also joined Initech, Globex is over.", "Where do I work?"),
    ("I live in Lisbon.", "I also moved to Porto last month.", "Where do I live?"),
    ("Vivo en Vigo.", "También me he mudado a Oporto.", "¿Dónde vivo?"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "question"), BESIDE)
def test_2_a_state_told_beside_another_ends_none(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(0, before), talk(7, after)])
    found = memory.search(question, user_id="u-1").results
    assert {one.current for one in found} == {True}
    assert {one.conversation_id for one in found} == {"c0", "c7"}


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        ("My dog is called Rex.", "Rex, my dog, was ill.", "dog"),
        ("My favourite book is Dune.", "My favourite band is Blur now.", "What is my favourite book?"),
        ("Mi libro favorito es Dune.", "Ahora mi grupo favorito es Blur.", "¿Cuál es mi libro favorito?"),
        ("I live in Leeds.", "It rains a lot in Leeds.", "Where do I live?"),
        ("Mi perro se llama Rex.", "Rex, mi perro, está enfermo.", "¿perro?"),
    ],
)  # fmt: skip
def test_2_what_names_a_value_again_or_tells_another_attribute_ends_none(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(0, before), talk(7, after)])
    found = memory.search(question, user_id="u-1").results
    assert {one.current for one in found} == {True}


@pytest.mark.parametrize(("before", "after", "question"), INSTEAD)
def test_invariant_11_a_change_told_beside_other_news_ends_the_state(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(0, before), talk(7, after)])
    first, *_ = memory.search(question, user_id="u-1").results
    assert (first.conversation_id, first.current) == ("c7", True)
