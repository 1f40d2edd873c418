"""A value that the profile or the graph replaces ends in the other one too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import SetClock
from varve import Memory

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 20, 9, tzinfo=UTC)
USER = "u-1"


@pytest.fixture
def clock() -> SetClock:
    return SetClock(NOW)


@pytest.fixture
def memory(tmp_path: Path, clock: SetClock) -> Memory:
    memory = Memory.open(tmp_path / "memory", now=clock)
    for text, user in (
        ("I live in Madrid and I work at Acme.", USER),
        ("I was born in Madrid.", USER),
    ):
        message = {
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": FIRST.isoformat(),
        }
        memory.ingest(
            {
                "conversationId": text[2:6].strip(),
                "userId": user,
                "messages": [message],
            }
        )
    return memory


def move_in_graph(memory: Memory, city: str, label: str = "lives_in") -> None:
    moved = {"source_id": "Dana", "label": label, "target_id": city}
    with memory.graph as graph:
        graph.update_facts([moved])


def read_profile(memory: Memory) -> dict[str, str]:
    held: list[dict[str, Any]] = memory.profile(user_id=USER)["attributes"]
    return {one["key"]: one["value"] for one in held}


def list_held(memory: Memory) -> set[tuple[str, str]]:
    rows = memory.graph.query_graph(
        "select label, target_id from facts where invalid_at is null"
    )
    return {(row["label"], row["target_id"]) for row in rows}


def test_a_profiles_value_ends_the_triple_of_the_one_before(
    memory: Memory,
) -> None:
    memory.set_profile("location", "Porto", user_id=USER)
    held = list_held(memory)
    assert ("lives_in", "madrid") not in held
    assert {("works_at", "acme"), ("born_in", "madrid")} <= held


def test_a_value_of_another_user_of_the_name_stays(memory: Memory) -> None:
    message = {"role": "user", "name": "Eva", "content": "I live in Madrid."}
    memory.ingest(
        {"conversationId": "c9", "userId": "u-2", "messages": [message]}
    )
    memory.set_profile("location", "Porto", user_id=USER)
    rows = memory.graph.query_graph(
        "select source_id from facts where target_id = 'madrid' and"
        " label = 'lives_in' and invalid_at is null"
    )
    assert [row["source_id"] for row in rows] == ["eva"]


@pytest.mark.parametrize(
    ("told", "key", "value", "before"),
    [
        ("My phone number is 555-0142-11.", "phone", "555-0199-22", "0142"),
        ("Mi correo es dana@a.es.", "email", "dana@b.es", "dana@a.es"),
        ("My email is dana@a.org.", "email", "", "dana@a.org"),
    ],
)
def test_3_contact_data_set_by_hand_ends_what_its_user_told(
    memory: Memory, told: str, key: str, value: str, before: str
) -> None:
    for user, name in ((USER, "Dana"), ("u-2", "Ben")):
        tell(memory, told, user, name)
    tell(memory, "My sister Ida's phone number is 555-0142-77.", USER, "Dana")
    memory.set_profile(key, value, user_id=USER)
    rows = memory.graph.query_graph(
        "select source_id, target_id from facts where invalid_at is null"
        f" and label = '{key}'"
    )
    held = {(row["source_id"], row["target_id"]) for row in rows}
    assert ("dana", value) in held or not value
    assert not [one for who, one in held if who == "dana" and before in one]
    assert [one for who, one in held if who == "ben" and before in one]
    question = told.replace(before, "").removesuffix("is .")
    found = memory.search(question, user_id=USER).results
    current = [one.content for one in found if one.current]
    assert value in current[0]
    ended = [one for one in current if before in one and "Ida" not in one]
    assert all("no longer" in one for one in ended)
    found = memory.search("Ida's phone number", user_id=USER).results
    assert "0142-77" in found[0].content
    assert found[0].current


def tell(memory: Memory, text: str, user: str, name: str) -> None:
    said = {
        "role": "user",
        "name": name,
        "content": text,
        "timestamp": (FIRST + timedelta(days=1)).isoformat(),
    }
    memory.ingest(
        {
            "conversationId": f"{user}-{text[:12]}".replace(" ", "-").strip(
                "-."
            ),
            "userId": user,
            "messages": [said],
        }
    )


def test_a_graphs_value_takes_the_place_of_the_attribute(
    memory: Memory,
) -> None:
    move_in_graph(memory, "Porto")
    assert read_profile(memory) == {"location": "Porto", "employer": "Acme"}
    assert (
        "Madrid" not in memory.context("Where do I live?", user_id=USER).text
    )


@pytest.mark.parametrize(
    "label", ["LIVES_IN", "livesIn", "lives in", "Lives-in"]
)
def test_3_a_label_in_another_spelling_corrects_what_was_told(
    memory: Memory, label: str
) -> None:
    move_in_graph(memory, "Porto", label)
    assert ("lives_in", "porto") in list_held(memory)
    assert ("lives_in", "madrid") not in list_held(memory)
    assert read_profile(memory)["location"] == "Porto"
    first = memory.search("Where do I live?", user_id=USER).results[0]
    assert "Porto" in first.content
    assert first.current
    block = memory.context("Where do I live?", user_id=USER)
    assert "Porto" in block.text
    assert "Madrid" not in block.text.replace("born in Madrid", "")


def test_an_end_in_the_graph_ends_the_attribute(memory: Memory) -> None:
    ended = {"source_id": "Dana", "label": "lives_in", "target_id": "Madrid"}
    with memory.graph as graph:
        graph.delete_facts([ended])
    assert read_profile(memory) == {"employer": "Acme"}


def test_profile_and_graph_change_in_turn(
    memory: Memory, clock: SetClock
) -> None:
    move_in_graph(memory, "Porto")
    clock.now = datetime(2026, 4, 1, 9, tzinfo=UTC)
    memory.set_profile("location", "Rome", user_id=USER)
    assert read_profile(memory)["location"] == "Rome"
    homes = {one for one in list_held(memory) if one[0] == "lives_in"}
    assert homes == {("lives_in", "rome")}
    found = memory.search("Where do I live?", user_id=USER).results
    current = [one.content for one in found if one.current]
    assert any("Rome" in one for one in current)
    assert not any("Porto" in one for one in current)


def test_a_correction_by_hand_is_told_in_a_sentence(
    memory: Memory, clock: SetClock
) -> None:
    move_in_graph(memory, "Porto")
    clock.now = datetime(2026, 4, 1, 9, tzinfo=UTC)
    memory.set_profile("employer", "Globex", user_id=USER)
    found = memory.search(user_id=USER, max_results=50).results
    told = {one.content for one in found if one.current}
    assert {"Dana lives in Porto.", "Dana works at Globex."} <= told
    block = memory.context("Where do I live and work?", user_id=USER)
    assert not [
        one for one in told if "lives in:" in one or "employer:" in one
    ]
    assert "lives in:" not in block.text


def tell_in_spanish(memory: Memory) -> None:
    texts = (
        "Vivo en Madrid.",
        "Trabajo en Acme y mi jefa es Eva.",
        "Me gusta el té, pero no con leche.",
    )
    for place, text in enumerate(texts):
        message = {
            "role": "user",
            "name": "Luz",
            "content": text,
            "timestamp": FIRST.isoformat(),
        }
        memory.ingest(
            {
                "conversationId": f"es-{place}",
                "userId": "u-es",
                "messages": [message],
            }
        )


def test_a_correction_by_hand_is_told_in_its_users_language(
    memory: Memory, clock: SetClock
) -> None:
    tell_in_spanish(memory)
    moved = {"source_id": "Luz", "label": "lives_in", "target_id": "Porto"}
    with memory.graph as graph:
        graph.update_facts([moved])
    memory.set_profile("employer", "", user_id="u-es")
    found = memory.search(
        "¿Dónde vivo?", user_id="u-es", max_results=50
    ).results
    told = {one.content for one in found if one.current}
    assert {"Luz: Vivo en Porto.", "Luz vive en Porto."} & told
    assert "Luz ya no trabaja en Acme." in told
    block = memory.context("¿Dónde vivo?", user_id="u-es").text
    assert not [one for one in [*told, block] if "live" in one]
    clock.now = datetime(2026, 4, 1, 9, tzinfo=UTC)
    memory.summarize()
    days = memory.search(user_id="u-es", grain="daily").results
    (day,) = [one for one in days if one.period == "2026-03-20"]
    assert "Vivo en Porto." in day.content
    assert "Ya no trabajo en Acme." in day.content


def test_another_users_words_do_not_change_the_language(
    memory: Memory,
) -> None:
    tell_in_spanish(memory)
    memory.set_profile("location", "Porto", user_id=USER)
    found = memory.search("Where do I live?", user_id=USER).results
    told = {"Dana: I live in Porto.", "Dana lives in Porto."}
    assert found[0].content in told


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("bees, kiwi", "I'm not allergic to kiwi any more."),
        ("bees and kiwi", "I'm no longer allergic to kiwi."),
        ("bees, el kiwi", "Ya no soy alérgica al kiwi."),
    ],
)
def test_what_ends_one_value_of_a_list_set_by_hand_leaves_the_others(
    memory: Memory, clock: SetClock, line: str, ended: str
) -> None:
    memory.set_profile("allergies", line, user_id="u-9")
    assert len(list_allergies(memory)) == 2
    clock.now += timedelta(days=1)
    memory.ingest(
        {
            "conversationId": "c-kiwi",
            "userId": "u-9",
            "messages": [{"role": "user", "content": ended}],
        }
    )
    assert list_allergies(memory) == ["bees"]
    block = memory.context("What am I allergic to?", user_id="u-9").text
    assert "allergies: bees" in block


@pytest.mark.parametrize(
    ("told", "denied", "attribute", "question"),
    [
        (
            "I'm allergic to soy and peanuts.",
            "I'm no longer allergic to soy.",
            ("allergies", "soy"),
            "What am I allergic to?",
        ),
        (
            "Hablo catalán y francés.",
            "Ya no hablo francés.",
            ("languages", "francés"),
            "¿Qué idiomas hablo?",
        ),
        (
            "I live in Turku.",
            "I no longer live in Turku.",
            ("location", "Turku"),
            "Where do I live?",
        ),
    ],
)
def test_3_a_value_set_by_hand_corrects_what_denied_it(
    memory: Memory,
    clock: SetClock,
    told: str,
    denied: str,
    attribute: tuple[str, str],
    question: str,
) -> None:
    key, value = attribute
    for text in (told, denied):
        memory.remember(text, user_id="u-9")
        clock.now += timedelta(days=1)
    memory.set_profile(key, value, user_id="u-9")
    results = memory.search(question, user_id="u-9").results
    current = [one.content for one in results if one.current]
    assert value in current[0]
    assert not any("no longer" in one or "no habl" in one for one in current)
    block = memory.context(question, user_id="u-9").text
    assert f"{key}: {value}" in block
    assert "no longer" not in block
    assert "Ya no" not in block


def list_allergies(memory: Memory) -> list[str]:
    attributes = memory.profile(user_id="u-9")["attributes"]
    return [one["value"] for one in attributes if one["key"] == "allergies"]


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("My number is now 555 0199.", "What is my phone number?"),
        ("Mi nuevo número: 555 0199", "¿Cuál es mi teléfono?"),
    ],
)
def test_a_number_that_its_user_tells_ends_the_one_set_by_hand(
    memory: Memory, clock: SetClock, told: str, asked: str
) -> None:
    memory.set_profile("phone", "555 0100", user_id=USER)
    clock.now += timedelta(days=1)
    memory.remember(told, user_id=USER)
    assert read_profile(memory)["phone"] == "555 0199"
    block = str(memory.context(asked, user_id=USER))
    assert "555 0100" not in block
    assert block.count("555 0199") == 1
    clock.now += timedelta(days=1)
    memory.set_profile("phone", "555 0300", user_id=USER)
    assert read_profile(memory)["phone"] == "555 0300"
    assert "555 0199" not in str(memory.context(asked, user_id=USER))


def test_a_favourite_that_its_user_no_longer_likes_has_ended(
    memory: Memory, clock: SetClock
) -> None:
    def read_favourites() -> list[str]:
        held = sorted(list_held(memory))
        return [value for label, value in held if "favourite" in label]

    for text, left in (
        ("My favourite colour is teal.", ["teal"]),
        ("My favourite colour is maroon now.", ["maroon"]),
        ("Mi té favorito es el rooibos.", ["maroon", "rooibos"]),
        ("I no longer like maroon.", ["rooibos"]),
        ("Ya no me gusta el rooibos.", []),
    ):
        clock.now += timedelta(days=1)
        memory.remember(text, user_id=USER)
        assert read_favourites() == left
