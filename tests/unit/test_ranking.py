"""Ranking: signals, scores, repeats and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from random import Random
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, WordEmbedder, a_record, embedded
from tests.support.internals import compare_at_once, count_kin, rank_whole
from tests.support.plain_signals import plain
from varve.domain.calendar import Grain, microseconds
from varve.domain.record import EmbeddedRecord, MemoryType, Record, turn_id
from varve.domain.search import occurrences
from varve.domain.search import signals as signals_module
from varve.domain.search.choosing import Contender, Place, fold_repeats
from varve.domain.search.columns import Columns, columns_of
from varve.domain.search.nearness import measure_row_recency, recency
from varve.domain.search.query import Filter
from varve.domain.search.question import read_question
from varve.domain.search.ranking import Lane, Ranked, rank
from varve.domain.search.sharing import find_sharing, share_scores
from varve.domain.search.signals import EmbeddedQuestion, compute_signals
from varve.domain.search.strategies import (
    BALANCED,
    CURRENT,
    HALF_LIFE_DAYS,
    Strategy,
)

FACT, TURN, SUMMARY = MemoryType.FACT, MemoryType.TURN, MemoryType.SUMMARY
SAID = (
    "tea",
    "milk",
    "Dana",
    "Lisbon",
    "likes",
    "moved",
    "E-4711",
    "yesterday",
    "you",
    "?",
)
WORDS = st.lists(st.sampled_from(SAID), min_size=1)
ALL = Filter()
RECORDS = st.lists(
    st.builds(
        lambda said, day, kind, place, user, weight: a_record(
            " ".join(said), at=MORNING + timedelta(days=day), id=f"r-{day}-{place}-{kind}-{len(said)}",
            memory_type=kind, position=place, user_id=user, importance=weight, source_ids=(f"m{place}",),
        ),
        WORDS, st.integers(-50, 900), st.sampled_from([FACT, TURN]), st.integers(0, 6),
        st.sampled_from(["u-1", "u-2"]), st.floats(0, 1),
    ),
    max_size=12,
    unique_by=lambda record: record.id,
)  # fmt: skip


def sought(text: str) -> EmbeddedQuestion:
    (vector,) = WordEmbedder().embed([text])
    return EmbeddedQuestion(read_question(text), vector, vector)


def ranking(
    records: Sequence[Record],
    text: str = "Dana likes tea",
    *,
    where: Filter = ALL,
    strategy: Strategy = BALANCED,
    limit: int = 50,
    explain: bool = False,
) -> list[Ranked]:
    lane = Lane(Grain.WORKING, columns_of(embedded(*records)))
    return rank(
        sought(text), [lane], where, MORNING, strategy, limit, explain=explain
    )


def names(ranked: Sequence[Ranked | Contender | Place]) -> list[str]:
    return [item.id for item in ranked]


@given(RECORDS, st.randoms())
def test_the_ranking_does_not_depend_on_the_order_of_the_input(
    records: list[Record], random: np.random.Generator
) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)  # type: ignore[arg-type]
    assert names(ranking(shuffled)) == names(ranking(records))
    assert names(ranking(records)) == names(ranking(records))


@given(RECORDS)
def test_scores_lie_between_0_and_1_and_never_rise(
    records: list[Record],
) -> None:
    for strategy in (BALANCED, CURRENT):
        scores = [
            item.score for item in ranking(records, strategy=strategy, limit=3)
        ]
        assert all(0 <= score <= 1 for score in scores)
        assert scores == sorted(scores, reverse=True)


@given(RECORDS, st.integers(-50, 900), st.sampled_from(["u-1", "u-2", None]))
def test_filters_apply_before_the_ranking(
    records: list[Record], day: int, user: str | None
) -> None:
    where = Filter(since=MORNING + timedelta(days=day), user_id=user)
    admitted = {
        record.id
        for record in records
        if record.event_time >= MORNING + timedelta(days=day)
        and user in (None, record.user_id)
    }
    found = {item.id for item in ranking(records, where=where)}
    assert found <= admitted


@given(RECORDS)
def test_every_signal_lies_between_0_and_1(records: list[Record]) -> None:
    columns = columns_of(embedded(*records))
    if not records:
        return
    found = compute_signals(
        sought("when did you say Dana likes the sport?"),
        [columns],
        [Filter()],
        MORNING,
        BALANCED,
    )
    assert (
        set(found.values) | {"speaker", "date"}
        >= set(BALANCED.weights)
        >= set(found.values)
    )
    for name, values in found.values.items():
        assert len(values) == len(records), name
        assert ((values >= -1e-6) & (values <= 1 + 1e-5)).all(), name


@given(RECORDS, st.sampled_from([BALANCED, CURRENT]))
def test_the_parts_of_an_explanation_add_up_to_the_score(
    records: list[Record], strategy: Strategy
) -> None:
    for item in ranking(records, strategy=strategy, explain=True):
        assert set(item.parts) - {"behind", "shared"} == set(strategy.weights)
        assert max(0.0, min(1.0, sum(item.parts.values()))) == pytest.approx(
            item.score, abs=1e-4
        )
    assert all(not item.parts for item in ranking(records))


def chatter(count: int, seed: int, conversations: int) -> Columns:
    """Build random chats with rows in any order; some messages have a turn and a fact."""
    luck = Random(seed)
    vocabulary = [
        "".join(luck.choices("bdfgklmnprst", k=4)) + luck.choice("aeiou")
        for _ in range(60)
    ]
    vocabulary += ["tennis", "boxing"]
    made = []
    for i in range(count):
        kind = luck.choice([TURN, TURN, FACT])
        text = " ".join(
            [
                *luck.choices(vocabulary, k=luck.randint(1, 9)),
                *luck.choices(["you", "?", ""], k=1),
            ]
        )
        made.append(
            EmbeddedRecord(
                a_record(
                    f"{text} {i}w", id=f"{seed}-{i}", memory_type=kind, about=luck.choice(["Dana", "Lee"]),
                    user_id=luck.choice(["u-1", "u-2"]), at=MORNING - timedelta(hours=luck.randint(0, 9_000)),
                    conversation_id=luck.choice([*(f"c{n}" for n in range(conversations)), None]),
                    position=luck.randint(0, 8), source_ids=(f"m{i}",), importance=luck.random(),
                ),
                np.random.default_rng([seed, i]).normal(size=16).astype(np.float32),
            )
        )  # fmt: skip
    for one in made:
        one.vector[:] /= np.linalg.norm(one.vector)
    return columns_of(made)


def asked_of(lane: Columns, row: int) -> EmbeddedQuestion:
    vector = lane.vectors[row]
    return EmbeddedQuestion(
        read_question(f"which sport did Dana say of {lane.contents[row]}?"),
        vector,
        vector,
    )


@pytest.mark.parametrize("user", [None, "u-1"])
@pytest.mark.parametrize("conversations", [1, 7])
@pytest.mark.parametrize(
    "whole",
    [0, occurrences.WHOLE_ROW_LENGTH],
    ids=["as in a long store", "as in a short one"],
)
def test_signals_equal_those_of_the_plain_implementation(
    whole: int,
    user: str | None,
    conversations: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rank_whole(monkeypatch, whole)
    lanes = [chatter(120, 1, conversations), chatter(15, 2, 0)]
    where = Filter(user_id=user)
    for row in (3, 7, 3):  # the third question finds its words in the cache
        asked = asked_of(lanes[0], row)
        found, expected = (
            compute_signals(asked, lanes, [where] * 2, MORNING, BALANCED),
            plain(asked, lanes, where, BALANCED),
        )
        for name, values in expected.items():
            assert found.values[name].tolist() == pytest.approx(
                values, abs=2e-4
            ), name


def test_a_small_limit_finds_the_best_of_all_rows() -> None:
    lane = chatter(3_000, 3, 40)
    plainly = replace(BALANCED, diversity=0.0, repeated=0.0)
    for row in range(0, 3_000, 500):
        asked = asked_of(lane, row)
        few, all_ = (
            rank(asked, [Lane(Grain.WORKING, lane)], ALL, MORNING, plainly, n)
            for n in (10, 3_000)
        )
        assert names(few[:10]) == names(all_[:10])
        scores = compute_signals(
            asked, [lane], [ALL], MORNING, BALANCED
        ).score_rows(BALANCED.weights, [1.0])
        assert lane.sharing is not None
        share_scores(scores, lane.sharing)
        assert few[0].score == pytest.approx(float(scores.max()), abs=1e-6)


def test_of_similar_records_the_one_with_the_code_ranks_first() -> None:
    records = [
        a_record("Error E-0815 again", id="b"),
        a_record("Error E-4711 again", id="a"),
    ]
    assert names(ranking(records, "what about E-4711?")) == ["a", "b"]
    assert names(ranking(records, "what about 0815?")) == ["b", "a"]


def test_ties_are_broken_by_newest_event_then_by_least_id() -> None:
    def alike(id_: str, days: int) -> Record:
        return a_record(
            "tea",
            at=MORNING + timedelta(days=days),
            id=id_,
            memory_type=TURN,
            conversation_id=id_,
            user_id=id_,
        )

    ageless = replace(
        BALANCED,
        weights=MappingProxyType({**BALANCED.weights, "recency": 0.0}),
    )
    found = ranking(
        [alike("c", 5), alike("b", 1), alike("a", 5)], "tea", strategy=ageless
    )
    assert names(found) == ["a", "c", "b"]


def test_without_records_the_ranking_is_empty() -> None:
    assert ranking([]) == []
    assert rank(sought("tea"), [], Filter(), MORNING, BALANCED, 5) == []


def said(
    *texts: str,
    speakers: Sequence[str] = ("Dana", "Lee"),
    conversation: str = "c-1",
) -> list[Record]:
    return [
        a_record(f"{speakers[i % 2]}: {text}", id=f"{conversation}-{i}", memory_type=TURN, position=i,
                 about=speakers[i % 2], source_ids=(f"m{i}",), conversation_id=conversation)
        for i, text in enumerate(texts)
    ]  # fmt: skip


def test_a_reply_is_found_by_the_question_before_it() -> None:
    chat = said(
        "Which dentist did you see?",
        "Doctor Silva, and it hurt.",
        "Oh.",
        "Well.",
        "So it goes.",
        "Yes.",
    )
    other = said(
        "The weather is fine.",
        "Indeed it is.",
        "Yes.",
        "Well.",
        conversation="c-2",
    )
    assert "c-1-1" in names(ranking([*chat, *other], "which dentist?"))[:2]


def test_messages_by_the_named_speaker_rank_before_messages_to_them() -> None:
    chat = said("I paint landscapes.", "I paint portraits.")
    assert names(ranking(chat, "What does Lee paint?"))[0] == "c-1-1"
    assert names(ranking(chat, "What does Dana paint?"))[0] == "c-1-0"


def test_a_question_with_two_speakers_prefers_neither() -> None:
    chat = said("I paint.", "I paint.")
    found = compute_signals(
        sought("Do Dana and Lee paint?"),
        [columns_of(embedded(*chat))],
        [Filter()],
        MORNING,
        BALANCED,
    )
    assert [found.value("speaker", at) for at in range(2)] == [0, 0]


def test_a_question_for_a_time_prefers_messages_that_tell_one() -> None:
    chat = [
        columns_of(
            embedded(
                *said(
                    "I went hiking and it rained.",
                    "Oh.",
                    "I went hiking in October.",
                )
            )
        )
    ]
    for text, expected in (
        ("When did Dana go hiking?", [0, 0, 1]),
        ("Where did Dana go?", [0, 0, 0]),
    ):
        found = compute_signals(
            sought(text), chat, [Filter()], MORNING, BALANCED
        )
        assert [
            found.value("when", at) for at in range(len(expected))
        ] == expected


def test_a_date_in_the_question_raises_records_near_it() -> None:
    days = [
        a_record(
            "tea",
            at=MORNING + timedelta(days=d),
            id=f"d{d}",
            conversation_id=f"c{d}",
            memory_type=TURN,
        )
        for d in (0, 40, 80)
    ]
    question = read_question(
        "tea", MORNING + timedelta(days=39), MORNING + timedelta(days=41)
    )
    (vector,) = WordEmbedder().embed(["tea"])
    lane = Lane(Grain.WORKING, columns_of(embedded(*days)))
    found = rank(
        EmbeddedQuestion(question, vector, vector),
        [lane],
        Filter(),
        MORNING,
        BALANCED,
        5,
    )
    assert names(found)[0] == "d40"


def test_a_state_before_the_asked_time_is_nearer_than_one_after_it() -> None:
    facts = [a_record("Dana lives in Lisbon", at=MORNING, id="before"),
             a_record("Dana lives in Porto", at=MORNING + timedelta(days=150), id="after")]  # fmt: skip
    month = (MORNING + timedelta(days=30), MORNING + timedelta(days=60))
    columns = columns_of(embedded(*facts))
    (vector,) = WordEmbedder().embed(["Dana lives in"])
    for lasting, least in ((True, 0.5), (False, 0.2)):
        question = read_question(
            "where was Dana living?", *month, lasting=lasting
        )
        found = compute_signals(
            EmbeddedQuestion(question, vector, vector),
            [columns],
            [Filter()],
            MORNING,
            BALANCED,
        )
        near = dict(zip(columns.ids, found.values["date"], strict=True))
        assert near["before"] > least > near["after"]


def test_the_newer_of_two_contradicting_facts_ranks_first() -> None:
    facts = [
        a_record(
            "Dana lives in Lisbon",
            at=MORNING - timedelta(days=60),
            id="old",
            importance=0.9,
        ),
        a_record(
            "Dana lives in Porto",
            at=MORNING - timedelta(days=5),
            id="new",
            importance=0.5,
        ),
        *(
            a_record(f"ticket {i} is closed", id=f"t{i}", about="ticket")
            for i in range(5)
        ),
    ]
    order = names(ranking(facts, "Where does Dana live?", strategy=CURRENT))
    assert order[0] == "new"
    assert "old" in order


def test_a_repeated_statement_ranks_behind_a_new_one() -> None:
    facts = [
        a_record(
            "Dana likes tea a lot", id="a", source_ids=("m1",), position=1
        ),
        a_record(
            "Dana likes tea very", id="b", source_ids=("m1",), position=1
        ),
        a_record("Dana likes milk", id="c", source_ids=("m2",), position=2),
    ]
    keen = replace(BALANCED, repeated=0.9)
    assert set(names(ranking(facts, "Dana likes tea", strategy=keen))[:2]) > {
        "c"
    }
    assert len(ranking(facts, "Dana likes tea", strategy=keen)) == 3


def test_a_ranking_returns_at_least_the_limit_and_not_all_rows() -> None:
    many = [
        a_record(f"tea {i}", id=f"r{i:03}", position=i, source_ids=(f"m{i}",))
        for i in range(300)
    ]
    found = ranking(many, "tea 7", limit=5)
    assert 5 <= len(found) < 300
    assert found[0].content == "tea 7"


def test_recency_halves_per_half_life_and_is_1_in_the_future() -> None:
    days = np.array([0, 9, -HALF_LIFE_DAYS, -30])
    times = np.array(
        [microseconds(MORNING + timedelta(days=float(day))) for day in days],
        np.int64,
    )
    assert recency(times, MORNING, HALF_LIFE_DAYS).tolist()[
        :3
    ] == pytest.approx([1, 1, 0.5])
    assert recency(times, MORNING, 30.0)[3] == pytest.approx(0.5)


def contender(columns: Columns, number: int = 0) -> Contender:
    (row,) = columns.read_rows(np.array([number]))
    return Contender(
        -0.5, -row.time, row.id, number, number, row, columns, Grain.WORKING
    )


def ranked(
    id_: str, kind: MemoryType, *sources: str, conversation: str = "c-1"
) -> Contender:
    record = a_record(
        f"says {id_}",
        id=id_,
        memory_type=kind,
        source_ids=sources,
        conversation_id=conversation,
    )
    return contender(columns_of(embedded(record)))


def spoken(message: str, passage: int = 0, words: int = 5) -> Contender:
    """Build the contender of a message's turn, or of one of its passages."""
    record = a_record(
        " ".join(f"{message}{passage}w{number}" for number in range(words)),
        id=turn_id("c-1", message, passage),
        memory_type=TURN,
        source_ids=(message,),
    )
    return contender(columns_of(embedded(record)))


