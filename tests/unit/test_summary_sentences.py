"""The sentences of summaries, and the records that say them."""

from datetime import UTC, datetime

import numpy as np

from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.columns import Columns, columns_of
from varve.domain.source_lines import SourceLine, rendered
from varve.domain.statements.answers.repeats import StoreWords, list_sources
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.statements.texts.cues import read_cues

SUMMARY = """2026-03-02: Dana lives in Lisbon.
Dana: I live in Lisbon. I play tennis.
2026-03-05: Assistant: Noted.
Recurring: Dana (4 days)
Key facts:
- 2026-03-02: Dana is allergic to peanuts."""


def build(
    id_: str,
    content: str,
    *sources: str,
    kind: MemoryType = MemoryType.TURN,
    day: int = 2,
    user: str = "u-1",
) -> Record:
    at = datetime(2026, 3, day, 9, tzinfo=UTC)
    return Record(
        id=id_,
        memory_type=kind,
        content=content,
        period=f"2026-03-{day:02}",
        event_time=at,
        created_at=at,
        source_ids=sources,
        conversation_id=None if kind is MemoryType.SUMMARY else id_,
        user_id=user,
        about=None if kind is MemoryType.SUMMARY else "Dana",
    )


def hold(*records: Record) -> Columns:
    vector = np.ones(1, np.float32)
    return columns_of(EmbeddedRecord(one, vector) for one in records)


def test_sentences_in_small_letters_are_read_apart() -> None:
    said = ["We switched bank.", "weight today 80.9", "and I drink coffee"]
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    lines = [
        SourceLine("2026-03-02", one, at, 0.5, "Dana", True) for one in said
    ]

    found = read_sentences(rendered(lines))

    assert [one.said.rstrip(".") for one in found] == [
        one.rstrip(".") for one in said
    ]
    assert {one.speaker for one in found} == {"Dana"}


def test_a_sentence_has_its_day_and_speaker() -> None:
    found = read_sentences(SUMMARY)
    assert [(one.day, one.speaker, one.said) for one in found] == [
        ("2026-03-02", None, "Dana lives in Lisbon."),
        ("2026-03-02", "Dana", "I live in Lisbon."),
        ("2026-03-02", "Dana", "I play tennis."),
        ("2026-03-05", "Assistant", "Noted."),
        ("2026-03-02", None, "Dana is allergic to peanuts."),
    ]


def test_a_sentence_bears_on_a_question_by_topic_or_word_and_not_by_name() -> (
    None
):
    question = read_cues("Where does Dana live?")
    bearing = [
        one.said for one in read_sentences(SUMMARY) if one.bears_on(question)
    ]
    assert bearing == ["Dana lives in Lisbon.", "I live in Lisbon."]


def test_the_newest_record_in_the_same_words_says_a_sentence() -> None:
    columns = hold(
        build("turn-1", "Dana: I live in Lisbon. It rains."),
        build("turn-2", "Dana: I live in Lisbon!", day=9),
        build("turn-3", "Dana: I live in Lisbon.", day=12, user="u-2"),
        build("turn-4", "Dana: I live in Lisbon with Ana.", day=14),
    )
    words = columns.derive(StoreWords)
    sentence = read_sentences(SUMMARY)[1]
    row = words.find_same(sentence, "u-1")
    assert row is not None
    assert columns.ids[row] == "turn-2"
    assert words.find_same(sentence, "u-9") is None


def test_a_source_says_a_models_sentence_in_other_words() -> None:
    told = hold(
        build("turn-1", "Dana: I live in Lisbon, near the river."),
        build("turn-2", "Dana: Lisbon is where I live, near the river."),
        build("turn-3", "Dana: I like tea."),
    )
    kind = MemoryType.SUMMARY
    days = hold(build("summary-d", "…", "turn-1", "turn-3", kind=kind))
    week = build("summary-w", "…", "summary-d", "summary-gone", kind=kind)
    (row,) = hold(week).read_rows(np.array([0]))
    sources = list_sources(row.sources, [days], told)
    assert {told.ids[one] for one in sources} == {"turn-1", "turn-3"}
    (sentence,) = read_sentences("Dana told us that she lives in Lisbon.")
    found = told.derive(StoreWords).find_source(sentence, sources)
    assert found is not None
    assert told.ids[found] == "turn-1"
    (other,) = read_sentences("Dana bought a red bicycle in May.")
    assert told.derive(StoreWords).find_source(other, sources) is None
