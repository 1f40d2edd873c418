"""A message of several matters is judged by the one that a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve.domain.statements.pairs.matters import split_matters
from varve.domain.statements.texts.cues import asks_past, read_cues

NOW = datetime(2026, 8, 1, 10, tzinfo=UTC)
PROJECT = (
    "The budget is 180,000 euros. I manage the project at Nordbank with Ines and Jun.",
    "The meeting is every Monday at 10. Ines is the tech lead, Jun does the testing.",
    "Decision from today: we use Auth0 for identity. Rafael is on holiday until the 25th.",
    "Draft an email to the committee, please.",
    "The meeting is moved to Tuesdays at 9:30. Legal wants a DPIA before 2 May.",
    "The extension got approved, and the budget goes up to 210,000.",
    "We dropped Auth0, so we're going with Entra ID. The new hire is called Malin.",
)
HOME = (
    "I just moved to Bristol from Leeds with my husband Tom and our son Felix, who is four.",
    "Felix is allergic to peanuts, so please keep that in mind. And I'm vegetarian.",
    "I started as a physiotherapist at Southmead Hospital. The commute is 40 minutes by bus.",
    "My mum Carol lives in York. Is there a good train from Bristol?",
    "We've moved to 14 Hope Street in Bedminster. The rent is 1,540 pounds a month.",
    "I'm looking for a soup recipe for Tom and Felix.",
    "Physics. He applied to UWE today. Oh, and I sold the Elops and bought a Tenways e-bike.",
    "Carol's cast is off since Monday. Felix loves his school, his teacher is Miss Okafor.",
)


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        (
            "Carol moves in with us in October. Felix's teacher is Miss Okafor.",
            2,
        ),
        ("We dropped Auth0 for Entra ID. The new hire is called Malin.", 2),
        ("La boda de Paula es el 10 de octubre. Mi casero se llama Ramón.", 2),
        # A request, and what has no value, goes on with what was said.
        ("I moved to Leeds on Monday. Where can I get a lamp by Friday?", 1),
        ("We broke up. I live in Ghent on my own now.", 1),
        # So do a pronoun, and a word or topic of what was said.
        ("My sister Ana called. She lives in York now.", 1),
        ("The tests took 25 minutes on Jenkins. The tests take 4 minutes.", 1),
        ("Dr. Okafor is our vet.", 1),
    ],
)
def test_a_sentence_with_a_value_and_nothing_in_common_is_another_matter(
    text: str, matters: int
) -> None:
    found = split_matters(text)

    assert len(found) == matters
    assert " ".join(found) == text


@pytest.mark.parametrize(
    ("texts", "question", "answer"),
    [
        (PROJECT, "When is the meeting?", "Tuesdays"),
        (PROJECT, "What's the budget?", "210,000"),
        (PROJECT, "What do we use for identity?", "Entra ID"),
        (HOME, "How much is the rent?", "1,540"),
        (HOME, "What bike do I have?", "Tenways"),
        (HOME, "Who is Felix's teacher?", "Okafor"),
    ],
)
def test_other_matters_of_later_messages_supersede_no_answer(
    tmp_path: Path, texts: tuple[str, ...], question: str, answer: str
) -> None:
    memory = tell(tmp_path / "m", texts, NOW)

    first = memory.search(question, user_id="u-1").results[0]

    assert answer in first.content
    assert first.current


@pytest.mark.parametrize(
    ("question", "is_past"),
    [
        ("Who has our spare key?", False),
        ("How long does the test suite take?", False),
        ("Until when is my passport valid?", False),
        ("How long until I am signed out?", False),
        ("How long have I lived in Porto?", True),
        ("Where did I live until 2020?", True),
        ("How often has Ana moved?", True),
    ],
)
def test_a_present_duration_or_owner_is_no_question_about_the_past(
    question: str, is_past: bool
) -> None:
    assert asks_past(question) is is_past


def test_what_the_first_answer_took_the_place_of_is_marked(
    tmp_path: Path,
) -> None:
    texts = (
        "rent's due on my flat in Gdynia again, remind me on the 28th pls",
        "what's a good bread knife under 40 euros",
        "explain compound interest like I'm ten",
        "how do I get red wine out of a carpet?",
        "the boxes are all unpacked, took us nine days. first breakfast on our own balcony in Olsztyn",
        "thanks, that helped",
        "can you recommend a podcast for long drives?",
    )
    memory = tell(tmp_path / "m", texts, NOW)

    found = memory.search("where's my home at the moment?", user_id="u-1")

    assert "Olsztyn" in found.results[0].content
    stale = [one for one in found.results if "Gdynia" in one.content]
    assert [one.current for one in stale] == [False]


def test_where_memory_tells_of_one_matter_a_change_may_have_other_topics(
    tmp_path: Path,
) -> None:
    texts = (
        "i smoke ten a day, how much is that a year roughly",
        "had the best ramen of my life today",
        "havent had a single one in three weeks, completely quit!! why am i so hungry",
        "convert 350 fahrenheit to celsius",
        "explain compound interest like I'm ten",
        "can you recommend a podcast for long drives?",
    )
    memory = tell(tmp_path / "m", texts, NOW)

    first = memory.search("Do I smoke?", user_id="u-1").results[0]

    assert "completely quit" in first.content


@pytest.mark.parametrize(
    ("text", "is_correction"),
    [
        ("I mixed it up with last year's booking, we land at Stansted.", True),
        ("Sorry, I read the wrong line: she gets in at 18:05.", True),
        ("I was looking at last month's invoice, it's 80 now.", True),
        ("perdona, he mirado mal el billete, salgo el 17", True),
        (
            "estaba mirando el billete del año pasado, aterriza a las 16:45",
            True,
        ),
        ("I read the old novel again.", False),
        ("Vi mal el partido desde mi asiento.", False),
    ],
)
def test_who_looked_at_the_wrong_paper_corrects(
    text: str, is_correction: bool
) -> None:
    assert read_cues(text).has("correcting") is is_correction
