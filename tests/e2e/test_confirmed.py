"""A later statement of the same value confirms the earlier one, in every answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory
from varve.domain.search.answer import Result

NOW = datetime(2026, 10, 20, 9, tzinfo=UTC)
FIRST = datetime(2026, 6, 10, 9, tzinfo=UTC)
SECOND = datetime(2026, 9, 10, 9, tzinfo=UTC)
USER = "u-1"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def say(memory: Memory, at: datetime, *texts: str) -> None:
    """Tell texts in one conversation; one after `>` is the assistant's."""
    messages = []
    for place, text in enumerate(texts):
        is_answer = text.startswith(">")
        message = {
            "id": f"m{place}",
            "role": "assistant" if is_answer else "user",
            "content": text.removeprefix("> "),
            "timestamp": at.isoformat(),
        }
        if not is_answer:
            message["name"] = "Ana Ruiz"
        messages.append(message)
    memory.ingest(
        {
            "conversationId": f"c-{at:%m-%d}",
            "userId": USER,
            "messages": messages,
        }
    )


def find(memory: Memory, words: str, question: str) -> Result:
    results = memory.search(
        question, user_id=USER, max_results=50, include_superseded=True
    ).results
    return next(one for one in results if words in one.content)


CONFIRMED = [
    ("I moved to Utrecht last week.", "I live in Utrecht.", "moved"),
    ("I moved to Utrecht with Tom.", "I'm living in Utrecht.", "moved"),
    ("I've just started at Globex.", "I work at Globex.", "started"),
    ("I have a peanut allergy.", "I am allergic to peanut.", "allerg"),
    ("Me mudé a Valencia.", "Vivo en Valencia.", "mud"),
    ("Empecé a trabajar en Endesa.", "Trabajo en Endesa.", "mpe"),
]


@pytest.mark.parametrize(("first", "second", "word"), CONFIRMED)
def test_another_wording_of_the_same_value_confirms_it(
    memory: Memory, first: str, second: str, word: str
) -> None:
    say(memory, FIRST, first)
    say(memory, SECOND, second)
    question = "Where does Ana Ruiz live and work, and what allergy has she?"
    for asked in (question, first):
        found = find(memory, word, asked)
        assert found.current, asked
        assert found.confirmed_at.startswith("2026-09-10"), asked
    block = memory.context("Plan a trip", user_id=USER).text
    assert "no longer" not in block
    assert not memory.review(days=0).statements


def test_a_confirmed_home_answers_where_an_older_one_has_ended(
    memory: Memory,
) -> None:
    say(memory, datetime(2026, 1, 10, 9, tzinfo=UTC), "I live in Rotterdam.")
    say(memory, FIRST, "I moved to Utrecht last week.")
    say(memory, SECOND, "I live in Utrecht.")
    block = memory.context("Where does Ana Ruiz live?", user_id=USER).text
    lines = block.splitlines()
    doubtful = [line for line in lines if "likely no longer" in line]
    assert all("Rotterdam" in line for line in doubtful)
    home = "location: Utrecht (confirmed 2026-09-10)"
    assert any(line.endswith(home) for line in lines)


def test_a_value_told_again_beside_a_change_still_holds(
    memory: Memory,
) -> None:
    say(memory, FIRST, "I live in Utrecht and I work at Globex.")
    say(memory, SECOND, "I live in Utrecht and I now work at Initech.")
    block = memory.context("Plan a trip", user_id=USER).text
    assert "location: Utrecht (confirmed 2026-09-10)\n" in block
    assert "Globex" not in block


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (
            "I drink oat milk.",
            "Do you still drink oat milk?",
            "Yes, still oat milk.",
        ),
        (
            "Bebo leche de avena.",
            "¿Sigues con la leche de avena?",
            "Sí, sigo con la leche de avena.",
        ),
    ],
)
def test_an_answer_that_it_goes_on_confirms_it(
    memory: Memory, told: str, question: str, answer: str
) -> None:
    say(memory, FIRST, told)
    say(memory, SECOND, f"> {question}", answer)
    found = find(memory, told, told)
    assert found.current
    assert found.confirmed_at.startswith("2026-09-10")


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ("I moved to Utrecht.", "I live in Rotterdam.", "moved"),
        ("I prefer tea to coffee.", "Now I prefer coffee to tea.", "tea to"),
        ("I work at Globex.", "I quit Globex last week.", "at Globex"),
        ("Me mudé a Valencia.", "Ahora vivo en Cádiz.", "Valencia"),
    ],
)
def test_another_value_confirms_nothing(
    memory: Memory, first: str, second: str, word: str
) -> None:
    say(memory, FIRST, first)
    say(memory, SECOND, second)
    assert find(memory, word, first).confirmed_at.startswith("2026-06-10")


