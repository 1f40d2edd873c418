"""The rules understand a change of state in English and Spanish, without a model."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from benchmarks.changes import PARTS, read_part, score
from varve.domain.experience.outcomes import Outcome, read_cues
from varve.domain.extraction import Batch, Utterance
from varve.domain.identity import Scope
from varve.domain.rules import RuleExtractor
from varve.domain.triple import fold

SCOPE = Scope("acme", "support")


@pytest.mark.parametrize("part", PARTS)
def test_the_rules_read_nine_of_ten_changes_and_hardly_a_wrong_one(
    part: str,
) -> None:
    readings = read_part(part)
    right = sum(len(one.right) for one in readings)
    wrong = sum(len(one.wrong) for one in readings)
    missed = sum(len(one.missed) for one in readings)
    assert right >= 0.9 * (right + missed), score(readings)
    assert right >= 0.95 * (right + wrong), score(readings)


def test_at_least_sixty_sentences_state_a_change_and_a_third_are_kept_apart() -> (
    None
):
    fitted, apart = (read_part(part) for part in PARTS)
    stated = [
        one
        for one in (*fitted, *apart)
        if one.sentence.changes or one.sentence.facts
    ]
    assert len(stated) >= 60
    assert 3 * len(apart) >= len(fitted) + len(apart)


def test_a_state_since_a_year_holds_today_whatever_was_said_in_between() -> (
    None
):
    operations = []
    for month, text in [
        (1, "I work at Globex."),
        (3, "I've worked at Initech since 2019."),
    ]:
        said = datetime(2026, month, 4, tzinfo=UTC)
        utterance = Utterance(f"m{month}", "user", "Dana", text, said, "u-1")
        batch = Batch(SCOPE, "c-1", (utterance,), (), ZoneInfo("UTC"), said)
        operations += RuleExtractor().extract(batch).operations
    spans = [
        (one.target_id, one.valid_at.year, one.invalid_at is None)
        for one in fold(operations)
    ]
    assert spans == [
        ("initech", 2019, False),
        ("globex", 2026, False),
        ("initech", 2026, True),
    ]


def test_what_is_wrong_with_the_weather_is_no_failure() -> None:
    for asked in [
        "What is wrong with the weather?",
        "What is wrong with the weather",
        "Do you think it is wrong?",
        "It's wrong to wake her.",
    ]:
        assert read_cues([("user", asked)]).outcome is Outcome.UNKNOWN
    told = read_cues([("user", "No, that is wrong.")])
    assert told.outcome is Outcome.FAILURE
