"""A store as columns: places, neighbours, filters."""

from __future__ import annotations

from datetime import timedelta
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, a_record, embedded
from varve.domain.calendar import microseconds, moment
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns, columns_of
from varve.domain.search.places import BURST
from varve.domain.search.query import Filter

TURN = MemoryType.TURN


def turns(
    *contents: str, conversation: str = "c-1", about: str | None = None
) -> list[Record]:
    return [
        a_record(text, id=f"turn-{conversation}-{i}", memory_type=TURN, conversation_id=conversation,
                 source_ids=(f"m{i}",), position=i, about=about)
        for i, text in enumerate(contents)
    ]  # fmt: skip


def columns(*records: Record) -> Columns:
    return columns_of(embedded(*records))


def test_records_of_one_message_share_a_place_and_conversations_do_not() -> (
    None
):
    held = columns(
        *turns("one", "two"),
        a_record("fact of two", position=1),
        *turns("uno", conversation="c-2"),
    )
    of = held.places.of.tolist()
    assert of[1] == of[2]
    assert len(set(of)) == len(held.places) == 3
    assert len(held.places.starts) == 2


def test_neighbours_of_a_place_belong_to_its_conversation() -> None:
    held = columns(*turns("a", "b", "c", "d"), *turns("e", conversation="c-2"))
    values = np.array([1, 2, 4, 8, 16], np.float32)
    order = held.places.of
    by_place = np.empty_like(values)
    by_place[order] = values
    assert held.places.around(by_place, 1)[order].tolist() == [
        3,
        7,
        14,
        12,
        16,
    ]
    assert held.places.best_around(by_place, 2)[order].tolist() == [
        4,
        8,
        8,
        8,
        16,
    ]
    assert held.places.shifted(by_place, -1)[order].tolist() == [0, 1, 2, 4, 0]
    assert held.places.shifted(by_place, 9).tolist() == [0] * 5


def test_a_record_without_a_conversation_has_its_own_place() -> None:
    held = columns(
        *(a_record(f"summary {i}", conversation_id=None) for i in range(3))
    )
    assert len(held.places) == len(held.places.starts) == 3
    assert held.places.around(np.ones(3, np.float32), 2).tolist() == [1, 1, 1]


@given(
    st.lists(
        st.tuples(st.sampled_from(["c-1", "c-2", None]), st.integers(0, 5)),
        max_size=15,
    ),
    st.integers(1, 3),
)
def test_around_is_the_sum_over_the_neighbours(
    placed: list[tuple[str | None, int]], reach: int
) -> None:
    records = [
        a_record(f"r{i}", id=f"r{i}", conversation_id=c, position=p)
        for i, (c, p) in enumerate(placed)
    ]
    held = columns(*records)
    if not records:
        assert len(held) == 0
        return
    ones = np.ones(len(held.places), np.float32)
    summed = held.places.around(ones, reach)
    seats = {
        conversation: sorted({p for c, p in placed if c == conversation})
        for conversation in ("c-1", "c-2")
    }
    for i, (conversation, position) in enumerate(placed):
        place = held.places.of[held.ids.index(f"r{i}")]
        if conversation is None:
            assert summed[place] == 1
        else:
            at = seats[conversation].index(position)
            there = range(
                max(0, at - reach),
                min(len(seats[conversation]), at + reach + 1),
            )
            assert summed[place] == len(there)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(["u-1", "u-2", None])),
        max_size=12,
    ),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 9),
    st.none() | st.sampled_from(["u-1", "u-2", "u-3"]),
)
def test_the_filter_admits_records_by_time_and_user(
    given_: list[tuple[int, str | None]],
    since: int | None,
    until: int | None,
    user: str | None,
) -> None:
    records = [
        a_record(
            f"r{i}", id=f"r{i}", at=MORNING + timedelta(days=day), user_id=who
        )
        for i, (day, who) in enumerate(given_)
    ]
    where = Filter(
        None if since is None else MORNING + timedelta(days=since),
        None if until is None else MORNING + timedelta(days=until),
        user,
    )
    held = columns(*records)
    admitted = dict(zip(held.ids, held.admitted(where).tolist(), strict=True))
    for record, passes in (
        (record, admitted[record.id]) for record in records
    ):
        in_time = (
            where.since is None or record.event_time >= where.since
        ) and (where.until is None or record.event_time < where.until)
        assert passes == (in_time and user in (None, record.user_id))


