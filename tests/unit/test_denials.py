"""Absence and presence of a clue are different clues, in recall and in lessons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.test_experience_history import a_report, an_episode, rows_of
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.experience.contrast import Belief, Precedent, form_belief
from varve.domain.experience.history import History
from varve.domain.experience.lessons import derive_lessons
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.words import content_words

PAIRS = json.loads(
    (
        Path(__file__).parents[1] / "scenarios" / "denials" / "pairs.json"
    ).read_text("utf-8")
)
"""Forty pairs that differ in nothing but a denial."""
OTHERS = (
    "The lights in the hall flicker at night.",
    "Two passengers lost their bags.",
    "A dashboard shows stale numbers.",
)
EMBEDDER = WordLlamaEmbedder()


def believe(asked: str, known: dict[str, str]) -> Belief:
    """The belief about a situation after one episode for each answer."""
    situations = [*known.values(), *OTHERS]
    answers = [*known, *(f"other {number}" for number in range(len(OTHERS)))]
    vectors = EMBEDDER.embed([f"Site nine reports: {asked}", *situations])
    precedents = [
        Precedent(answer, answer, situation, vector)
        for answer, situation, vector in zip(
            answers, situations, vectors[1:], strict=True
        )
    ]
    situation = f"Site nine reports: {asked}"
    return form_belief(situation, vectors[0], precedents, EMBEDDER.embed_words)


def probability(belief: Belief, answer: str) -> float:
    return belief.familiarity * belief.shares[answer]


@pytest.mark.parametrize(("presence", "absence"), PAIRS)
def test_the_answer_to_a_clue_is_not_the_answer_to_its_absence(
    presence: str, absence: str
) -> None:
    for known, denied in ((presence, absence), (absence, presence)):
        same = believe(known, {"answer": known})
        other = believe(denied, {"answer": known})
        assert probability(other, "answer") < probability(same, "answer") / 2


@pytest.mark.parametrize(("presence", "absence"), PAIRS)
def test_of_two_known_answers_the_one_with_the_same_denial_is_likelier(
    presence: str, absence: str
) -> None:
    known = {"presence": presence, "absence": absence}
    for answer, situation in known.items():
        shares = believe(situation, known).shares
        assert max(shares, key=lambda one: shares[one]) == answer


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("no release today", {"¬releas", "¬today"}),
        ("it didn't start", {"¬start"}),
        ("It didn’t start", {"¬start"}),
        ("no errors since the release", {"¬error", "releas"}),
        ("not the pool, but the release", {"¬pool", "releas"}),
        ("sin papel", {"¬papel"}),
        ("errors began with a release", {"error", "began", "releas"}),
    ],
)
def test_a_denial_covers_the_words_of_its_clause(
    text: str, stems: set[str]
) -> None:
    assert content_words(text) == stems


def test_a_lesson_says_whether_its_clue_is_present_or_absent() -> None:
    parts = []
    for number in range(4):
        said = "a release, an alert" if number % 2 else "no release, no alert"
        answer = "roll back" if number % 2 else "raise the pool"
        episode = an_episode(
            number, f"host {chr(97 + number) * 3} shows {said}"
        )
        parts += [
            episode,
            a_report(
                episode, Outcome.SUCCESS, decision=answer, resolution=answer
            ),
        ]
    lessons = {
        one.action: one for one in derive_lessons(History(rows_of(*parts)))
    }
    assert "no release" in lessons["raise the pool"].condition
    assert "a release" in lessons["roll back"].condition


def test_the_probability_of_roll_back_falls_when_there_was_no_release() -> (
    None
):
    known = {"roll back": "There was a release today and errors began."}
    with_it = believe("There was a release today.", known)
    without = believe("There was no release today.", known)
    assert (
        probability(without, "roll back")
        < probability(with_it, "roll back") / 2
    )
