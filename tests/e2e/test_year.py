"""The summaries of a person's year, as its owner reads them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from varve import Memory

YEAR_AFTER = datetime(2027, 2, 10, 12, tzinfo=UTC)
ENGLISH = {
    "2026-01-15": "My landlord raised the rent to 1,150 euros.",
    "2026-02-10": "I signed a lease for a flat in Antwerp.",
    "2026-03-05": "Trabajo en Bluefin.",
    "2026-03-12": "I work at Bluefin.",
    "2026-04-20": "I'm allergic to peanuts.",
    "2026-05-12": "I switched from coffee to matcha, coffee makes me anxious.",
    "2026-07-27": "We are in Cadaques, the water is freezing but lovely.",
    "2026-08-14": "I adopted a cat called Miso from the shelter.",
}
SPANISH = {
    "2026-01-15": "El casero ha subido el alquiler a 950 euros.",
    "2026-03-05": "I work at Trigo.",
    "2026-03-12": "Trabajo en Trigo.",
    "2026-04-20": "Soy alérgico a los cacahuetes.",
    "2026-05-02": "Nos hemos mudado a Cádiz, cerca de la playa de la Caleta.",
    "2026-07-19": "Fuimos a la playa de Bolonia con Lucía, se quemó los hombros.",
    "2026-10-21": "Se nos rompió la lavadora y el técnico viene el lunes.",
}
WEIGHED = "Weighed myself this morning: {} kg."
PESADO = "Hoy me he pesado por la mañana: {} kilos."


def build_year(
    name: str, weekly: str, told: dict[str, str]
) -> list[dict[str, Any]]:
    """Return a message for each week's weight and for each day of `told`."""
    texts = dict(told)
    first = date(2026, 1, 5)
    for week in range(0, 50, 2):
        day = first + timedelta(weeks=week)
        texts[day.isoformat()] = weekly.format(f"{90 - week * 0.3:.1f}")
    return build_days(name, texts)


def tell_days(memory: Memory, name: str, texts: dict[str, str]) -> None:
    """Tell a memory one message for each day, and summarize the days."""
    for one in build_days(name, texts):
        memory.ingest(one)
    memory.summarize()


def build_days(name: str, texts: dict[str, str]) -> list[dict[str, Any]]:
    """Return a conversation of one message for each day."""
    return [
        {
            "conversationId": f"c-{day}",
            "userId": "u-1",
            "messages": [
                {
                    "role": "user",
                    "name": name,
                    "content": text,
                    "timestamp": f"{day}T09:00:00Z",
                }
            ],
        }
        for day, text in sorted(texts.items())
    ]


