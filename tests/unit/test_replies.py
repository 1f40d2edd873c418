"""A reply of the assistant stands as the statement whose value it repeats (invariant 11)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory
from varve.domain.search.answer import Result
from varve.domain.statements.answers.replies import asks_for_replies

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
USER = "u-1"
TEA = (
    (
        "my favourite tea is lapsang, smoky as a bonfire",
        "Lapsang souchong is wonderfully smoky! Try online merchants, and keep it in an airtight tin.",
    ),
    (
        "my favourite tea is jasmine now",
        "Tastes do change! For jasmine aim for about 75 degrees.",
    ),
)
MOVE = (
    (
        "I live in Lisbon. How do I cook a risotto?",
        "Toast the rice, then add hot stock by the ladle. A risotto takes 18 minutes.",
    ),
    ("I moved to Porto last week", "Enjoy Porto!"),
)
BROADBAND = (
    (
        "Mi internet cuesta 28 euros al mes",
        "28 euros al mes está en la media; compara cuando acabe el contrato.",
    ),
    ("el internet me cuesta ahora 33 euros", "Puedes pedir una rebaja."),
)


def tell(folder: Path, talks: tuple[tuple[str, str], ...]) -> Memory:
    """Return a memory of talks on different days, each a message and its reply."""
    memory = Memory.open(folder / "memory", now=NOW)
    for day, texts in enumerate(talks):
        at = FIRST + timedelta(days=5 * day)
        messages = [
            {
                "role": role,
                "content": text,
                "timestamp": (at + timedelta(minutes=place)).isoformat(),
            }
            for place, (role, text) in enumerate(
                zip(("user", "assistant"), texts, strict=True)
            )
        ]
        memory.ingest(
            {
                "conversationId": f"c-{day}",
                "userId": USER,
                "messages": messages,
            }
        )
    return memory


def find(memory: Memory, question: str, words: str) -> Result:
    """Return the first result with some words."""
    results = memory.search(question, user_id=USER).results
    return next(one for one in results if words in one.content)


@pytest.mark.parametrize(
    ("talks", "question", "reply"),
    [
        (TEA, "what's my favourite tea?", "airtight"),
        (BROADBAND, "¿Cuánto me cuesta el internet?", "la media"),
    ],
)
def test_invariant_11_a_reply_that_repeats_a_superseded_value_is_marked(
    tmp_path: Path,
    talks: tuple[tuple[str, str], ...],
    question: str,
    reply: str,
) -> None:
    memory = tell(tmp_path, talks)
    found = find(memory, question, reply)
    assert not found.current
    assert found.superseded_by


def test_invariant_11_a_block_tells_no_superseded_value_by_a_reply(
    tmp_path: Path,
) -> None:
    memory = tell(tmp_path, TEA)
    block = memory.context("what's my favourite tea?", user_id=USER).text
    assert "jasmine" in block
    for line in block.splitlines():
        assert "apsang" not in line or "no longer" in line


@pytest.mark.parametrize(
    ("talks", "question", "reply"),
    [
        (TEA, "what's my favourite tea?", "Tastes do change"),
        (MOVE, "where do I live?", "risotto takes"),
        (MOVE, "how do I cook a risotto?", "risotto takes"),
    ],
)
def test_a_reply_that_repeats_no_superseded_value_holds(
    tmp_path: Path,
    talks: tuple[tuple[str, str], ...],
    question: str,
    reply: str,
) -> None:
    memory = tell(tmp_path, talks)
    assert find(memory, question, reply).current


ADVICE = (
    (
        "Can you recommend a few restaurants near the harbour? Felix is four.",
        "Here you are:\n\n1. **Olive Shed**: tapas, with many dishes for children on a terrace by the sea\n"
        "2. **Pizzarova**: quick sourdough pizza, at long tables that are never full before seven\n"
        "3. **Riverstation**: great views over the boats, and a lunch menu that changes every week\n\n"
        "Have fun! Shall I also recommend a park, a museum or a farm for the afternoon, or a playground?",
    ),
    (
        "we walk along the river every Sunday",
        "Sundays are a lovely time for that.",
    ),
    (
        "I sleep five hours a night",
        "Go to bed at nine, and have your last coffee at noon.",
    ),
    (
        "Mi hermana se casa en mayo",
        "Una vajilla hecha por ti sería un regalo muy bonito.",
    ),
)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Which restaurants did you recommend?", "Olive Shed"),
        ("What did you suggest for my sleep?", "last coffee"),
        ("What was your advice about sleep?", "last coffee"),
        ("¿Qué me aconsejaste para la boda de mi hermana?", "vajilla"),
    ],
)
def test_a_question_for_what_the_assistant_said_is_answered_by_its_reply(
    tmp_path: Path, question: str, reply: str
) -> None:
    memory = tell(tmp_path, ADVICE)

    first = memory.search(question, user_id=USER).results[0]
    block = memory.context(question, user_id=USER).text

    assert reply in first.content
    assert first.current
    assert reply in block


def test_a_part_of_a_long_reply_names_its_speaker_in_a_context(
    tmp_path: Path,
) -> None:
    memory = tell(tmp_path, ADVICE)

    block = memory.context("Is there a playground?", user_id=USER).text

    [line] = [one for one in block.split("\n") if "playground" in one]
    assert "] Assistant - " in line


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What have you suggested so far?", True),
        ("Who did you say could repair it?", True),
        ("¿Qué libro me has recomendado?", True),
        ("How much was I asking when you said it was low?", False),
        ("¿Cuánto pedía cuando me dijiste que era poco?", False),
        ("How long do I sleep?", False),
        ("What did I recommend to Ana?", False),
        ("Can you recommend a restaurant?", False),
        ("What do you recommend for dinner?", False),
        ("Can I have your advice on my diet?", False),
        ("I bought the one that you recommended.", False),
        ("¿Qué le recomendé a Ana?", False),
    ],
)
def test_a_question_for_replies_asks_what_the_assistant_said(
    text: str, *, asks: bool
) -> None:
    assert asks_for_replies(text) is asks
