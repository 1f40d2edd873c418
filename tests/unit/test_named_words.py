"""Names that are everyday words too, and whom a question asks everything of."""

import pytest

from varve.domain.language.named_words import split_words
from varve.domain.search.question import find_whom

NAMED = [
    ("Where does Mia live?", "Mia"),
    ("Will", "Will"),
    ("Will Smith", "Will"),
    ("My colleague Will comes from Oslo.", "Will"),
    ("Dana: I had lunch with Will, he is fine.", "Will"),
    ("Mia plays the cello.", "Mia"),
    ("Vivo con Will y su hermana.", "Will"),
]
NOT_NAMED = [
    "Will you call me?",
    "I will call you.",
    "Dana: Will the train come?",
    "La casa es mia.",
    "Mia madre abita a Roma.",
    "The cat is here. It sleeps.",
    "WHERE DO I LIVE",
    "Where Does The Train To Oslo Leave",
    "My name is Dana.",
    "I know, I'm late.",
]


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_a_stop_word_written_as_a_name_stays_as_written(
    text: str, name: str
) -> None:
    assert name in split_words(text)


@pytest.mark.parametrize("text", NOT_NAMED)
def test_a_word_of_grammar_is_folded(text: str) -> None:
    assert all(word == word.lower() for word in split_words(text))


WHOM = [
    ("What do we know about Ana?", "Ana"),
    ("So, what do you know about Ana Ruiz?", "Ana Ruiz"),
    ("Tell me everything you know about Rex", "Rex"),
    ("tell me about Ana", "Ana"),
    ("Everything you know about Acme, please", ""),
    ("What have you got on Acme?", "Acme"),
    ("¿Qué sabemos de Ana?", "Ana"),
    ("¿Qué sabes sobre Ana Ruiz?", "Ana Ruiz"),
    ("Cuéntame todo lo que sabes de Ana.", "Ana"),
    ("Háblame de Rex", "Rex"),
]
LESS = [
    "Where does Ana live?",
    "What did Ana say about the trip?",
    "Do we know when Ana comes?",
    "What do we know?",
    "I told you about Ana.",
    "How do I tell Ana about the move?",
    "¿Dónde vive Ana?",
    "¿Qué dijo Ana de la boda?",
    "¿Sabes de qué color es?",
]


@pytest.mark.parametrize(("text", "whom"), WHOM)
def test_a_question_for_everything_names_whom_it_is_about(
    text: str, whom: str
) -> None:
    assert find_whom(text) == whom


@pytest.mark.parametrize("text", LESS)
def test_other_questions_ask_for_less(text: str) -> None:
    assert find_whom(text) == ""
