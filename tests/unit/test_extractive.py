"""The summary without a model is made of the sources' own sentences, dated, in order, within its budget."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders import ACME, MORNING, WordEmbedder
from varve.domain.calendar import Grain, Period
from varve.domain.extractive import (
    MAX_LINES,
    candidates,
    chosen,
    lines_of,
    sentences,
    shortened,
)
from varve.domain.record import MemoryType
from varve.domain.summary import Source, SummaryTask
from varve.domain.text import estimated_tokens

BUDGET = 400


def source(
    text: str,
    hours: float = 0,
    id_: str = "",
    importance: float = 0.5,
    label: str | None = None,
) -> Source:
    at = MORNING + timedelta(hours=hours)
    sort = (
        MemoryType.SUMMARY
        if label
        else MemoryType.FACT
        if id_.startswith("fact-")
        else MemoryType.TURN
    )
    return Source(
        id_ or f"turn-{text}", sort, "f", text, at, importance, "u-42", label
    )


def summary(
    *sources: Source, budget: int = BUDGET, zone: str = "UTC"
) -> list[str]:
    task = SummaryTask(
        ACME, Period(Grain.WEEKLY, "2026-W10"), ZoneInfo(zone), sources, budget
    )
    lines = candidates(lines_of(task))
    return chosen(
        lines, WordEmbedder().embed([line.said for line in lines]), budget
    ).split("\n")


DATED = re.compile(r"\d{4}-\d{2}-\d{2}: ")
SAID = "Dana moved to Lisbon. Did it rain? The 2nd boiler costs 40 euros! hola ¿Qué tal? - ok : 👍 e.g. Dr."
WORDS = st.sampled_from([*SAID.split(), "東京に住んでいます。"])
MARKS = st.text(' \n\t.:!?-\x85\u2028<"(aB9éß東👍…', max_size=8)
TEXTS = st.lists(st.one_of(WORDS, MARKS), max_size=30).map(" ".join)
TURNS = st.builds(
    Source,
    id=st.sampled_from(["turn-a", "turn-b", "fact-a", "fact-b", "x"]),
    fingerprint=st.just("f"),
    text=st.one_of(TEXTS, TEXTS.map("Dana: {}".format)),
    at=st.timedeltas(-timedelta(days=1), timedelta(days=7)).map(
        MORNING.__add__
    ),
    importance=st.floats(0, 1),
)
CHILDREN = st.builds(
    Source,
    id=st.just("summary-a"),
    fingerprint=st.just("f"),
    text=st.lists(TEXTS.map("2026-03-05: Dana: {}".format), max_size=5).map(
        "\n".join
    ),
    at=st.just(MORNING),
    importance=st.just(0.6),
    label=st.just("2026-03-05"),
)
SOURCES = st.lists(st.one_of(TURNS, CHILDREN), max_size=12)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def has_words(sources: Iterable[Source]) -> bool:
    return any(
        c.isalnum()
        for s in sources
        for row in s.text.split("\n")
        for c in row.removeprefix("2026-03-05: ").removeprefix("Dana:")
    )


class TestForAnySources:
    @settings(deadline=None)
    @given(SOURCES, st.integers(0, 300))
    def test_the_budget_is_never_exceeded(
        self, sources: list[Source], budget: int
    ) -> None:
        assert (
            estimated_tokens("\n".join(summary(*sources, budget=budget)))
            <= budget
        )

    @settings(deadline=None)
    @given(SOURCES, st.integers(8, 300))
    def test_there_is_a_line_if_any_source_has_words(
        self, sources: list[Source], budget: int
    ) -> None:
        assert summary(*sources, budget=budget) != [""] or not has_words(
            sources
        )

    @given(
        SOURCES.flatmap(lambda s: st.tuples(st.just(s), st.permutations(s))),
        st.integers(10, 200),
    )
    def test_the_order_of_the_sources_changes_nothing(
        self, both: tuple[list[Source], list[Source]], budget: int
    ) -> None:
        ordered, shuffled = both
        assert summary(*ordered, budget=budget) == summary(
            *shuffled, budget=budget
        )

    @settings(deadline=None)
    @given(SOURCES)
    def test_dates_are_chronological(self, sources: list[Source]) -> None:
        lines = summary(*sources)
        days = [line[:10] for line in lines if DATED.match(line)]
        assert days == sorted(set(days))
        assert DATED.match(lines[0]) or lines == [""]
        assert all(date.fromisoformat(day) for day in days)

    @settings(deadline=None)
    @given(SOURCES, st.integers(8, 300))
    def test_every_word_comes_from_a_source(
        self, sources: list[Source], budget: int
    ) -> None:
        known = " ".join(one.text for one in sources)
        for line in filter(None, summary(*sources, budget=budget)):
            assert all(word in known for word in words_of(DATED.sub("", line)))


class TestChoosing:
    def test_facts_and_words_said_keep_their_speaker_and_local_date(
        self,
    ) -> None:
        lines = summary(
            source("Dana: I moved to Lisbon. It is very sunny.", 15),
            source("It rained in Porto."),
            zone="Asia/Tokyo",
        )
        assert lines == [
            "2026-03-02: It rained in Porto.",
            "2026-03-03: Dana: I moved to Lisbon. It is very sunny.",
        ]

    def test_a_childs_lines_keep_their_dates(self) -> None:
        child = source(
            "It was cold at first.\n2026-03-04: Dana: I moved to Lisbon.\n"
            "She likes the sun there.",
            label="2026-W10",
        )
        assert summary(child, source("The boiler was repaired.", 24)) == [
            "2026-03-02: It was cold at first.",
            "2026-03-03: The boiler was repaired.",
            "2026-03-04: Dana: I moved to Lisbon.",
            "She likes the sun there.",
        ]

    def test_a_date_and_a_speaker_stand_once_before_what_they_are_of(
        self,
    ) -> None:
        lines = summary(
            source("Dana: I moved to Lisbon"),
            source("Dana: The flat has two rooms.", 1),
            source("Lee: That sounds very nice!", 2),
            source("Dana: I start work on Monday.", 26),
        )
        assert lines == [
            "2026-03-02: Dana: I moved to Lisbon. The flat has two rooms.",
            "Lee: That sounds very nice!",
            "2026-03-03: Dana: I start work on Monday.",
        ]
        again = summary(source("\n".join(lines), label="2026-W10"))
        assert again == lines

    def test_a_date_that_somebody_wrote_is_not_taken_for_the_day(self) -> None:
        forged = source(
            "Dana: Hello there friends\n1999-01-01: The world has ended."
        )
        assert (
            summary(forged)[-1]
            == "2026-03-02: Dana: 1999-01-01: The world has ended."
        )

    def test_a_speakers_name_cannot_break_its_line(self) -> None:
        assert summary(source("Da\u2028na\r: I moved to Lisbon.")) == [
            "2026-03-02: Da na: I moved to Lisbon."
        ]

    def test_what_stands_before_a_facts_colon_is_no_speaker(self) -> None:
        fact = source(
            "Wifi: it is slow here. Ask the landlord again.", id_="fact-1"
        )
        assert summary(fact) == [
            "2026-03-02: Wifi: it is slow here. Ask the landlord again."
        ]

    def test_a_date_of_no_calendar_is_left_in_the_line(self) -> None:
        child = source("2026-02-30: nothing much happened", label="2026-W10")
        assert summary(child) == [
            "2026-03-02: 2026-02-30: nothing much happened."
        ]

    def test_the_most_important_survive_a_small_budget(self) -> None:
        idle = [
            source(
                f"Somebody said something idle number {n}.", n, importance=0.1
            )
            for n in range(9)
        ]
        vital = source("Dana is allergic to penicillin.", 5, importance=1.0)
        assert summary(*idle, vital, budget=14) == [
            "2026-03-02: Dana is allergic to penicillin."
        ]

    def test_what_was_said_twice_in_other_marks_is_told_once_and_first(
        self,
    ) -> None:
        again = [
            source("Dana likes green tea.", 30),
            source("dana likes GREEN tea!", 1),
        ]
        assert summary(*again) == ["2026-03-02: dana likes GREEN tea!"]

    def test_near_duplicates_are_told_once_but_not_if_their_numbers_differ(
        self,
    ) -> None:
        words = "the dentist at Roundhay Road expects Dana and her sister and her cat and all their papers"
        told = [
            f"{words} {words} {rest}"
            for rest in ("at 10:40", "at 10:40 sharp", "at 11:40")
        ]
        lines = summary(*(source(text, n) for n, text in enumerate(told)))
        assert len(lines) == 1
        assert (lines[0].count(" 10:40"), lines[0].count(" 11:40")) == (1, 1)

    def test_diversity_beats_more_of_the_same(self) -> None:
        same = [
            source(f"Dana drinks her green tea in the garden {word}.", n)
            for n, word in enumerate(["gladly", "quietly", "slowly", "often"])
        ]
        lines = summary(
            *same,
            source("Marco broke his left arm while climbing.", 9),
            budget=30,
        )
        assert "Marco broke" in "\n".join(lines)

    def test_greetings_are_left_out_unless_there_is_nothing_else(self) -> None:
        hello, thanks = (
            source("Dana: Hello Lee!"),
            source("Lee: thanks a lot", 1),
        )
        assert summary(
            hello, thanks, source("Dana: The VPN shows E-4092.", 2)
        ) == ["2026-03-02: Dana: The VPN shows E-4092."]
        assert summary(hello, thanks) == [
            "2026-03-02: Dana: Hello Lee!",
            "Lee: thanks a lot.",
        ]

    def test_equal_lines_of_two_speakers_are_both_kept_by_time_then_id(
        self,
    ) -> None:
        lines = summary(
            source("Marco: I like tea a lot.", id_="turn-b"),
            source("Dana: I like tea a lot.", id_="turn-a"),
        )
        assert lines == [
            "2026-03-02: Dana: I like tea a lot.",
            "Marco: I like tea a lot.",
        ]

    def test_scripts_without_spaces_are_summarized_as_well(self) -> None:
        text = "ダナ: 先週、東京に引っ越しました。猫が二匹います。"
        assert summary(source(text)) == [
            "2026-03-02: ダナ: 先週、東京に引っ越しました。 猫が二匹います。",
        ]

    def test_a_line_longer_than_the_budget_is_cut_at_a_word(self) -> None:
        assert summary(source("word " * 100), budget=8) == [
            "2026-03-02: word word word word"
        ]

    def test_no_words_no_lines(self) -> None:
        assert summary() == summary(source("👍"), source(" … ")) == [""]

    def test_of_very_many_lines_each_days_most_important_are_weighed(
        self,
    ) -> None:
        many = [
            source(f"Note {n} of the day.", n % 4 * 24, f"fact-{n}")
            for n in range(MAX_LINES + 400)
        ]
        vital = source("Dana is allergic to penicillin.", 100, importance=1.0)
        task = SummaryTask(
            ACME,
            Period(Grain.WEEKLY, "2026-W10"),
            ZoneInfo("UTC"),
            (*many, vital),
            400,
        )
        lines = candidates(lines_of(task))
        assert len(lines) == MAX_LINES
        assert len({line.day for line in lines}) == 5


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("It is 3.5 km. We ran!", ["It is 3.5 km.", "We ran!"]),
            (
                "Ask Dr. Lowe, e.g. on Monday. Or J. Smith.",
                ["Ask Dr. Lowe, e.g. on Monday.", "Or J. Smith."],
            ),
            ("¿Vienes? ¡Claro que sí!", ["¿Vienes?", "¡Claro que sí!"]),
            (
                '"Stop." He left… And then?',
                ['"Stop."', "He left…", "And then?"],
            ),
            ("one\n- two\n\n  three  four", ["one", "two", "three four"]),
            ("猫がいます。犬も。", ["猫がいます。", "犬も。"]),
            ("updating… restarting… done", ["updating… restarting… done"]),
        ],
    )
    def test_a_text_is_cut_where_sentences_end(
        self, text: str, parts: list[str]
    ) -> None:
        assert list(sentences(text)) == parts

    def test_marks_without_end_take_no_time(self) -> None:
        assert list(sentences("!" * 100_000 + "a"))


class TestShortening:
    def test_what_fits_is_left_alone(self) -> None:
        assert shortened("One two.", 2) == "One two."

    def test_whole_sentences_are_kept_where_one_fits(self) -> None:
        assert (
            shortened("First one. Second one. Third one.", 7)
            == "First one. Second one."
        )
        assert shortened("First line\nSecond line", 4) == "First line"

    def test_a_number_is_no_end_of_a_sentence(self) -> None:
        assert shortened("Take 13.5 grams", 2) == "Take"

    def test_whole_words_where_no_sentence_fits_and_letters_where_no_word_does(
        self,
    ) -> None:
        assert shortened("one two three four", 3) == "one two"
        assert shortened("abcdefghij", 2) == "abcdefgh"
        assert shortened("éééé", 1) == "éé"
        assert shortened("👍👍", 0) == ""

    @given(
        st.text(), st.integers(0, 50), st.sampled_from(["", "2026-03-02: "])
    )
    def test_it_never_exceeds_the_tokens_and_is_the_texts_beginning(
        self, text: str, tokens: int, head: str
    ) -> None:
        cut = shortened(text, tokens, head)
        assert estimated_tokens(cut) <= tokens
        assert (head + text).startswith(cut)
