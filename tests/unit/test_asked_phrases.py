"""An agent's phrase stands for its user's question."""

import pytest

from varve.domain.statements.texts.asked_phrases import restore_question


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("user's current rent", "my current rent?"),
        ("the user’s dog name", "my dog name?"),
        ("user allergies", "my allergies?"),
        ("name of the user", "my name?"),
        ("alergias del usuario", "mi alergias?"),
        ("transporte de la usuaria al trabajo", "mi transporte al trabajo?"),
        ("my rent", "my rent?"),
        ("what am i allergic to", "what am i allergic to?"),
    ],
)
def test_a_phrase_is_asked(written: str, meant: str) -> None:
    assert restore_question(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lisbon",
        "my rent is 900",
        "Dana moved to Lisbon",
        "dog walker price",
        "Lisbon",
        "rent, deposit",
        "What does the user pay?",
        "one two three four five six seven eight nine",
        "rent\ndeposit",
    ],
)
def test_a_statement_a_word_and_a_long_text_stay(text: str) -> None:
    assert restore_question(text) == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("dog walker price", "dog walker price?"),
        ("current rent of the user", "my current rent?"),
        ("I live in Lisbon", "I live in Lisbon"),
        ("Lisbon", "Lisbon"),
    ],
)
def test_any_phrase_for_one_users_memory_is_asked(
    written: str, meant: str
) -> None:
    assert restore_question(written, is_of_user=True) == meant