@pytest.mark.parametrize(
    ("name", "weekly", "told", "word"),
    [
        ("elena", WEIGHED, ENGLISH, "Weighed"),
        ("paco gómez", PESADO, SPANISH, "pesado"),
    ],
)
def test_8_a_year_selects_of_what_recurs_and_says_nothing_twice(
    tmp_path: Path, name: str, weekly: str, told: dict[str, str], word: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=YEAR_AFTER)
    for one in build_year(name, weekly, told):
        memory.ingest(one)
    memory.summarize()
    (year,) = memory.search(grain="yearly", memory_types=["summary"]).results
    told_text, _, facts = year.content.partition("Key facts:")
    text = told_text.partition("Recurring:")[0]
    assert 1 <= text.count(word) <= 2
    assert "75.6" in text, "the last weight"
    assert sum(line in text for line in told.values()) >= len(told) - 2
    assert facts.count("Bluefin") + facts.count("Trigo") <= 1
    for fact in ("allergic to peanuts", "alérgico a los cacahuetes"):
        assert year.content.count(fact) <= 1


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Return a summarized memory of three busy months; no test changes it."""
    memory = Memory.open(tmp_path_factory.mktemp("trips"), now=YEAR_AFTER)
    told = {
        f"2026-{month:02}-{day:02}": f"Trip {month} to place {day}."
        for month in (3, 4, 5)
        for day in (10, 11, 12, 17, 18)
    }
    tell_days(memory, "Elena", told)
    return memory


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("What happened in March?", ["2026-03"]),
        ("¿Qué pasó en marzo?", ["2026-03"]),
        ("What happened last spring?", ["2026-05", "2026-04", "2026-03"]),
        ("What happened the week of 11 March?", ["2026-W11"]),
        ("¿Qué pasó entre el 9 y el 12 de marzo?", []),
    ],
)
def test_13_a_time_with_more_than_the_answer_begins_with_its_overview(
    trips: Memory, question: str, periods: list[str]
) -> None:
    limit = max(len(periods), 1) + 1
    found = trips.search(question, max_results=limit).results
    shown = [one.period for one in found if one.memory_type == "summary"]
    assert [one for one in shown if "-W" in one or len(one) == 7] == periods
    few = trips.search(question, max_results=60).results
    assert not [one for one in few if one.memory_type == "summary"]


def test_13_a_day_of_one_statement_stands_in_its_place_in_the_overview(
    tmp_path: Path,
) -> None:
    """The week of 30 March belongs to April."""
    memory = Memory.open(tmp_path / "memory", now=YEAR_AFTER)
    days = (10, 11, 12, 17, 30)
    told = {f"2026-03-{day}": f"I saw place {day}." for day in days}
    tell_days(memory, "Elena", told)
    found = memory.search("What happened in March?", max_results=3).results
    shown = [(one.memory_type, one.period) for one in found]
    assert shown == [
        ("turn", "2026-03-30"),
        ("summary", "2026-03"),
        ("turn", "2026-03-17"),
    ]
    assert found[0].also_in


def test_14_the_year_tells_of_a_time_whose_words_have_expired(
    tmp_path: Path,
) -> None:
    now = datetime(2027, 6, 10, 12, tzinfo=UTC)
    memory = Memory.open(tmp_path / "memory", now=now)
    told = {
        "2026-03-02": "I planted roses.",
        "2026-03-17": "I twisted my ankle at bouldering.",
        "2026-08-14": "I adopted a cat called Miso.",
    }
    tell_days(memory, "Elena", told)
    memory.configure("plan", "free")
    memory.cleanup()
    for question in (
        "What happened in March 2026?",
        "What did I do on 17 March 2026?",
        "¿Qué pasó la semana del 16 de marzo de 2026?",
    ):
        answer = memory.search(question)
        (year,) = answer.results
        assert year.period == "2026"
        assert "twisted my ankle" in year.content
        assert "longer periods" in str(answer.hint)
        assert "twisted my ankle" in memory.context(question).text
    for other in ("What happened in June 2026?", "¿Qué pasó en 2024?"):
        assert not memory.search(other).results


def test_14_a_context_has_a_sentence_of_several_summaries_once(
    tmp_path: Path,
) -> None:
    """The quarter names the speaker before a sentence that is a later one of its month."""
    memory = Memory.open(tmp_path / "memory", now=YEAR_AFTER)
    bought = ("kiln", "boat", "loom", "tent", "harp", "desk", "sofa", "oven")
    told = {
        f"2026-0{month}-{day:02}": (
            "The morning was grey and the bus took a little longer than usual."
            f" I decided to buy a {bought[number]} for the house."
        )
        for number, (month, day) in enumerate(
            (month, day) for month in (4, 5) for day in (6, 13, 20, 27)
        )
    }
    tell_days(memory, "Elena", told)
    memory.configure("plan", "starter")
    memory.cleanup()
    block = memory.context("What happened in 2026?", user_id="u-1").text
    for thing in bought:
        assert block.count(f"decided to buy a {thing}") == 1


def test_8_a_sentence_that_bears_on_a_question_outlasts_its_words(
    tmp_path: Path,
) -> None:
    """Its likeness to the question is below the floor."""
    memory = Memory.open(tmp_path / "memory", now=YEAR_AFTER)
    told = {
        "2026-04-22": "Hamburgo me encantó. Hice una entrevista en el UKE.",
        "2026-07-15": "Mi último día en el Hospital del Mar es el 31 de julio.",
        "2026-08-16": "Ahora trabajo de día, por fin.",
        "2026-09-02": "El piso cuesta 870 euros al mes.",
    }
    tell_days(memory, "Lucía", told)
    memory.configure("plan", "starter")
    memory.cleanup()
    block = memory.context("¿Trabajo de noche o de día?", user_id="u-1").text
    assert "Ahora trabajo de día" in block
    assert "piso" not in block