def test_a_fact_and_its_turn_take_one_place_that_names_both() -> None:
    fact, turn = ranked("f", FACT, "m1"), spoken("m1")
    for found in ([fact, turn], [turn, fact]):
        [place] = fold_repeats(found)
        assert place.shown.id == "f"
        assert place.also_in == (turn.id,)


def test_a_turn_that_matches_better_than_its_fact_is_shown() -> None:
    fact, turn = (
        ranked("f", FACT, "m1"),
        spoken("m1")._replace(minus_score=-0.9),
    )
    [place] = fold_repeats([turn, fact])
    assert place.shown.id == turn.id
    assert place.also_in == ("f",)


def test_a_turn_tells_several_facts_of_one_message_in_one_place() -> None:
    first, second = ranked("f1", FACT, "m1"), ranked("f2", FACT, "m1")
    turn = spoken("m1")
    for found in permutations([first, second, turn]):
        [place] = fold_repeats(found)
        assert place.shown.id == turn.id
        assert sorted(place.also_in) == ["f1", "f2"]


def test_a_place_keeps_the_score_of_its_best_row() -> None:
    turn = spoken("m1")._replace(minus_score=-0.7)
    fact = ranked("f", FACT, "m1")._replace(minus_score=-0.7 - 1e-7)
    [place] = fold_repeats([fact, turn])
    assert place.shown.minus_score == fact.minus_score


