"""The details that an import's records carry: those that each sort writes pass, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.builders import MORNING, a_record
from varve.domain.errors import Rejected
from varve.domain.experience.answers import PriorAnswer, answer_record
from varve.domain.experience.outcomes import UNDECIDED, Outcome
from varve.domain.experience.reads import ReadCounts, usage_record
from varve.domain.experience.research import (
    Component,
    ResearchFinding,
    finding_record,
)
from varve.domain.experience.rows import (
    Episode,
    LessonVersion,
    Report,
    episode_record,
    lesson_record,
    report_record,
)
from varve.domain.record import MemoryType, Record
from varve.domain.summary import KeyFact, key_facts_as_json
from varve.usecases.transfer.details import require_details

FACT = KeyFact(
    "fact-1", "Dana likes tea.", MORNING, 0.7, "u-42", "c-1", ("m1",)
)
RECORDS: list[Record] = [
    a_record(),
    a_record(memory_type=MemoryType.TURN),
    a_record(
        memory_type=MemoryType.SUMMARY, key_facts=key_facts_as_json([FACT])
    ),
    episode_record(
        Episode(
            "e",
            "c-1",
            ("m1",),
            MORNING,
            MORNING,
            "It hangs",
            "",
            UNDECIDED,
            MORNING,
        ),
        "2026",
    ),
    report_record(Report("c-1", Outcome.SUCCESS, MORNING, MORNING), "2026"),
    lesson_record(
        LessonVersion(
            "l", "Tea helps.", "when tired", "drink tea", MORNING, MORNING
        ),
        "2026",
    ),
    answer_record(
        PriorAnswer("pool", "size", "How large?", "Twenty.", MORNING, MORNING),
        "2026",
    ),
    finding_record(
        ResearchFinding("log", Component.FACT, "Too small.", MORNING, MORNING),
        "2026",
    ),
    usage_record(ReadCounts({"e": 3}, MORNING, "e:3"), "2026"),
]


def test_what_each_sort_writes_is_taken() -> None:
    # A note comes as its text; its records are made of that.
    assert {record.memory_type for record in RECORDS} == set(MemoryType) - {
        MemoryType.NOTE
    }
    for record in RECORDS:
        require_details(record)


@pytest.mark.parametrize(
    "details",
    [
        "no JSON",
        "[1]",
        "7",
        '{"ended": [3]}',
        '[{"id": "fact-1"}]',
        "[" * 100_000,
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize(
    "record", RECORDS, ids=lambda record: record.memory_type
)
def test_what_nobody_could_read_again_is_refused(
    record: Record, details: str
) -> None:
    with pytest.raises(Rejected, match="keyFacts"):
        require_details(replace(record, key_facts=details))
