"""The cross-encoder: its pieces, and how it reads a question with two statements."""

from dataclasses import replace

import numpy as np
import pytest

from varve.domain.statements.encoder.cross_encoder import (
    MAX_STATEMENT,
    read_pair,
    read_statement,
)
from varve.domain.statements.encoder.pieces import UNKNOWN, Pieces
from varve.domain.statements.questions.asked_words import AskedWords
from varve.domain.statements.questions.asking import MANY_TOLD, Asking
from varve.domain.statements.questions.reading import (
    OF_PAIR,
    OF_ROW,
    PAIR_BIAS,
    read_pair_odds,
    read_row_odds,
)
from varve.domain.statements.texts.cues import read_cues


def ask(question: str, count: int, stated: float = 0.2) -> Asking:
    """Return a question of some statements, this share of which states one's own."""
    cues = read_cues(question)
    return Asking(cues, count, AskedWords(cues), stated=stated, text=question)


PIECES = Pieces(
    ["▁", "▁mov", "ed", "e", "d", "▁moved", "v"], [-4, -3, -2, -3, -3, -9, -5]
)


def test_a_word_is_split_into_the_pieces_with_the_greatest_sum() -> None:
    assert PIECES.split("moved") == [5, 6]


def test_words_are_split_alike_wherever_they_stand() -> None:
    assert PIECES.split("  moved\n moved ") == [5, 6, 5, 6]


def test_a_sign_without_a_piece_is_unknown() -> None:
    assert PIECES.split("vz") == [4, 10, UNKNOWN]


def test_compatible_forms_of_a_sign_are_one() -> None:
    assert PIECES.split("ｍoved") == PIECES.split("moved")


def test_no_text_has_no_pieces() -> None:
    assert PIECES.split(" ") == []


@pytest.mark.parametrize(
    ("question", "earlier", "change", "lookalike"),
    [
        (
            "Where do I live?",
            "I live in Lisbon, near the river.",
            "Keys handed over, boxes everywhere, Porto is home now.",
            "My sister moved to Porto, what should I bring her?",
        ),
        (
            "How do I get to work?",
            "I'm on the 42 to work.",
            "The 42 doesn't run any more, I take the 17.",
            "Almost took the 17 by mistake, what does it cost?",
        ),
        (
            "¿Dónde trabajo?",
            "Trabajo en Globex como contable, ¿cómo pido un aumento?",
            "Primer día en Initech, me han dado el portátil y una mesa junto a la ventana.",
            "Mi cuñada ha entrado en Initech, ¿qué le regalo?",
        ),
    ],
)
def test_a_change_supersedes_and_a_lookalike_does_not(
    question: str, earlier: str, change: str, lookalike: str
) -> None:
    assert read_pair(question, earlier, change) > 0
    assert read_pair(question, earlier, lookalike) < 0


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "Where do I live?",
            "The radiators in our flat in Lisbon are knocking again.",
            "My sister has moved to Porto, what should I bring her?",
        ),
        (
            "¿Quién es mi dentista?",
            "Mañana me toca con la doctora Ibarra, la del empaste.",
            "Se me ha caído la tapa del bolígrafo detrás de la mesa.",
        ),
    ],
)
def test_an_answer_is_told_from_other_talk(
    question: str, answer: str, other: str
) -> None:
    assert read_statement(question, answer) > read_statement(question, other)


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    words = " ".join(["river"] * MAX_STATEMENT)
    read = read_pair("Where do I live?", words, "I moved.")
    longer = read_pair("Where do I live?", f"{words} and sea", "I moved.")
    assert longer == read


def test_empty_texts_are_read() -> None:
    assert np.isfinite(read_pair("", "", ""))


def test_a_pair_of_another_language_is_judged_by_its_signals_alone() -> None:
    asking = ask("Wo wohne ich jetzt?", 20)
    earlier = "Ich wohne seit drei Jahren mit meiner Frau in Lissabon."
    later = "Wir sind in der letzten Woche nach Porto gezogen."
    assert read_pair_odds(asking, earlier, later) == 0


@pytest.mark.parametrize(
    ("count", "stated"), [(20, 0.2), (MANY_TOLD - 1, 0.2), (MANY_TOLD, 0.7)]
)
def test_what_is_read_among_talk_is_added(count: int, stated: float) -> None:
    asking = ask("Where do I live?", count, stated)
    pair = ("I live in Lisbon.", "I moved to Porto.")
    read = read_pair(asking.text, *pair)
    assert asking.few == 1
    answers = read_statement(asking.text, pair[0])
    assert read_row_odds(asking, pair[0]) == OF_ROW * answers
    assert read_pair_odds(asking, *pair) == PAIR_BIAS + OF_PAIR * read


@pytest.mark.parametrize(
    "asking",
    [
        ask("Where do I live?", 20, stated=0.9),
        ask("Where do I live?", MANY_TOLD - 1, stated=0.7),
        ask("Where do I live?", 5),
        replace(ask("Where do I live?", 20), is_past=True),
        replace(ask("Where do I live?", 20), is_of_event=True),
        ask("word 4", 20),
    ],
    ids=["no talk", "first try", "hardly any", "past", "event", "no question"],
)
def test_what_is_no_question_for_a_state_in_talk_is_not_read(
    asking: Asking,
) -> None:
    pair = ("I live in Lisbon.", "I moved to Porto.")
    assert read_pair_odds(asking, *pair) == 0
    assert read_row_odds(asking, pair[0]) == 0