def test_the_same_sentence_of_four_conversations_takes_one_place() -> None:
    facts = []
    for number in range(4):
        facts.append(
            a_record(
                "Ana Ruiz is allergic to peanuts.",
                id=f"f{number}",
                conversation_id=f"c-{number}",
                about=("Ana Ruiz", "Ana")[number % 2],
                source_ids=("m1",),
            )
        )
    columns = columns_of(embedded(*facts))
    [place] = fold_repeats([contender(columns, row) for row in range(4)])
    assert {place.shown.id, *place.also_in} == {"f0", "f1", "f2", "f3"}


def test_the_same_sentence_of_two_users_takes_two_places() -> None:
    records = []
    for user in ("u-1", "u-2"):
        records.append(
            a_record(
                "I am allergic to peanuts.",
                id=user,
                user_id=user,
                source_ids=(user,),
                about=user,
            )
        )
    columns = columns_of(embedded(*records))
    assert (
        len(fold_repeats([contender(columns, row) for row in range(2)])) == 2
    )


def test_facts_that_repeat_the_words_do_not_outrank_other_words() -> None:
    """Three facts of one message have one chance, as the words of another have."""
    said = a_record(
        "Dana likes tea", id="t1", memory_type=TURN, source_ids=("m1",)
    )
    records = [replace(said, id=turn_id("c-1", "m1"))]
    for number in range(3):
        records.append(
            a_record(
                f"Dana Whitfield prefers tea {number}",
                id=f"f{number}",
                source_ids=("m1",),
            )
        )
    other = a_record(
        "Lee likes tea", source_ids=("m5",), position=5, memory_type=TURN
    )
    records.append(replace(other, id=turn_id("c-1", "m5")))
    found = names(ranking(records, "who likes tea?", limit=5))
    assert len(found) == 2


