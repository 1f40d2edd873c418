"""Of a measure that is told again and again, a summary has the first and the last."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.support.builders import ACME, WordEmbedder
from varve.domain.calendar import Grain, Period
from varve.domain.record import MemoryType
from varve.domain.series import keep_ends
from varve.domain.source_lines import SourceLine
from varve.domain.summary import Source, SummaryTask
from varve.usecases.summaries.condensing import ExtractiveSummarizer

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
FIGURES = ("82.4", "81.9", "81.2", "80.8", "80.1")
COUNTS = ("5", "8", "6", "9", "7")


def lines_of(*sentences: str, speaker: str = "elena") -> list[SourceLine]:
    """Return a line for each sentence, a week apart."""
    lines: list[SourceLine] = []
    for number, sentence in enumerate(sentences):
        at = START + timedelta(weeks=number)
        day = at.date().isoformat()
        lines.append(SourceLine(day, sentence, at, 0.5, speaker, True))
    return lines


def said(lines: list[SourceLine]) -> list[str]:
    return [line.sentence for line in lines]


@pytest.mark.parametrize(
    ("frame", "figures"),
    [
        ("Weighed myself: {} kg.", FIGURES),
        ("I'm at {} now.", FIGURES),
        ("Diesel was €{} today.", COUNTS),
        ("I ran {} km by the canal.", COUNTS),
        ("Battery at {}% this morning.", COUNTS),
        ("Slept {}h.", COUNTS),
        ("Hoy he pesado {} kilos.", FIGURES),
        ("He corrido {} km por el parque.", COUNTS),
        ("El alquiler subió a {} euros.", COUNTS),
    ],
)
def test_the_first_and_the_last_of_a_series_stay(
    frame: str, figures: tuple[str, ...]
) -> None:
    told = [frame.format(figure) for figure in figures]
    left = keep_ends(lines_of(*told, "I moved to Porto."))
    assert said(left) == [told[0], told[-1], "I moved to Porto."]


def test_marks_and_emoji_make_no_other_series() -> None:
    told = ["Weight today 81.4.", "weight today 80.9", "Weight today 79.2 🎉"]
    assert said(keep_ends(lines_of(*told))) == [told[0], told[-1]]


@pytest.mark.parametrize(
    "frame",
    [
        "Ticket {} is fixed.",
        "Order {} shipped.",
        "La factura {} está pagada.",
        "I read chapter {}.",
        "We met on {} March.",
        "Nos vimos el {} de marzo.",
        "Invoice #{} euros.",
        "Flight LH{} landed.",
    ],
)
def test_a_figure_that_is_a_name_or_a_date_tells_no_series(frame: str) -> None:
    told = [frame.format(figure) for figure in COUNTS]
    assert said(keep_ends(lines_of(*told))) == told


def test_two_measures_or_two_speakers_or_one_day_make_no_series() -> None:
    two = lines_of("I ran 5 km.", "I ran 8 km.")
    assert keep_ends(two) == two
    others = lines_of("I ran 5 km.", "I ran 6 km.", speaker="bo")
    assert keep_ends([*two, *others]) == [*two, *others]
    day = [*lines_of("I ran 5 km."), *lines_of("I ran 6 km.")]
    day += lines_of("I ran 7 km.")
    assert keep_ends(day) == day
    units = lines_of("I ran 5 km.", "I ran 6 km.", "I ran 7 miles.")
    assert keep_ends(units) == units


def test_a_year_tells_the_last_weight_and_not_each_week() -> None:
    weeks: list[Source] = []
    for number in range(40):
        at = START + timedelta(weeks=number)
        text = f"{at.date()}: elena: Weighed myself this morning: {90 - number * 0.3:.1f} kg."
        if number % 4 == 0:
            text += f" I visited the town of Place{number} with Tom."
        weeks.append(
            Source(
                f"summary-{number:02}",
                MemoryType.SUMMARY,
                "f",
                text,
                at,
                0.5,
                "elena",
                f"2026-W{number + 2:02}",
            )
        )
    period = Period(Grain.YEARLY, "2026")
    task = SummaryTask(ACME, period, ZoneInfo("UTC"), tuple(weeks), 1_200)
    text = ExtractiveSummarizer(WordEmbedder()).summarize(task).text
    assert text.count("Weighed") == 2
    assert "90.0 kg" in text
    assert "78.3 kg" in text
    assert text.count("I visited") == 10
