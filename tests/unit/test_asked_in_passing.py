"""Summaries without a model leave out questions of the assistant that no answer needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 3, 9, 10, tzinfo=UTC)
SAID = datetime(2026, 3, 2, 9, tzinfo=UTC)
FIRST = "I booked a flight to Porto for Friday."


def read_day(path: Path, *texts: str) -> str:
    """Return the summary of a day on which these texts were said, the assistant's after "> "."""
    messages = [
        {
            "role": "assistant" if text.startswith("> ") else "user",
            "content": text.removeprefix("> "),
            "timestamp": (SAID + timedelta(minutes=number)).isoformat(),
        }
        for number, text in enumerate(texts)
    ]
    memory = Memory.open(path, now=NOW)
    memory.ingest(
        {"conversationId": "c1", "userId": "dana", "messages": messages}
    )
    memory.summarize()
    found = memory.search(grain="daily", memory_types=["summary"]).results
    return "\n".join(one.content for one in found)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is there anything else?", "My dog is called Rex."),
        ("Is there anything else?", "No, that's all."),
        (
            "Great, noted. Is there anything else?",
            "Yes, a taxi to the airport.",
        ),
        (
            "Can I help you with anything else?",
            "I want a table at Nero's too.",
        ),
        ("Shall I book a table?", "I'd rather cook at home, I love paella."),
        ("Would you like me to remind you?", "I moved to Porto last week."),
        ("How does that sound?", "My sister Ana visits me in May."),
        ("What else can I do for you?", "Our oven is broken again."),
        ("Does that help?", "The train was late by two hours."),
        ("¿Quieres que te lo recuerde?", "Me mudo a Vigo en mayo."),
        ("¿Necesitas algo más?", "Mi perro se llama Rex."),
        ("¿Te ayudo con otra cosa?", "No, nada más."),
        ("Apuntado. ¿Puedo ayudarte en algo más?", "Sí, un taxi al hotel."),
        ("¿Te reservo mesa?", "Prefiero cocinar en casa con mi hermana."),
    ],
)
def test_a_question_that_no_answer_needs_is_left_out(
    tmp_path: Path, question: str, answer: str
) -> None:
    summary = read_day(tmp_path, FIRST, f"> {question}", answer)
    assert "Porto" in summary
    assert "?" not in summary


@pytest.mark.parametrize("question", ["Anything else?", "¿Te lo recuerdo?"])
def test_a_question_without_an_answer_is_left_out(
    tmp_path: Path, question: str
) -> None:
    summary = read_day(tmp_path, FIRST, f"> {question}")
    assert (
        summary == "2026-03-02: dana: I booked a flight to Porto for Friday."
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How old is your dog?", "Nine."),
        ("Would you like me to remind you?", "Yes, on Monday."),
        ("Do you have any allergies?", "Nuts and sesame."),
        ("When does the course begin?", "In the second week of May."),
        ("The 9:30 or the 10:00 train?", "The second one, please."),
        ("Is your flight LH1173?", "Exactly."),
        ("When is the dentist?", "It's on Tuesday."),
        ("¿Cuántos años tiene tu perro?", "Nueve."),
        ("¿Quieres que te lo recuerde?", "Sí, el lunes."),
        ("¿Qué día es la boda?", "El sábado por la tarde."),
        ("¿Dónde está el hotel?", "En la calle del puerto."),
    ],
)
def test_a_question_stays_with_an_answer_that_needs_it(
    tmp_path: Path, question: str, answer: str
) -> None:
    summary = read_day(tmp_path, FIRST, f"> {question}", answer)
    assert question in summary
    assert answer in summary


def test_a_question_of_the_user_stays(tmp_path: Path) -> None:
    asked = "Where did I put my passport?"
    summary = read_day(tmp_path, FIRST, asked, "> I do not know.")
    assert asked in summary


def test_what_the_assistant_tells_beside_a_question_stays(
    tmp_path: Path,
) -> None:
    told = "Your seat is 12A."
    summary = read_day(tmp_path, FIRST, f"> {told} Anything else?")
    assert told in summary
    assert "?" not in summary