def test_a_fact_that_matches_better_lifts_its_words_by_half() -> None:
    scores = np.array([0.2, 0.6, 0.5, 0.9, -1.0, 0.7], np.float32)
    is_fact = np.array([False, True, False, True, False, True])
    conversations = np.array([0, 0, 0, 1, 2, 2], np.int32)
    positions = np.array([0, 0, 1, 0, 0, 0], np.int32)
    sharing = find_sharing(conversations, positions, is_fact)
    assert sharing is not None
    share_scores(scores, sharing)
    # Message 1 meets in the middle; a fact without (visible) words keeps its score.
    assert scores.tolist() == pytest.approx([0.4, 0.4, 0.5, 0.9, -1.0, 0.7])


def test_rows_without_a_conversation_share_nothing() -> None:
    nowhere = np.array([-1, -1], np.int32)
    same = np.zeros(2, np.int32)
    assert find_sharing(nowhere, same, np.array([False, True])) is None


@pytest.mark.parametrize(
    "turn", [spoken("m1", words=81), spoken("m1", passage=2)]
)
def test_a_long_turn_or_a_passage_does_not_repeat_its_fact(
    turn: Contender,
) -> None:
    fact = ranked("f", FACT, "m1")
    assert names(fold_repeats([fact, turn])) == ["f", turn.id]
    assert names(fold_repeats([turn, fact])) == [turn.id, "f"]