STILL = [
    ("I live in Madrid.", "Yes, I'm still in Madrid.", "Where do I live?"),
    ("Vivo en León.", "Sí, sigo en León.", "¿Dónde vivo?"),
    ("I work at Acme.", "I'm still at Acme.", "Where do I work?"),
]
LOST = datetime(2026, 4, 10, 9, tzinfo=UTC)


@pytest.mark.parametrize(("first", "second", "question"), STILL)
def test_what_goes_on_has_one_place_and_one_date_invariant_11(
    memory: Memory, first: str, second: str, question: str
) -> None:
    say(memory, LOST, "My favourite bar is Lola's.")
    say(memory, FIRST, first)
    say(memory, SECOND, second)
    results = memory.search(question, user_id=USER).results
    value = first.split()[-1]
    (told,) = [one for one in results if value in one.content]
    assert told.confirmed_at.startswith("2026-09-10")
    assert len(told.also_in) >= 2
    block = memory.context(question, user_id=USER).text
    lines = [line for line in block.splitlines() if value[:-1] in line]
    assert len(lines) == 1
    assert "(confirmed 2026-09-10)" in lines[0]
    confirmed = memory.status()["graph"]["confirmed"]
    assert confirmed["newest"].startswith("2026-09-10")
    assert "Lola" in confirmed["statement"]


def test_a_thing_that_no_rule_reads_is_confirmed_in_its_place(
    memory: Memory,
) -> None:
    say(memory, FIRST, "Mi coche es un Seat Ibiza.")
    say(memory, SECOND, "Sigo con el Ibiza.")
    results = memory.search("¿Qué coche tengo?", user_id=USER).results
    (told,) = [one for one in results if "Ibiza" in one.content]
    assert "coche" in told.content
    assert told.confirmed_at.startswith("2026-09-10")


def test_one_part_that_goes_on_confirms_no_other_part(memory: Memory) -> None:
    say(memory, FIRST, "I live in Madrid and I work at Acme.")
    say(memory, SECOND, "I'm still in Madrid.")
    block = memory.context("Where do I live and work?", user_id=USER).text
    assert "location: Madrid (confirmed 2026-09-10)" in block
    assert "employer: Acme (confirmed" not in block


def test_what_goes_on_and_says_more_keeps_its_place(memory: Memory) -> None:
    say(memory, FIRST, "I live in Madrid.")
    say(memory, SECOND, "I'm still in Madrid, near the river with a new cat.")
    found = find(memory, "river", "Where do I live?")
    assert found.content.startswith("Ana Ruiz: I'm still")


@pytest.mark.parametrize("question", ["Where do I live?", "Madrid"])
@pytest.mark.parametrize(
    "texts",
    [
        (
            "I live in Madrid.",
            "Still living in Madrid.",
            "Yes, I live in Madrid, still.",
        ),
        (
            "I still live in Madrid.",
            "Still living in Madrid.",
            "Yes, I'm still in Madrid.",
        ),
    ],
)
def test_a_confirmation_of_a_confirmation_takes_no_place(
    memory: Memory, texts: tuple[str, ...], question: str
) -> None:
    for number, text in enumerate(texts):
        say(memory, FIRST + timedelta(days=number), text)
    (found,) = memory.search(question, user_id=USER).results
    assert found.confirmed_at == "2026-06-12T09:00:00Z"


OPENINGS = [
    (
        "I'm allergic to peanuts.",
        "As I said, I'm allergic to peanuts.",
        "What am I allergic to?",
        "peanuts",
    ),
    (
        "I'm allergic to peanuts.",
        "Like I told you, I'm allergic to peanuts.",
        "What am I allergic to?",
        "peanuts",
    ),
    (
        "My car is a Seat Ibiza.",
        "I already told you that my car is a Seat Ibiza.",
        "What car do I have?",
        "Ibiza",
    ),
    ("Vivo en Vigo.", "Como te dije, vivo en Vigo.", "¿Dónde vivo?", "Vigo"),
    ("Vivo en Vigo.", "Ya te dije que vivo en Vigo.", "¿Dónde vivo?", "Vigo"),
    (
        "Mi gata se llama Luna.",
        "Como ya te comenté, mi gata se llama Luna.",
        "¿Cómo se llama mi gata?",
        "Luna",
    ),
]


