"""When two records say the same statement: by their sources, else by meaning."""

import numpy as np
import pytest

from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.statements.answers.folding import BlockLine, Folding
from varve.domain.statements.pairs.sameness import (
    Saying,
    mean_the_same,
    tell_difference,
)

EMBEDDER = WordLlamaEmbedder()

SAME = [
    ("Ana Ruiz lives in Utrecht.", "Ana Ruiz: I live in Utrecht."),
    ("Ana Ruiz lives in Utrecht.", "Ana Ruiz lives in: Utrecht"),
    ("Ana Ruiz: I live in Utrecht.", "Ana Ruiz: I live in Utrecht now."),
    (
        "Ana Ruiz is allergic to peanuts.",
        "Ana Ruiz: I am allergic to peanuts.",
    ),
    ("user: I live in Utrecht.", "I live in Utrecht"),
    ("No, I don't eat meat.", "I don't eat meat."),
    ("I have two cats.", "I have 2 cats."),
    ("Meine Schwester heißt Clara.", "Meine Schwester heißt Clara!"),
    ("我住在上海。", "我住在上海"),
]

DIFFERENT = [
    ("number", "We upgraded to version 2.3.", "We upgraded to version 2.4."),
    ("number", "The budget is $1,200.", "The budget is $1,300."),
    ("number", "The ticket is E-4711.", "The ticket is E-4712."),
    ("symbol", "Dana likes C#.", "Dana likes C++."),
    (
        "symbol",
        "The hotel costs 90 € a night.",
        "The hotel costs 90 $ a night.",
    ),
    (
        "date",
        "The oven was repaired on Monday.",
        "The oven was repaired on Tuesday.",
    ),
    ("date", "The exam is in March.", "The exam is in May."),
    ("name", "Ana Ruiz lives in Utrecht.", "Ana Ruiz lives in Rotterdam."),
    ("name", "Dana reports to Marco.", "Marco reports to Dana."),
    ("name", "我住在上海。", "我住在北京。"),
    ("negation", "I live in Utrecht.", "I don't live in Utrecht."),
    ("negation", "Vivo en Utrecht.", "No vivo en Utrecht."),
    ("negation", "Ich esse Fleisch.", "Ich esse kein Fleisch."),
    ("negation", "I drink coffee with milk.", "I drink coffee without milk."),
    ("condition", "Turn on the pump first.", "Turn off the pump first."),
    (
        "condition",
        "Restart before the deployment.",
        "Restart after the deployment.",
    ),
    ("condition", "I am a nurse in Porto.", "I was a nurse in Porto."),
    ("condition", "I will take the job.", "I might take the job."),
    ("question", "I live in Utrecht.", "Do I live in Utrecht?"),
    ("order", "The cat chased the dog.", "The dog chased the cat."),
    ("words", "I live in Utrecht.", "I work in Utrecht."),
    ("words", "I am allergic to peanuts.", "I am allergic to walnuts."),
]


def say(text: str, **values: object) -> Saying:
    [vector] = EMBEDDER.embed([text])
    return Saying(text, vector, **values)  # type: ignore[arg-type]


def same_statement(one: Saying, other: Saying) -> bool:
    """Return whether a block shows two sayings on one line."""
    folding = Folding()
    folding.add(BlockLine("one", one))
    return not folding.add(BlockLine("other", other))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_sentences_that_say_the_same_are_one_statement(
    one: str, other: str
) -> None:
    assert same_statement(say(one), say(other))
    assert same_statement(say(other), say(one))


@pytest.mark.parametrize(("difference", "one", "other"), DIFFERENT)
def test_a_difference_makes_two_statements_however_near_the_words_are(
    difference: str, one: str, other: str
) -> None:
    assert tell_difference(one, other) == difference
    assert tell_difference(other, one) == difference
    assert not mean_the_same(one, other, 1.0)


def test_sentences_below_the_cosine_are_two_statements() -> None:
    text = "I live in Utrecht."
    assert mean_the_same(text, text, 0.92)
    assert not mean_the_same(text, text, 0.919)


def test_a_relative_day_said_on_two_days_is_two_statements() -> None:
    text = "Ana Ruiz: I went to the gym yesterday."
    monday = say(text, day="2026-03-02")
    assert same_statement(monday, say(text, day="2026-03-02"))
    assert not same_statement(monday, say(text, day="2026-03-09"))


def test_a_lasting_fact_said_on_two_days_is_one_statement() -> None:
    text = "Ana Ruiz has had the allergy since March 2019."
    assert same_statement(
        say(text, day="2026-03-02"), say(text, day="2026-05-09")
    )


def test_two_users_never_share_a_statement() -> None:
    text = "I am allergic to peanuts."
    assert not same_statement(say(text, user="u-a"), say(text, user="u-b"))


def test_a_brief_turn_and_its_fact_are_one_statement_in_any_words() -> None:
    message = frozenset([("c-1", "m-1")])
    turn = say(
        "Ana: moved the bakery yesterday, phew", messages=message, whole=True
    )
    fact = say(
        "Ana's shop changed its address on 2026-03-01.", messages=message
    )
    assert same_statement(turn, fact)
    assert same_statement(fact, turn)


def test_two_facts_of_one_message_are_two_statements() -> None:
    message = frozenset([("c-1", "m-1")])
    one = say("Ana lives in Utrecht.", messages=message)
    other = say("Ana has a dog.", messages=message)
    assert not same_statement(one, other)


def test_a_triple_and_the_fact_with_its_value_are_one_statement() -> None:
    message = frozenset([("c-1", "m-1")])
    triple = say("Ana lives in: Utrecht", messages=message, value="utrecht")
    assert same_statement(
        triple, say("Ana moved to Utrecht.", messages=message)
    )
    assert not same_statement(triple, say("Ana has a dog.", messages=message))


def test_each_repeated_sentence_is_folded_into_the_first() -> None:
    texts = [
        "Ana Ruiz is allergic to peanuts.",
        "Ana Ruiz has a dog called Rex.",
        "Ana Ruiz: I am allergic to peanuts.",
        "Ana Ruiz is not allergic to peanuts.",
        "Ana Ruiz is allergic to peanuts!",
    ]
    folding = Folding()
    for at, text in enumerate(texts):
        folding.add(BlockLine(str(at), say(text, day="2026-03-02")))
    assert [line.id for line in folding.lines] == ["0", "1", "3"]
    assert folding.also_in == {"0": ("2", "4")}


def test_vectors_of_no_length_are_not_compared_by_words_alone() -> None:
    text = "Ana Ruiz lives in Utrecht."
    zero = np.zeros(4, np.float32)
    assert not same_statement(Saying(text, zero), Saying(text, zero))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana se mudó a Porto.", "Ana mudó a Porto."),
        ("Se lo di a Ana.", "Lo di a Ana."),
        ("Sé conducir camiones.", "Conducir camiones."),
        ("Sí, vivo en Vigo.", "Vivo en Vigo."),
    ],
)
def test_a_spanish_pronoun_or_verb_is_no_condition(
    one: str, other: str
) -> None:
    assert tell_difference(one, other) is None


@pytest.mark.parametrize(
    ("condition", "plain"),
    [
        ("Si vivo en Vigo, te aviso.", "Vivo en Vigo, te aviso."),
        ("No sé si vivo en Vigo.", "No sé, vivo en Vigo."),
        ("Se chove, fico em casa.", "Chove, fico em casa."),
        ("Se piove, non esco.", "Piove, non esco."),
    ],
)
def test_a_conjunction_is_a_condition_in_its_own_language(
    condition: str, plain: str
) -> None:
    assert tell_difference(condition, plain) == "condition"