def test_several_facts_or_passages_of_one_message_all_stay() -> None:
    assert names(
        fold_repeats([ranked("f1", FACT, "m1"), ranked("f2", FACT, "m1")])
    ) == ["f1", "f2"]
    assert (
        len(fold_repeats([spoken("m1"), spoken("m1", passage=1, words=9)]))
        == 2
    )


def test_a_fact_of_two_messages_stays_unless_both_turns_are_shown() -> None:
    fact = ranked("f", FACT, "m1", "m2")
    turn, second = spoken("m1"), spoken("m2", words=6)
    assert names(fold_repeats([turn, fact])) == [turn.id, "f"]
    assert names(fold_repeats([turn, second, fact])) == [turn.id, second.id]


def test_equal_message_ids_in_two_conversations_are_two_messages() -> None:
    found = [
        ranked("f", FACT, "m1"),
        ranked("t", TURN, "m1", conversation="c-2"),
    ]
    assert names(fold_repeats(found)) == ["f", "t"]


def test_a_summary_does_not_repeat_a_fact() -> None:
    assert names(
        fold_repeats([ranked("s", SUMMARY, "m1"), ranked("f", FACT, "m1")])
    ) == ["s", "f"]


def test_two_facts_in_the_same_words_are_shown_once() -> None:
    first = a_record("Dana likes tea.", id="f1", source_ids=("m1",))
    again = a_record("Dana  likes TEA", id="f2", source_ids=("m7",))
    columns = columns_of(embedded(first, again))
    both = [contender(columns, row) for row in (0, 1)]
    assert names(fold_repeats(both)) == ["f1"]


