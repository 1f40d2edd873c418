"""A correction of one part of a message leaves what its other parts state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 20, 9, tzinfo=UTC)
USER = "u-1"
CELLO = "I live in Madrid. I play the cello on Fridays."
ACME = "I live in Madrid and I work at Acme."
SPANISH = "Vivo en Madrid y toco el violonchelo los viernes."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def say(memory: Memory, text: str) -> None:
    message = {
        "id": "m1",
        "role": "user",
        "name": "Dana",
        "content": text,
        "timestamp": FIRST.isoformat(),
    }
    memory.ingest(
        {"conversationId": "c1", "userId": USER, "messages": [message]}
    )


def say_and_correct(memory: Memory, told: str, correction: str) -> None:
    """Say a message and correct its turn."""
    say(memory, told)
    turns = memory.search(memory_types=["turn"], user_id=USER).results
    memory.correct(turns[0].id, correction)


def set_profile(memory: Memory) -> None:
    memory.set_profile("location", "Porto", user_id=USER)


def update_graph(memory: Memory) -> None:
    moved = {"source_id": "Dana", "label": "lives_in", "target_id": "Porto"}
    with memory.graph as graph:
        graph.update_facts([moved])


def correct_fact(memory: Memory) -> None:
    facts = memory.search(memory_types=["fact"], user_id=USER).results
    (fact,) = [one for one in facts if "Madrid" in one.content]
    memory.correct(fact.id, "I live in Porto.")


def correct_turn(memory: Memory) -> None:
    turns = memory.search(memory_types=["turn"], user_id=USER).results
    memory.correct(turns[0].id, "I live in Porto.")


def list_current(memory: Memory, question: str | None = None) -> list[str]:
    found = memory.search(question, user_id=USER).results
    return [one.content for one in found if one.current]


def tells(lines: list[str], word: str) -> bool:
    return any(word in line for line in lines)


WAYS = pytest.mark.parametrize(
    "correct", [set_profile, update_graph, correct_fact, correct_turn]
)


@WAYS
@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (CELLO, "cello", "cello"),
        (CELLO, "What instrument do I play?", "cello"),
        (ACME, "Acme", "Acme"),
        (ACME, "Where do I work?", "Acme"),
        (SPANISH, "¿Toco el violonchelo?", "violonchelo"),
    ],
)
def test_the_other_part_still_answers(
    memory: Memory,
    correct: Callable[[Memory], None],
    told: str,
    question: str,
    answer: str,
) -> None:
    say(memory, told)
    correct(memory)
    current = list_current(memory, question)
    assert answer in current[0]
    assert not tells(current, "Madrid")
    block = memory.context(question, user_id=USER).text
    assert answer in block
    assert "Madrid" not in block


@WAYS
@pytest.mark.parametrize("told", [CELLO, ACME, SPANISH])
def test_the_corrected_part_answers_no_more(
    memory: Memory, correct: Callable[[Memory], None], told: str
) -> None:
    say(memory, told)
    correct(memory)
    question = "¿Dónde vivo?" if told is SPANISH else "Where do I live?"
    current = list_current(memory, question)
    assert tells(current, "Porto")
    assert not tells(current, "Madrid")
    assert "Madrid" not in memory.context(question, user_id=USER).text


@WAYS
@pytest.mark.parametrize(("told", "left"), [(CELLO, "cello"), (ACME, "Acme")])
def test_a_browse_and_a_summary_tell_the_other_part(
    memory: Memory, correct: Callable[[Memory], None], told: str, left: str
) -> None:
    say(memory, told)
    correct(memory)
    current = list_current(memory)
    assert tells(current, left)
    assert not tells(current, "Madrid")
    memory.summarize()
    days = memory.search(
        grain="daily", memory_types=["summary"], user_id=USER
    ).results
    summaries = [one.content for one in days]
    assert tells(summaries, left)
    assert not tells(summaries, "Madrid")


def test_each_part_has_its_own_correction(memory: Memory) -> None:
    say(memory, ACME)
    memory.set_profile("location", "Porto", user_id=USER)
    memory.set_profile("employer", "Bosch", user_id=USER)
    assert tells(list_current(memory, "Where do I live?"), "Porto")
    assert tells(list_current(memory, "Where do I work?"), "Bosch")
    told = list_current(memory)
    assert not tells(told, "Madrid")
    assert not tells(told, "Acme")


@pytest.mark.parametrize("correct", [set_profile, update_graph])
def test_a_value_told_twice_ends_in_the_corrected_part(
    memory: Memory, correct: Callable[[Memory], None]
) -> None:
    say(memory, "I was born in Madrid and I live in Madrid.")
    correct(memory)
    told = list_current(memory, "Where do I live?")
    assert tells(told, "Porto")
    assert not tells(told, "live in Madrid")
    assert tells(list_current(memory), "born in Madrid")


def test_a_correction_of_one_fact_leaves_the_others_attributes(
    memory: Memory,
) -> None:
    say(memory, ACME)
    correct_fact(memory)
    held = memory.profile(user_id=USER)["attributes"]
    values = {one["key"]: one["value"] for one in held}
    assert values == {"location": "Porto", "employer": "Acme"}


def test_a_correction_that_is_about_no_part_replaces_the_message(
    memory: Memory,
) -> None:
    say(memory, CELLO)
    turns = memory.search(memory_types=["turn"], user_id=USER).results
    memory.correct(turns[0].id, "None of this is true.")
    assert list_current(memory) == ["Dana: None of this is true."]


def test_a_title_ends_no_part(memory: Memory) -> None:
    say(memory, "My landlord is Mr. Peters. I play the cello on Fridays.")
    turns = memory.search(memory_types=["turn"], user_id=USER).results
    memory.correct(turns[0].id, "My landlord is Mrs. Claes.")
    told = list_current(memory)
    assert tells(told, "Dana: I play the cello on Fridays.")
    assert not tells(told, "Peters")


def test_corrections_of_one_message_each_replace_their_own_part(
    memory: Memory,
) -> None:
    say(memory, "I live in Madrid. My rent is 950 euros. My dog is Bo.")
    turns = memory.search(memory_types=["turn"], user_id=USER).results
    for hours, text in enumerate(
        [
            "My rent is 1000 euros.",
            "I live in Porto.",
            "My rent is 1100 euros.",
            "I live in Porto.",
        ]
    ):
        now = NOW - timedelta(hours=4 - hours)
        memory.correct(turns[0].id, text, now=now)
    told = list_current(memory)
    for word in ("Porto", "1100 euros", "My dog is Bo."):
        assert tells(told, word), word
    for word in ("Madrid", "950", "1000"):
        assert not tells(told, word), word
    held = memory.profile(user_id=USER)["attributes"]
    assert [one["value"] for one in held] == ["Porto"]


def test_the_time_before_the_correction_has_the_whole_message(
    memory: Memory,
) -> None:
    say(memory, CELLO)
    set_profile(memory)
    found = memory.search("cello", user_id=USER, as_of="2026-03-10").results
    assert f"Dana: {CELLO}" in [one.content for one in found]


TWO_VALUES = [
    ("Trabajo en Endesa como ingeniera", "employer", "ingenier"),
    ("Trabajo como ingeniera en Endesa.", "employer", "ingenier"),
    ("I work at Endesa as an engineer", "employer", "engineer"),
    ("I work as an engineer at Endesa and I love it.", "employer", "engineer"),
    ("Trabajo en Endesa como ingeniera", "role", "Endesa"),
    ("I work at Endesa as an engineer", "role", "Endesa"),
]


@pytest.mark.parametrize(("told", "key", "left"), TWO_VALUES)
def test_the_other_value_of_a_corrected_part_is_still_told(
    memory: Memory, told: str, key: str, left: str
) -> None:
    say(memory, told)
    memory.set_profile(key, "Quidel", user_id=USER)
    gone = "Endesa" if key == "employer" else "ngenie"
    question = "Where do I work, and as what?"
    if "Trabajo" in told:
        question = "¿Dónde trabajo y como qué?"
    for asked in (question, left, None):
        current = list_current(memory, asked)
        assert tells(current, left)
        assert not tells(current, gone)
    assert tells(list_current(memory, question), "Quidel")
    block = memory.context(question, user_id=USER).text
    assert left in block
    assert gone not in block
    held = memory.profile(user_id=USER)["attributes"]
    assert {one["value"] for one in held} >= {"Quidel"}
    assert any(left in one["value"] for one in held)


def test_a_change_of_the_graph_leaves_the_other_value(memory: Memory) -> None:
    say(memory, "I live in Madrid with my wife Marta.")
    update_graph(memory)
    assert tells(list_current(memory, "Who is my wife?"), "Marta")
    assert not tells(list_current(memory), "Madrid")


def test_a_relation_of_the_corrected_topic_is_not_told_again(
    memory: Memory,
) -> None:
    say(memory, "Trabajo en Acme y mi jefa es Eva.")
    memory.set_profile("employer", "Bosch", user_id=USER)
    current = list_current(memory, "¿Dónde trabajo?")
    assert tells(current, "Bosch")
    assert not tells(current, "Eva")


def test_a_value_asked_to_be_forgotten_is_not_told_again(
    memory: Memory,
) -> None:
    say(memory, "I work at Endesa as an engineer.")
    message = {"role": "user", "name": "Dana", "content": ""}
    message |= {"content": "Forget that I'm an engineer.", "id": "m2"}
    memory.ingest(
        {"conversationId": "c2", "userId": USER, "messages": [message]}
    )
    memory.set_profile("employer", "Quidel", user_id=USER)
    assert tells(list_current(memory, "Where do I work?"), "Quidel")
    assert not tells(list_current(memory), "engineer")


def test_erasing_the_correction_leaves_the_message_as_it_was(
    memory: Memory,
) -> None:
    say(memory, "I work at Endesa as an engineer.")
    before = list_current(memory, "Where do I work?")
    memory.set_profile("employer", "Quidel", user_id=USER)
    (found,) = memory.search("Quidel", memory_types=["turn"]).results
    memory.forget(ids=[found.id])
    assert list_current(memory, "Where do I work?") == before


@pytest.mark.parametrize(
    ("told", "correction", "question", "left"),
    [
        (
            "My brother Leo lives in Lyon and my sister Mia lives in Metz.",
            "My sister Mia lives in Nancy.",
            "Where does Leo live?",
            "Lyon",
        ),
        (
            "My son Wout is 7 and my wife is called Nele.",
            "My wife is called Nela.",
            "How old is Wout?",
            "7",
        ),
    ],
)
def test_4_a_correction_about_one_person_leaves_another_one(
    memory: Memory, told: str, correction: str, question: str, left: str
) -> None:
    say_and_correct(memory, told, correction)
    assert tells(list_current(memory, question), left)


def test_3_one_of_two_allergies_ends_in_the_graph(memory: Memory) -> None:
    say(memory, "I'm allergic to peanuts and penicillin.")
    ended = {
        "source_id": "Dana",
        "label": "allergic_to",
        "target_id": "peanuts",
    }
    with memory.graph as graph:
        graph.delete_facts([ended])
    current = list_current(memory, "What am I allergic to?")
    assert tells(current, "penicillin")


@pytest.mark.parametrize(
    ("told", "label", "ended", "question", "left"),
    [
        (
            "I love jazz and opera.",
            "likes",
            "jazz",
            "What music do I like?",
            ["opera"],
        ),
        (
            "I like hiking, chess and pottery.",
            "likes",
            "chess",
            "What do I like?",
            ["hiking", "pottery"],
        ),
        (
            "I hate mushrooms and olives.",
            "dislikes",
            "olives",
            "What do I hate?",
            ["mushrooms"],
        ),
        (
            "Me gusta el jazz y la ópera.",
            "likes",
            "jazz",
            "¿Qué música me gusta?",
            ["ópera"],
        ),
    ],
)
def test_8_an_end_of_one_value_in_the_graph_leaves_the_others_of_the_sentence(
    memory: Memory,
    told: str,
    label: str,
    ended: str,
    question: str,
    left: list[str],
) -> None:
    say(memory, told)
    with memory.graph as graph:
        graph.delete_facts(
            [{"source_id": "Dana", "label": label, "target_id": ended}]
        )
    current = list_current(memory, question)
    assert all(tells(current, value) for value in left)
    assert not tells(current, told)


@pytest.mark.parametrize(
    ("told", "correction", "question", "left"),
    [
        (
            "I'm vegan and allergic to nuts.",
            "I'm vegetarian.",
            "What am I allergic to?",
            "nuts",
        ),
        (
            "I'm vegan and allergic to nuts.",
            "I'm allergic to sesame.",
            "What do I eat?",
            "vegan",
        ),
        (
            "I'm allergic to nuts and I'm vegan.",
            "I'm vegetarian now.",
            "What am I allergic to?",
            "nuts",
        ),
        (
            "Soy vegana y alérgica a los cacahuetes.",
            "Soy vegetariana.",
            "¿A qué soy alérgica?",
            "cacahuetes",
        ),
    ],
)
def test_8_a_corrected_diet_leaves_the_allergies_of_the_sentence(
    memory: Memory, told: str, correction: str, question: str, left: str
) -> None:
    say_and_correct(memory, told, correction)
    current = list_current(memory, question)
    assert tells(current, left)
    assert not tells(current, told)


def test_8_a_correction_that_names_the_allergen_corrects_both_parts(
    memory: Memory,
) -> None:
    say(memory, "I'm vegan and allergic to nuts.")
    turns = memory.search(memory_types=["turn"], user_id=USER).results
    memory.correct(turns[0].id, "I eat everything, nuts too.")
    assert not tells(list_current(memory, "What am I allergic to?"), "lergic")


@pytest.mark.parametrize(
    ("told", "correction", "kept"),
    [
        ("I speak German and play the cello.", "I speak Dutch.", "cello"),
        ("Hablo alemán y toco el chelo.", "Hablo holandés.", "chelo"),
        ("I speak German and play the cello.", "I play the viola.", "German"),
        ("Hablo alemán y toco el chelo.", "Toco la viola.", "alemán"),
    ],
)
def test_8_a_correction_of_a_language_leaves_an_instrument(
    memory: Memory, told: str, correction: str, kept: str
) -> None:
    say_and_correct(memory, told, correction)
    current = list_current(memory)
    assert tells(current, kept)
    assert tells(current, correction.split()[-1].rstrip("."))


@pytest.mark.parametrize(
    ("told", "correction", "role", "employer"),
    [
        ("I work at Endesa as an engineer.", "I work at Repsol.", "engineer", "Repsol"),
        ("Trabajo en Endesa como ingeniera.", "Dana trabaja en Repsol.", "ingeniera", "Repsol"),
        ("I work at Endesa as an engineer.", "I work as a nurse.", "nurse", "Endesa"),
    ],
)  # fmt: skip
def test_4_words_that_were_read_leave_the_attributes_that_they_do_not_tell(
    memory: Memory, told: str, correction: str, role: str, employer: str
) -> None:
    say_and_correct(memory, told, correction)
    held = memory.profile(user_id=USER)["attributes"]
    assert [(one["key"], one["value"]) for one in held] == [
        ("role", role),
        ("employer", employer),
    ]
    with memory.graph as graph:
        rows = graph.query_graph(
            "SELECT target_id FROM facts WHERE invalid_at IS NULL"
        )
    targets = {row["target_id"] for row in rows}
    assert {role, employer.casefold()} <= targets


@pytest.mark.parametrize(
    ("told", "correction"),
    [
        ("I'm allergic to nuts.", "Only seeds upset me, and I'm vegan."),
        (
            "Soy alérgica al látex.",
            "Solo me molestan las semillas. Soy vegana.",
        ),
    ],
)
def test_4_words_of_an_allergy_stand_beside_what_else_was_read(
    memory: Memory, told: str, correction: str
) -> None:
    say_and_correct(memory, told, correction)
    held = memory.profile(user_id=USER)["attributes"]
    values = {one["key"]: one["value"] for one in held}
    assert values["allergies"] == correction
    assert values["diet"].startswith("vegan")
