"""Derived lessons: conditions in the corrections' words, and answers in other words."""

from __future__ import annotations

import pytest

from tests.unit.test_experience_history import a_report, an_episode, rows_of
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.experience.conditions import leave_out_particulars
from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.outcomes import Outcome

EMBED = WordLlamaEmbedder().embed
RELEASE = "The errors began with the release"


def derived(*corrected: tuple[str, str]) -> list[Lesson]:
    """The lessons of failed episodes with a correction and a resolution each."""
    parts = []
    for number, (correction, resolution) in enumerate(corrected):
        episode = an_episode(number, f"case {chr(97 + number) * 3} is broken")
        report = a_report(
            episode,
            Outcome.FAILURE,
            decision="wait",
            correction=correction,
            resolution=resolution,
        )
        parts += [episode, report]
    return derive_lessons(History(rows_of(*parts)), EMBED)


def test_a_condition_is_a_sentence_of_a_correction_without_particulars() -> (
    None
):
    (lesson,) = derived(
        (f"Ask Dana. {RELEASE} v2.3.1 of Tuesday at Acme.", "roll back"),
        ("The errors at Initech began on 3 March with the release.", "roll back"),
    )  # fmt: skip
    assert lesson.condition == "the errors began with the release"
    assert lesson.claim == f"In debugging, when {lesson.condition}: roll back"


@pytest.mark.parametrize(
    ("sentence", "general"),
    [
        ("Order INC-4711 was paid twice.", "order was paid twice"),
        ("Dana's edit broke the template.", "edit broke the template"),
        ("TLS expired on 2026-03-03 for api.acme.io.", "TLS expired"),
        ("On Friday 14:30 the queue grew.", "the queue grew"),
        ("It began on 3 March with the build.", "it began with the build"),
        ("Ask Dana, the queue grew, Dana said.", "ask, the queue grew"),
        ("Since March 3 the queue of 20 grows.", "the queue of 20 grows"),
    ],
)
def test_names_dates_and_ids_are_left_out(sentence: str, general: str) -> None:
    assert leave_out_particulars(sentence) == general


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("roll back the release", "roll the release back"),
        ("raise the pool size", "increase the pool size"),
        ("roll back the release", "revert the release"),
    ],
)
def test_resolutions_in_other_words_make_one_lesson(
    one: str, other: str
) -> None:
    (lesson,) = derived((RELEASE, one), (RELEASE, other))
    assert len(lesson.supporting) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("raise the pool to 20", "raise the pool to 50"),
        ("roll back the release", "do not roll back the release"),
        ("restart the worker", "renew the certificate"),
    ],
)
def test_other_resolutions_make_no_common_lesson(one: str, other: str) -> None:
    assert derived((RELEASE, one), (RELEASE, other)) == []


def test_opposite_resolutions_with_other_reasons_make_no_common_lesson() -> (
    None
):
    few = "All connections were in use."
    many = "The database was flooded by clients."
    assert derived((few, "raise the pool"), (many, "lower the pool")) == []


def test_corrections_without_a_common_clue_propose_no_lesson() -> None:
    assert (
        derived(
            ("Presses were full.", "wait for a slot"),
            ("Kilns busy.", "wait for a slot"),
        )
        == []
    )
