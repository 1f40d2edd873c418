"""What is told again after its end holds again, and the end no longer does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 3, 20, 9, tzinfo=UTC)
USER = "u-1"


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (
            (
                "I'm allergic to pollen.",
                "I'm not allergic to pollen any more.",
                "I'm allergic to pollen after all.",
            ),
            "Am I allergic to pollen?",
        ),
        (
            (
                "I live in Turku.",
                "I no longer live in Turku.",
                "I live in Turku again.",
            ),
            "Where do I live?",
        ),
        (
            ("I work at Meyer.", "I quit Meyer.", "I work at Meyer again."),
            "Where do I work?",
        ),
        (
            ("Vivo en Mieres.", "Ya no vivo en Mieres.", "Vivo en Mieres."),
            "¿Dónde vivo?",
        ),
        (
            (
                "Hablo gallego.",
                "Ya no hablo gallego.",
                "También hablo gallego.",
            ),
            "¿Qué idiomas hablo?",
        ),
        (
            (
                "I drive a Volvo.",
                "I drive a Fiat now.",
                "I drive a Volvo.",
            ),
            "What car do I drive?",
        ),
    ],
)
def test_2_what_is_told_again_supersedes_its_end(
    tmp_path: Path, texts: tuple[str, str, str], question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for day, text in enumerate(texts):
        memory.remember(text, user_id=USER, at=NOW - timedelta(days=9 - day))
    found = memory.search(question, user_id=USER).results
    assert found[0].current
    assert found[0].confirmed_at.startswith("2026-03-13")
    ended = [one for one in found if one.date == "2026-03-12"]
    assert ended
    assert not any(one.current for one in ended)
    block = memory.context(question, user_id=USER).text
    for line in block.splitlines():
        assert texts[1] not in line or line.endswith(("hold)", "longer)"))
