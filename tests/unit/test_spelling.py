"""Words written in haste, without their apostrophe or accents."""

import pytest

from varve.domain.language.spelling import restore_accents, restore_apostrophes
from varve.domain.statements.texts.cues import restore_question_mark


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("im allergic to nuts", "i'm allergic to nuts"),
        ("IVE moved", "I'VE moved"),
        ("i DONT know, dont ask", "i DON'T know, don't ask"),
        (
            "my gym is £24, its £31 from now on",
            "my gym is £24, it's £31 from now on",
        ),
        ("were in Didcot now", "we're in Didcot now"),
        ("ok, were moving", "ok, we're moving"),
        ("id love to, ill be there", "i'd love to, i'll be there"),
        ("shed rather stay", "she'd rather stay"),
    ],
)
def test_a_word_gets_its_apostrophe(written: str, meant: str) -> None:
    assert restore_apostrophes(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "we were in Didcot",
        "its colour is red",
        "my id is 4711",
        "she was ill in May",
        "the shed has a door",
        "they wed in June",
        "Im Sommer bin ich im Garten.",
        "I'm here, don't go",
        "the dont-walk sign",
        "un buen cante",
    ],
)
def test_words_that_lack_no_apostrophe_stay(text: str) -> None:
    assert restore_apostrophes(text) == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("soy alergica al platano", "soy alérgica al plátano"),
        ("Me mude a Cadiz hace 3 anos", "Me mudé a Cadiz hace 3 años"),
        ("mi cumpleanos es el sabado", "mi cumpleaños es el sábado"),
        ("la lavadora ya esta arreglada", "la lavadora ya está arreglada"),
        ("mi mama no habla mas ingles", "mi mamá no habla más inglés"),
    ],
)
def test_a_word_gets_its_accents(written: str, meant: str) -> None:
    assert restore_accents(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "quiere que me mude a Sevilla",
        "esta casa es de mi vecina",
        "la mama de la gata",
        "Nina y Mani trabajan en Dia",
        "my hamster had a mani",
        "soy alérgica al plátano",
    ],
)
def test_words_that_lack_no_accents_stay(text: str) -> None:
    assert restore_accents(text) == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("what am i allergic to", "what am i allergic to?"),
        ("In which city do I live", "In which city do I live?"),
        ("en qué calle vivo", "en qué calle vivo?"),
        ("when is my dentist", "when is my dentist?"),
        ("where do I live?", "where do I live?"),
        ("I know what I like", "I know what I like"),
        ("whatever", "whatever"),
        ("What a day! I moved.", "What a day! I moved."),
        ("where's 7.4 run", "where's 7.4 run?"),
    ],
)
def test_a_question_has_the_mark_that_it_lacks(
    written: str, meant: str
) -> None:
    assert restore_question_mark(written) == meant
