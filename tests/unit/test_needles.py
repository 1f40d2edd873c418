"""Needles: every sort of statement yields some, and their traces tell nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.builders import ACME
from tests.support.forgetful import Forgetful
from varve.domain.erasure import Selector
from varve.domain.experience.answers import PriorAnswer, answer_record
from varve.domain.experience.outcomes import Outcome, Verdict
from varve.domain.experience.research import (
    Component,
    ResearchFinding,
    finding_record,
)
from varve.domain.experience.rows import (
    GENERALIZED,
    Episode,
    LessonVersion,
    Report,
    episode_record,
    lesson_record,
    report_record,
)
from varve.domain.profile import ProfileEntry
from varve.domain.record import EmbeddedRecord, Record, Store
from varve.domain.traces import Traces, build_traces, cut, traces_from_json
from varve.domain.triple import Op, TripleOperation
from varve.usecases.erasure.needles import collect_needles, trace

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
DANA = Selector(user="u-dana")


def rows() -> list[Record]:
    verdict = Verdict(Outcome.UNKNOWN, "none", "nothing was said")
    episode = Episode(
        "episode-1", "c-1", ("m1",), NOW, NOW, "Episodequoll.", "start", verdict, NOW,
        user_id="u-dana",
    )  # fmt: skip
    report = Report(
        "c-1",
        Outcome.FAILURE,
        NOW,
        NOW,
        correction="Outcomequoll.",
        user_id="u-dana",
    )
    answer = PriorAnswer(
        "budget",
        "forecast",
        "Questionquoll?",
        "Answerquoll.",
        NOW,
        NOW,
        user_id="u-dana",
    )
    finding = ResearchFinding(
        "log", Component.FACT, "Findingquoll.", NOW, NOW, user_id="u-dana"
    )
    lesson = LessonVersion(
        "lesson-1", "Lessonquoll.", "always", "do it", NOW, NOW,
        origin=GENERALIZED, supporting=("episode-1",), user_ids=("u-dana",),
    )  # fmt: skip
    return [
        episode_record(episode, "2026"),
        report_record(report, "2026"),
        answer_record(answer, "2026"),
        finding_record(finding, "2026"),
        lesson_record(lesson, "2026"),
    ]


def a_memory() -> Forgetful:
    memory = Forgetful()
    vectors = memory.embedder.embed([row.content for row in rows()])
    pairs = zip(rows(), vectors, strict=True)
    embedded = [EmbeddedRecord(row, vector) for row, vector in pairs]
    memory.records.upsert(
        ACME, Store.EXPERIENCE, embedded, memory.embedder.model
    )
    entry = ProfileEntry("u-dana", "employer", "Profilequoll", NOW, NOW)
    memory.stores.profiles.apply(ACME, "u-dana", [entry])
    said = TripleOperation(
        Op.ADD,
        "Dana",
        "owns",
        "Triplequoll",
        NOW,
        NOW,
        "",
        (),
        user_id="u-dana",
    )
    memory.graph.apply(ACME, [said])
    return memory


SORTS = [
    "episode",
    "outcome",
    "question",
    "answer",
    "finding",
    "lesson",
    "profile",
    "triple",
]


@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_of_statement_yields_needles(sort: str) -> None:
    memory = a_memory()
    subject = memory.find(user="u-dana")
    assert f"{sort}quoll" in collect_needles(DANA, subject).texts
    assert trace("key", DANA, subject).stand_in(
        f"They said {sort.title()}quoll."
    )


@pytest.mark.parametrize("sort", SORTS)
def test_invariant_8_every_sort_of_statement_is_erased_though_it_is_of_the_future(
    sort: str,
) -> None:
    memory = a_memory()
    behind = datetime(2026, 4, 20, 11, 55, tzinfo=UTC)
    assert memory.forget(user="u-dana", now=behind).complete
    left = memory.all(Store.EXPERIENCE)  # type: ignore[arg-type]
    held = f"{left} {memory.known()} {memory.bytes()!r}".casefold()
    assert f"{sort}quoll" not in held


def test_runs_of_words_do_not_overlap() -> None:
    assert cut("one two three four five six seven eight nine") == [
        "one two three four",
        "five six seven eight",
    ]
    assert cut("I like tea.") == ["i like tea"]
    assert cut("Tea!") == []
    assert cut("2026 03 01") == []


def test_an_id_is_found_as_it_is_written_and_by_itself() -> None:
    traces = build_traces("key", ["u-dana"], [])
    found = [
        traces.stand_in(text) for text in ("a/u-dana/b", "U-DANA", '"u-dana"')
    ]
    assert found == [True, True, True]
    assert not any(
        map(traces.stand_in, ("u-dana2", "you, dana", "u dana", "xu-dana"))
    )


def test_what_others_say_is_no_trace() -> None:
    traces = build_traces(
        "key", [], ["I like quinces."], ["So I like quinces."]
    )
    assert len(traces) == 0
    kept = build_traces("key", [], ["I like quinces.", "I like rare ferns."])
    assert len(kept.without(["I like quinces."])) == 1


def test_traces_are_stored_as_hashes_alone() -> None:
    traces = build_traces("key", ["u-dana"], ["I live in Kumquatville now."])
    stored = traces.as_json()
    assert "kumquat" not in str(stored).casefold()
    assert traces_from_json(stored) == traces
    assert traces.union(Traces("key")) == traces
