"""A correction that tells a list anew ends what it leaves out, in profile and graph."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

USER = "u-1"


def open_on(path: Path, day: int) -> Memory:
    return Memory.open(
        path / "memory", now=datetime(2026, 3, day, 9, tzinfo=UTC)
    )


def correct(path: Path, day: int, word: str, text: str) -> None:
    """Correct the newest fact with a word."""
    memory = open_on(path, day)
    found = memory.search(user_id=USER, memory_types=["fact"]).results
    memory.correct(next(one.id for one in found if word in one.content), text)


def list_held(path: Path, key: str, label: str) -> tuple[set[str], set[str]]:
    """Return an attribute's values, and those of its triples that hold."""
    memory = open_on(path, 20)
    attributes = memory.profile(user_id=USER)["attributes"]
    rows = memory.graph.query_graph(
        "select label, target_id from facts where invalid_at is null"
    )
    return (
        {one["value"] for one in attributes if one["key"] == key},
        {row["target_id"] for row in rows if row["label"] == label},
    )


@pytest.mark.parametrize(
    ("told", "text", "held"),
    [
        (
            "I'm allergic to shrimp, kiwi and latex.",
            "I'm allergic to shrimp, mango and latex.",
            {"shrimp", "mango", "latex"},
        ),
        (
            "Soy alérgica a las gambas, al kiwi y al látex.",
            "Soy alérgica a las gambas y al látex.",
            {"gambas", "látex"},
        ),
        (
            "Soy alérgica a las gambas, al kiwi y al látex.",
            "I'm allergic to shrimp, mango and latex.",
            {"shrimp", "mango", "latex"},
        ),
        (
            "I'm allergic to nuts. I'm also allergic to dust.",
            "I'm allergic to nuts and dates.",
            {"nuts", "dates", "dust"},
        ),
    ],
)
def test_4_a_list_told_anew_ends_what_it_leaves_out(
    tmp_path: Path, told: str, text: str, held: set[str]
) -> None:
    open_on(tmp_path, 2).remember(told, user_id=USER)
    correct(tmp_path, 3, "nuts" if "nuts" in told else "kiwi", text)
    assert list_held(tmp_path, "allergies", "allergic_to") == (held, held)


def test_4_a_correction_corrected_again_leaves_out_another_value(
    tmp_path: Path,
) -> None:
    told = "I'm allergic to shrimp, kiwi and latex."
    open_on(tmp_path, 2).remember(told, user_id=USER)
    correct(tmp_path, 3, "kiwi", "I'm allergic to shrimp, mango and latex.")
    correct(tmp_path, 4, "mango", "I'm allergic to shrimp and latex.")
    held = {"shrimp", "latex"}
    assert list_held(tmp_path, "allergies", "allergic_to") == (held, held)


def test_4_a_corrected_nickname_ends(tmp_path: Path) -> None:
    told = "Me llamo Nuño Ibáñez, pero todos me llaman Nuni."
    open_on(tmp_path, 2).remember(told, user_id=USER)
    correct(tmp_path, 3, "Nuni", told.replace("Nuni", "Nono"))
    _, names = list_held(tmp_path, "preferred_name", "goes_by")
    assert names == {"nono"}