@pytest.mark.parametrize(
    "other", ["Dana likes C#.", "Dana likes C.", "Dana likes C++ 🎉"]
)
def test_facts_that_differ_only_in_symbols_are_two_facts(other: str) -> None:
    records = [
        a_record("Dana likes C++.", id="f1"),
        a_record(other, id="f2", source_ids=("m7",)),
    ]
    columns = columns_of(embedded(*records))
    assert names(
        fold_repeats([contender(columns, row) for row in (0, 1)])
    ) == [
        "f1",
        "f2",
    ]


@given(
    st.lists(st.integers(-400, 400), min_size=1, max_size=8),
    st.integers(-500, 5_000),
    st.floats(0.5, 9_000),
)
def test_cached_recency_equals_computed_recency(
    days: list[int], later: int, half_life: float
) -> None:
    records = [
        a_record(f"r{i}", id=f"r{i}", at=MORNING + timedelta(days=d))
        for i, d in enumerate(days)
    ]
    columns, present = (
        columns_of(embedded(*records)),
        MORNING + timedelta(days=later),
    )
    expected = recency(columns.event_times, present, half_life)
    for _ in range(2):
        assert measure_row_recency(
            columns, present, half_life
        ).tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def test_a_long_question_is_processed_in_batches_of_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [
        a_record(f"w{i} w{i + 1} w{i + 2}", id=f"r{i:02}", position=i)
        for i in range(98)
    ]
    text = " ".join(f"w{i}" for i in range(100))
    asked = count_kin(monkeypatch)
    found = ranking(records, text)
    assert asked == [
        signals_module.WORDS_PER_BATCH,
        100 - signals_module.WORDS_PER_BATCH,
    ]
    compare_at_once(monkeypatch, 100)
    at_once = ranking(records, text)
    assert names(found) == names(at_once)
    assert [item.score for item in found] == pytest.approx(
        [item.score for item in at_once], abs=1e-5
    )
