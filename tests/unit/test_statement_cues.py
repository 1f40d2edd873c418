"""What the words of a statement show: questions, other persons, the present tense."""

import pytest

from varve.domain.statements.texts.cues import asks_past, read_cues


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Prod is on Postgres 13.4, can I use MERGE there?", False),
        ("Mi novia Daniela cumple el sábado, ¿qué le regalo?", False),
        ("Estoy tomando losartán por la tensión, ¿puedo comer fruta?", False),
        ("I moved to Porto in May. Which bus do I take?", False),
        ("Which bus do I take in Porto, and when does it leave?", True),
        ("If I moved to Porto next year, would my visa hold?", True),
        ("¿Dónde trabajo ahora, en Madrid o en Toledo?", True),
        ("Hi Dana, where do you live?", True),
    ],
)
def test_a_text_only_asks_if_no_part_of_it_states_anything(
    text: str, asks: bool
) -> None:
    assert read_cues(text).asks is asks


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("omg my sister got a place in Lisbon", True),
        ("A mi esposo le gusta el pasillo", True),
        ("The neighbour swore that it was his", True),
        ("I told my boss that I quit", False),
        ("We moved to York with my sister", False),
    ],
)
def test_a_text_that_begins_with_another_person_is_told_apart(
    text: str, begins: bool
) -> None:
    assert read_cues(text).begins_with_other is begins


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("it's the flat that is ours, and I've got the keys", 3),
        ("estoy en Bilbao y tengo trabajo", 2),
        ("we had a flat in Leeds", 0),
    ],
)
def test_words_of_the_present_tense_are_counted(text: str, count: int) -> None:
    assert read_cues(text).present == count


def test_a_possessive_is_of_the_topic_of_its_word() -> None:
    assert "pets" in read_cues("What is my dog's name?").topics


@pytest.mark.parametrize(
    ("text", "coming"),
    [
        ("I'll move to Vienna next month.", True),
        ("We’ll get married in June.", True),
        ("I will move to Vienna next month.", True),
        ("I moved to Vienna.", False),
        ("I'll leave them out.", False),
        ("From Monday we'll do standup at 10.", False),
    ],
)
def test_a_plan_of_ones_life_is_still_to_come(text: str, coming: bool) -> None:
    assert read_cues(text).has("coming") is coming


@pytest.mark.parametrize(
    "question",
    [
        "¿Dónde estuve de becaria?",
        "¿Qué número te di por error?",
        "¿En qué centro daba clase?",
        "¿Qué hice la primera vez contra el zumbido?",
        "¿Qué tarifa tenía en el primer cartel?",
        "¿Qué perro tuvimos?",
        "Which time did I give you by mistake?",
    ],
)
def test_a_question_about_bygone_times_is_known(question: str) -> None:
    assert asks_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "¿Qué hay en la primera planta?",
        "¿Dónde estoy empadronada?",
        "¿Quién da clase los martes?",
        "Who makes the mistakes list?",
    ],
)
def test_a_question_about_the_present_asks_for_no_bygone_times(
    question: str,
) -> None:
    assert not asks_past(question)


@pytest.mark.parametrize(
    ("text", "supposed"),
    [
        ("Yo sí me mudé a Porto.", False),
        ("Si me mudo a Porto, dejo el trabajo.", True),
        ("No sé si me mudaré a Porto.", True),
        ("Se mudó a Porto.", False),
    ],
)
def test_a_spanish_yes_is_no_condition(text: str, supposed: bool) -> None:
    assert read_cues(text).has("supposed") is supposed


@pytest.mark.parametrize(
    ("text", "is_of_tea"),
    [
        ("Tomo té verde por la tarde", True),
        ("Me gusta un té con leche", True),
        ("Te dije que vivo en Lugo", False),
        ("¿Te acuerdas de Ana?", False),
        ("Él te lo dijo, y te digo más", False),
    ],
)
def test_the_spanish_pronoun_te_is_no_tea(text: str, is_of_tea: bool) -> None:
    assert ("drink" in read_cues(text).topics) is is_of_tea
