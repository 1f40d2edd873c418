"""What is written without apostrophes, accents or capitals is understood as well (6)."""

from pathlib import Path

import pytest

from varve import Memory

USER = "u-1"
STATED = [
    ("im allergic to peanuts, what can i bake", "allergies", "peanuts"),
    ("ive moved to Leeds", "location", "Leeds"),
    ("im a nurse", "role", "nurse"),
    ("i live in hexham and the bins are full", "location", "Hexham"),
    ("i quit globex and joined initech", "employer", "Initech"),
    ("my name is jonas", "name", "Jonas"),
    ("moved to leeds last week", "location", "Leeds"),
    ("just moved to Bristol for work. any tips", "location", "Bristol"),
    ("allergic to peanuts btw", "allergies", "peanuts"),
    ("cant eat gluten so keep that in mind", "cannot_eat", "gluten"),
    ("got promoted to team lead", "role", "team lead"),
    ("hey, vegan now", "diet", "vegan"),
    ("soy alergico a los frutos secos", "allergies", "frutos secos"),
    ("me mude a Sevilla", "location", "Sevilla"),
    ("vivo en buenos aires", "location", "Buenos Aires"),
    ("hablo ingles", "languages", "inglés"),
    ("mi cumpleanos es el 4 de mayo", "birthday", "4 May"),
]
ENDED = [
    ("I'm allergic to penicillin", "im not allergic to penicillin"),
    ("I work at Globex", "i dont work at globex anymore"),
    ("Soy alérgica al plátano", "ya no soy alergica al platano"),
    ("Vivo en Sevilla", "ya no vivo en sevilla"),
]
OTHERS = [
    "i live in fear of spiders",
    "i work at night, for free",
    "vivo en pareja",
    "trabajo para gente rara",
    "my cousin was ill in leeds",
    "quiere que me mude a Sevilla",
    "vegan recipes please",
    "Moved to Done",
    "work at night, have a look",
    "Ich bin im Urlaub",
    "Im Sommer, wenn es warm ist",
]


def _open(folder: Path) -> Memory:
    return Memory.open(str(folder), workspace="acme", agent="support")


def _read_profile(memory: Memory) -> list[tuple[str, str]]:
    told = memory.profile(user_id=USER)["attributes"]
    return [(one["key"], one["value"]) for one in told]


@pytest.mark.parametrize(("said", "key", "value"), STATED)
def test_the_profile_has_what_is_written_in_haste(
    said: str, key: str, value: str, tmp_path: Path
) -> None:
    memory = _open(tmp_path)
    memory.remember(said, user_id=USER)
    assert (key, value) in _read_profile(memory)


@pytest.mark.parametrize(("said", "ended"), ENDED)
def test_what_is_written_in_haste_ends_a_value(
    said: str, ended: str, tmp_path: Path
) -> None:
    memory = _open(tmp_path)
    memory.remember(said, user_id=USER)
    assert _read_profile(memory)
    memory.remember(ended, user_id=USER)
    assert not _read_profile(memory)


@pytest.mark.parametrize("said", OTHERS)
def test_other_words_state_nothing(said: str, tmp_path: Path) -> None:
    memory = _open(tmp_path)
    memory.remember(said, user_id=USER)
    assert not _read_profile(memory)


def test_the_words_as_said_stay(tmp_path: Path) -> None:
    memory = _open(tmp_path)
    memory.remember("im allergic to peanuts", user_id=USER)
    found = memory.search(user_id=USER, memory_types=["turn"]).results
    assert "im allergic to peanuts" in found[0].content


def test_an_answer_without_a_subject_may_tell_of_another(
    tmp_path: Path,
) -> None:
    memory = _open(tmp_path)
    messages = [
        {"id": "m1", "role": "user", "content": "My sister Ana left Leeds."},
        {"id": "m2", "role": "assistant", "content": "Where is she now?"},
        {"id": "m3", "role": "user", "content": "moved to Oslo last week"},
    ]
    memory.ingest(
        {"conversationId": "c-1", "userId": USER, "messages": messages}
    )
    assert not _read_profile(memory)