@pytest.mark.parametrize(("first", "second", "question", "value"), OPENINGS)
def test_what_was_told_before_and_is_said_so_takes_no_place(
    memory: Memory, first: str, second: str, question: str, value: str
) -> None:
    say(memory, LOST, "My favourite bar is Lola's.")
    say(memory, FIRST, first)
    say(memory, FIRST + timedelta(days=1), "I started a pottery class.")
    say(memory, SECOND, second)
    for asked in (question, "What class do I take?"):
        results = memory.search(asked, user_id=USER).results
        saying = [one for one in results if value in one.content]
        assert len(saying) < 2, asked
        for one in saying:
            assert one.current, asked
            assert one.confirmed_at.startswith("2026-09-10"), asked
        if asked == question:
            assert saying == [results[0]]
        block = memory.context(asked, user_id=USER).text
        lines = [line for line in block.splitlines() if value in line]
        assert len(lines) < 2, asked
        assert "no longer" not in block
    assert not memory.review(days=0).statements


@pytest.mark.parametrize(
    ("texts", "question", "value"),
    [
        (
            (
                "I live in Vigo.",
                "I moved to Oslo.",
                "As I said, I live in Oslo.",
            ),
            "Where do I live?",
            "Oslo",
        ),
        (
            ("I live in Vigo.", "As I told you, I moved to Oslo."),
            "Where do I live?",
            "Oslo",
        ),
        (
            (
                "Vivo en Vigo.",
                "Me mudé a Roma.",
                "Ya te dije que vivo en Roma.",
            ),
            "¿Dónde vivo?",
            "Roma",
        ),
    ],
)
def test_a_change_that_is_said_to_be_told_is_a_change(
    memory: Memory, texts: tuple[str, ...], question: str, value: str
) -> None:
    for number, text in enumerate(texts):
        say(memory, FIRST + timedelta(days=number), text)
    results = memory.search(question, user_id=USER).results
    assert value in results[0].content
    assert results[0].current
    assert not [
        one for one in results if "Vigo" in one.content and one.current
    ]
    held = memory.profile(user_id=USER)["attributes"]
    assert [one["value"] for one in held] == [value]


def test_a_link_between_episodes_is_no_statement_to_confirm(
    memory: Memory,
) -> None:
    link = {
        "source_id": f"episode-{'0' * 24}",
        "label": "retry_of",
        "target_id": f"episode-{'1' * 24}",
    }
    with memory.graph as graph:
        graph.update_facts([link])
    assert memory.status()["graph"]["confirmed"] is None
    say(memory, FIRST, "My favourite bar is Lola's.")
    assert "Lola" in memory.status()["graph"]["confirmed"]["statement"]


OF_THE_SAME_ONE = [
    ("My daughter Ida is allergic to penicillin.", "My daughter Ida started school.", True),
    ("My daughter Ida is in second grade.", "My daughter Ida is in third grade now.", False),
    ("My son Leo plays the violin.", "My son Leo plays the drums now.", False),
    ("My dog Rex is sick.", "My dog Rex is fine again.", False),
    ("My husband Bo works nights.", "My husband Bo is a vegan.", True),
    ("Mi hija Ana va a segundo.", "Mi hija Ana va a tercero.", False),
    ("Mi hermana Eva vive en Lugo.", "Mi hermana Eva toca el piano.", True),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "holds"), OF_THE_SAME_ONE)
def test_who_is_named_again_confirms_nothing_else_of_them(
    memory: Memory, first: str, second: str, holds: bool
) -> None:
    say(memory, FIRST, first)
    say(memory, SECOND, second)
    told = find(memory, first, first)
    assert told.confirmed_at.startswith("2026-06-10")
    if not holds:
        assert not find(memory, first, second).current


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My sister is called Hanne.", "My sister Hanne is a vegetarian."),
        ("I'm married to Bo.", "My husband Bo works nights."),
        ("Mi hermana se llama Eva.", "Mi hermana Eva toca el piano."),
    ],
)
def test_who_is_named_again_confirms_the_name(
    memory: Memory, first: str, second: str
) -> None:
    say(memory, FIRST, first)
    say(memory, SECOND, second)
    name = first.rstrip(".").split()[-1]
    found = memory.search(first, user_id=USER, max_results=5).results
    told = next(one for one in found if name in one.content)
    assert told.current
    assert told.confirmed_at.startswith("2026-09-10")