@pytest.mark.parametrize("year", [1, 1969, 2026, 9999])
def test_every_moment_of_the_calendar_converts_to_microseconds_and_back(
    year: int,
) -> None:
    one = MORNING.replace(year=year)
    assert (
        microseconds(one + timedelta(microseconds=7)) == microseconds(one) + 7
    )
    assert moment(microseconds(one)) == one


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("We went there last weekend", 1), ("It was in October", 1), ("Fue el año pasado", 1),
        ("hace dos semanas", 1), ("two years ago", 1), ("in 2019", 1), ("You may march on", 0), ("Hello!", 0),
    ],
)  # fmt: skip
def test_time_expressions_are_recognised(text: str, tells: int) -> None:
    assert columns(a_record(text)).telling_time.tolist() == [tells]


def test_only_names_of_speakers_are_speaker_words() -> None:
    held = columns(
        *turns("hi", about="Dana Whitfield"),
        a_record("Biscuit is a cat", about="Biscuit"),
    )
    assert set(held.speakers_by_word) == {"dana", "whitfield"}


def test_consecutive_messages_by_one_speaker_share_a_place() -> None:
    said = [
        ("Dana", "so"),
        ("Dana", "i moved"),
        ("Lee", "where to"),
        ("Dana", "porto"),
        (None, "a fact"),
    ]
    held = columns(
        *(
            a_record(
                text,
                id=f"r{i}",
                about=who,
                position=min(i, 3),
                memory_type=TURN if who else MemoryType.FACT,
            )
            for i, (who, text) in enumerate(said)
        ),
        a_record(
            "hi",
            id="other",
            about="Dana",
            position=4,
            memory_type=TURN,
            conversation_id="c-2",
        ),
    )
    assert held.places.of.tolist() == [0, 0, 1, 2, 2, 3]


def test_a_place_holds_at_most_a_burst_of_consecutive_messages() -> None:
    many = columns(*turns(*("so" for _ in range(2 * BURST + 1)), about="Dana"))
    assert many.places.of.tolist() == [
        i // BURST for i in range(2 * BURST + 1)
    ]
    apart = columns(
        *(
            a_record(
                f"r{i}", id=f"r{i}", about="Dana", position=i, memory_type=TURN
            )
            for i in (0, 2)
        )
    )
    assert apart.places.of.tolist() == [0, 1]


@given(
    st.lists(
        st.tuples(st.sampled_from(["c-1", "c-2", None]), st.integers(0, 4)),
        min_size=1,
        max_size=15,
    )
)
def test_a_place_has_the_greatest_value_of_its_rows(
    placed: list[tuple[str | None, int]],
) -> None:
    held = columns(
        *(
            a_record(f"r{i}", id=f"r{i}", conversation_id=c, position=p)
            for i, (c, p) in enumerate(placed)
        )
    )
    values = np.arange(1, len(held) + 1, dtype=np.float32)
    for place in range(len(held.places)):
        assert (
            held.places.best(values)[place]
            == values[held.places.of == place].max()
        )


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        min_size=1,
        max_size=15,
    )
)
def test_a_conversation_has_the_value_of_its_best_passage(
    given_: list[tuple[int, float]],
) -> None:
    given_.sort(key=itemgetter(0))
    held = columns(
        *(
            a_record(f"r{i}", id=f"r{i}", conversation_id=f"c-{n}", position=i)
            for i, (n, _) in enumerate(given_)
        )
    )
    scores = np.array([score for _, score in given_], np.float32)
    best = held.places.best_passages(scores)
    for (number, _), found in zip(given_, best, strict=True):
        own = [
            0.0,
            *(score for other, score in given_ if other == number),
            0.0,
        ]
        assert found == max(
            sum(own[i - 1 : i + 2]) for i in range(1, len(own) - 1)
        )
