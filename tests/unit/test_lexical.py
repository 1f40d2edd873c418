"""Words as they are compared, and BM25 over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.language.stems import stems
from varve.domain.language.tokens import fold, parts, words
from varve.domain.search.indexing import index_texts
from varve.domain.search.lexical import K1, B, idf, question_forms

TEXTS = st.lists(
    st.text("abc déñ-_./:E4711 '", max_size=30)
    | st.sampled_from(["Error E-4711 in /var/log/app.log", "v2.3.1"]),
    max_size=12,
)


def rows_with(texts: list[str], form: str) -> list[int]:
    index = index_texts(texts)
    return sorted(set(index.postings(index.term(form).codes)[0].tolist()))


@pytest.mark.parametrize(
    ("text", "whole", "pieces"),
    [
        ("Error E-4711 again", "e-4711", ["e", "4711"]),
        (
            "see /var/log/app.log.",
            "var/log/app.log",
            ["var", "log", "app", "log"],
        ),
        ("release v2.3.1!", "v2.3.1", ["v2", "3", "1"]),
        ("ticket #INC-0042, now", "inc-0042", ["inc", "0042"]),
        ("mail ana@example.org", "ana@example.org", ["ana", "example", "org"]),
    ],
)
def test_a_code_is_a_word_whole_and_in_parts(
    text: str, whole: str, pieces: list[str]
) -> None:
    assert whole in words(text)
    assert parts(whole) == pieces
    assert rows_with(["nothing of it", text], whole) == [1]
    assert rows_with(["nothing of it", text], pieces[-1]) == [1]


def test_case_and_accents_make_no_difference() -> None:
    assert fold("Órbita STRASSE ñandú") == "orbita strasse nandu"
    assert rows_with(
        ["El cumpleaños de Lucía", "Una tarde"], "cumpleanos"
    ) == [0]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("We were hiking in the mountains", "hike"),
        ("She adopted two dogs", "dog"),
        ("Los médicos le cambiaron las reuniones", "reunion"),
        ("El niño tiene dos gatos pequeños", "gato"),
        ("Nos mudamos a Valencia con los niños", "Valencia"),
        ("I was in Valencia with the children", "Valencia"),
    ],
)
def test_endings_make_no_difference_in_english_and_in_spanish(
    said: str, asked: str
) -> None:
    assert rows_with(["something else", said], fold(asked)) == [1]


def test_the_language_is_told_by_its_small_words() -> None:
    def stem(text: str) -> str:
        return next(iter(index_texts([text]).codes))

    assert stem("las casas de mi hermana") == "cas"
    assert stem("the casas of my sister") == stem("casas") == "casa"
    assert list(index_texts(["las casas", "the casas"]).codes) == [
        "cas",
        "casa",
    ]


def test_a_code_is_never_stemmed() -> None:
    assert stems("e-4711s") == ("e-4711s",)
    assert stems("running")[0] == "run"


def test_stop_words_are_left_out_of_a_question_unless_it_has_no_others() -> (
    None
):
    assert (
        question_forms("Where does Dana live, and where did Dana live?")
        == ("dana", "live", "did")[:2]
    )
    assert question_forms("who is it?") == ("who", "is", "it")


def test_bm25_is_the_published_formula() -> None:
    texts = ["apple apple pear", "apple", "pear plum cherry"]
    index = index_texts(texts)
    rows, weights = index.postings(index.term("apple").codes)
    scores = idf(2, 3) * weights
    mean = (3 + 1 + 3) / 3
    weight = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = [
        weight * count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))
        for count, length in ((2, 3), (1, 1))
    ]
    assert rows.tolist() == [0, 1]
    assert scores.tolist() == pytest.approx(expected, rel=1e-5)


@given(TEXTS)
def test_every_word_of_a_text_leads_back_to_it(texts: list[str]) -> None:
    index = index_texts(texts)
    assert index.size == len(texts)
    for form, code in index.forms.items():
        rows, weights = index.postings([code])
        counts = index.counts[index.span(code)]
        assert (
            len(rows) == len(set(rows.tolist())) == len(counts) == len(weights)
        )
        assert (np.diff(rows) > 0).all()
        assert (counts >= 1).all()
        assert code in index.term(form).codes or not form.isascii()
    assert float(index.counts.sum()) == float(index.lengths.sum())
    assert ((index.addressing >= 0) & (index.addressing <= 1)).all()


def test_a_rare_word_tells_more_than_a_common_one_and_none_less_than_nothing() -> (
    None
):
    assert idf(1, 100) > idf(50, 100) > idf(100, 100) >= 0


@given(TEXTS, TEXTS)
def test_an_index_that_grew_is_the_index_of_all_its_texts(
    first: list[str], then: list[str]
) -> None:
    whole, grew = (
        index_texts([*first, *then]),
        index_texts(then, index_texts(first)),
    )
    assert (grew.codes, grew.forms) == (whole.codes, whole.forms)
    assert list(grew.forms) == list(whole.forms)
    for name in ("starts", "rows", "counts", "lengths", "addressing"):
        mine, theirs = getattr(grew, name), getattr(whole, name)
        assert mine.tolist() == theirs.tolist(), name
        assert mine.dtype == theirs.dtype, name


@given(TEXTS, TEXTS)
def test_likenesses_that_grew_are_those_of_all_words(
    first: list[str], then: list[str]
) -> None:
    def embed(words_: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        drawn = [
            np.random.default_rng([ord(c) for c in word]).normal(size=8)
            for word in words_
        ]
        return (
            np.array(drawn) / np.linalg.norm(drawn, axis=1, keepdims=True)
        ).astype(np.float32)

    known = index_texts(first)
    if not known.forms:
        return
    known.likenesses(embed)
    whole, grew = (
        index_texts([*first, *then]).likenesses(embed),
        index_texts(then, known).likenesses(embed),
    )
    assert grew.centre == pytest.approx(whole.centre, abs=1e-5)
    assert grew.sums.vectors == pytest.approx(whole.sums.vectors, abs=1e-5)
    assert grew.sums.counts.tolist() == whole.sums.counts.tolist()
