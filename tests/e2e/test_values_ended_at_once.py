"""Several values of one message that a profile or the graph ends at once all end (3)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


def list_values(memory: Memory) -> list[str]:
    profile = memory.profile(user_id=USER)
    return sorted(one["value"] for one in profile["attributes"])


@pytest.mark.parametrize(
    "texts",
    [
        ("I'm allergic to nuts and cats.",),
        ("I'm allergic to nuts.", "I'm allergic to cats and nuts."),
        ("Soy alérgica al látex y al kiwi.",),
    ],
)
def test_3_an_empty_value_ends_all_of_a_list(
    tmp_path: Path, texts: tuple[str, ...]
) -> None:
    memory = tell(tmp_path, texts, NOW)
    memory.set_profile("allergies", "", user_id=USER)
    assert list_values(memory) == []
    told = len(texts)
    for one in memory.search(user_id=USER).results:
        is_first = one.conversation_id in {f"c-{at}" for at in range(told)}
        assert one.current is not is_first


@pytest.mark.parametrize(
    ("text", "label", "ended", "left"),
    [
        (
            "I'm allergic to nuts and cats.",
            "allergic_to",
            ("nuts", "cats"),
            [],
        ),
        (
            "Soy alérgica al látex, al kiwi y al polen.",
            "allergic_to",
            ("látex", "polen"),
            ["kiwi"],
        ),
        (
            "I speak German, Dutch and French.",
            "speaks",
            ("Dutch", "French"),
            ["German"],
        ),
    ],
)
def test_3_the_graph_ends_several_values_of_a_message(
    tmp_path: Path,
    text: str,
    label: str,
    ended: tuple[str, ...],
    left: list[str],
) -> None:
    memory = tell(tmp_path, (text,), NOW)
    with memory.graph as graph:
        for value in ended:
            graph.delete_facts(
                [{"source_id": "Dana", "label": label, "target_id": value}]
            )
    assert list_values(memory) == left
    held = [
        one.content
        for one in memory.search(user_id=USER).results
        if one.current and one.memory_type == "fact"
    ]
    for value in ended:
        assert not any(
            value in line and "no longer" not in line and "ya no" not in line
            for line in held
        )


def test_3_values_of_two_parts_are_replaced_each_by_itself(
    tmp_path: Path,
) -> None:
    text = "I live in Lisbon and I work at Acme. I play the cello."
    memory = tell(tmp_path, (text,), NOW)
    with memory.graph as graph:
        for label, value in (("lives_in", "Porto"), ("works_at", "Repsol")):
            graph.update_facts(
                [{"source_id": "Dana", "label": label, "target_id": value}]
            )
    assert list_values(memory) == ["Porto", "Repsol"]
    found = memory.search(user_id=USER).results
    current = " ".join(one.content for one in found if one.current)
    assert "cello" in current
    assert "Lisbon" not in current
    assert "Acme" not in current


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("I live in Lisbon and work as a nurse.", "Porto", "nurse"),
        ("Vivo en Lisboa y trabajo de enfermera.", "Oporto", "enfermera"),
    ],
)
def test_3_show_tells_the_rest_of_a_corrected_message_as_a_list_does(
    tmp_path: Path, text: str, value: str, rest: str
) -> None:
    memory = tell(tmp_path, (text,), NOW)
    memory.set_profile("location", value, user_id=USER)
    found = memory.search(user_id=USER).results
    (left,) = [one for one in found if rest in one.content]
    assert left.current
    assert memory.show(left.id)["current"]
