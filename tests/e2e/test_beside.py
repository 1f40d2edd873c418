"""A statement of another matter stays current beside the answer to a question (invariant 11)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
BAKER = (
    "I'm Theo, I run a small bakery in Ghent.",
    "My knees can't take running, so the physio put me on rowing twice a week.",
    "We pay 1,450 for the shop's rent.",
    "My wife Inès is pregnant, due in August.",
    "I drive a white Berlingo for deliveries.",
    "The landlord put it up to 1,600 from now on.",
    "Swapped the van for an electric Kangoo.",
    "I can't have shellfish, it makes my throat swell.",
    "Our supplier for flour is Molens Dewulf.",
    "We switched flour to Paulus Bio last week, Dewulf kept being late.",
    "Inès had the baby, a girl, we called her Lou.",
    "My sister Hanne is a vegetarian.",
)
NURSE = (
    "Soy Inés, trabajo de enfermera en el hospital de Getafe.",
    "Vivo de alquiler en Lavapiés con mi prima.",
    "Soy celíaca.",
    "Voy al gimnasio los martes y jueves.",
    "Tengo un Seat Ibiza del 2012.",
    "Mi hermano Raúl vive en Berlín.",
    "He vendido el Ibiza, ahora voy en bici.",
    "La revisión del dentista es el 4 de mayo.",
    "Me han cambiado lo del dentista al 11 de mayo.",
    "He dejado el gimnasio, ahora hago natación.",
    "Por fin me he comprado un piso en Carabanchel.",
    "Mi gato se llama Tango.",
    "Estoy aprendiendo alemán para visitar a Raúl.",
)


@pytest.mark.parametrize(
    ("texts", "question", "value"),
    [
        (BAKER, "What rent do I pay?", "1,600"),
        (BAKER, "Who supplies our flour?", "Paulus"),
        (BAKER, "What flour do we use?", "Paulus"),
        (BAKER, "What's my daughter's name?", "Lou"),
        (NURSE, "¿Dónde vivo?", "Carabanchel"),
        (NURSE, "¿Qué coche tengo?", "he vendido"),
        (NURSE, "¿Dónde vive mi hermano?", "Berlín"),
        (NURSE, "¿Qué idioma aprendo?", "alemán"),
        (NURSE, "¿Cómo se llama mi gato?", "Tango"),
    ],
)
def test_the_last_statement_of_the_matter_is_first(
    tmp_path: Path, texts: tuple[str, ...], question: str, value: str
) -> None:
    found = tell(tmp_path, texts, NOW).search(question, user_id=USER).results

    assert value.lower() in found[0].content.lower()
    assert found[0].current


@pytest.mark.parametrize(
    ("texts", "question", "superseded"),
    [
        (BAKER, "Who supplies our flour?", ["Molens Dewulf"]),
        (BAKER, "What flour do we use?", ["Molens Dewulf"]),
        (BAKER, "Who is my sister?", []),
        (NURSE, "¿Dónde vive mi hermano?", []),
        (NURSE, "¿Cómo se llama mi gato?", []),
    ],
)
def test_a_change_leaves_what_is_beside_the_question_current(
    tmp_path: Path,
    texts: tuple[str, ...],
    question: str,
    superseded: list[str],
) -> None:
    kept = ("shellfish", "Hanne", "Raúl", "celíaca", "Tango", "Getafe")
    found = tell(tmp_path, texts, NOW).search(question, user_id=USER).results
    marked = [one.content for one in found if not one.current]

    assert all(any(value in one for one in marked) for value in superseded)
    assert not [one for one in marked if any(value in one for value in kept)]


def test_a_name_does_not_stand_for_what_else_was_said(tmp_path: Path) -> None:
    memory = tell(tmp_path, BAKER, NOW)

    block = str(memory.context("What should we cook for Hanne?", user_id=USER))

    assert "vegetarian" in block
    assert block.count("Hanne") == 1


@pytest.mark.parametrize(
    ("others", "own", "question"),
    [
        (
            "My colleague Bo Larsen lives in Oslo.",
            "I moved to Porto.",
            "Where do I live?",
        ),
        (
            "My brother's birthday cake has nuts, he works at Acme.",
            "I joined Initech.",
            "Where do I work?",
        ),
        ("Mi hermano vive en Vigo.", "Me he mudado a Bilbao.", "¿Dónde vivo?"),
        ("Bo Larsen lives in Oslo.", "I moved to Porto.", "Where do I live?"),
        ("Helen works at Acme.", "I joined Initech.", "Where do I work?"),
        ("Bo Larsen vive en Oslo.", "Me mudé a Oporto.", "¿Dónde vivo?"),
        (
            "Bo Larsen moved to Oslo.",
            "I live in Porto now.",
            "Where does Bo Larsen live?",
        ),
        (
            "Marta es enfermera.",
            "Ahora trabajo de profesora.",
            "¿De qué trabajo?",
        ),
        (
            "My cousin Sami is allergic to penicillin.",
            "I'm allergic to latex.",
            "What am I allergic to?",
        ),
    ],
)
def test_11_ones_own_change_leaves_what_was_told_of_another_person(
    tmp_path: Path, others: str, own: str, question: str
) -> None:
    memory = tell(tmp_path, [others, own], NOW)
    found = memory.search(question, user_id=USER).results
    assert all(one.current for one in found if others in one.content)
    assert "no longer" not in memory.context(question, user_id=USER).text


@pytest.mark.parametrize(
    ("own", "others", "question"),
    [
        (
            "I live in Oslo.",
            "I have a sister, Ingrid. Ingrid lives in Bergen.",
            "Where do I live?",
        ),
        (
            "I live in Oslo.",
            "I like sushi. My sister lives in Madrid now.",
            "Where do I live?",
        ),
        (
            "I work at Acme.",
            "Bo works at Globex now. I met Bo at school.",
            "Where do I work?",
        ),
        (
            "Vivo en Vigo.",
            "Tengo una hermana, Marta. Marta vive en Lugo ahora.",
            "¿Dónde vivo?",
        ),
    ],
)
def test_11_a_sentence_of_another_person_leaves_what_one_told_of_oneself(
    tmp_path: Path, own: str, others: str, question: str
) -> None:
    found = tell(tmp_path, [own, others], NOW).search(question, user_id=USER)
    assert all(one.current for one in found.results)


def test_11_a_home_corrected_in_the_graph_leaves_the_speakers_own(
    tmp_path: Path,
) -> None:
    texts = ["I live in Oslo.", "My sister Ingrid lives in Bergen."]
    memory = tell(tmp_path, texts, NOW)
    moved = {"source_id": "Ingrid", "label": "lives_in", "target_id": "Hamar"}
    with memory.graph as graph:
        graph.update_facts([moved])

    found = memory.search("Where do I live?", user_id=USER).results
    current = " ".join(one.content for one in found if one.current)
    assert "Oslo" in current
    assert "Hamar" in current
    assert "Bergen" not in current


@pytest.mark.parametrize(
    "told",
    [
        "I have a sister, Ingrid. I moved to Hamar, near her.",
        "Ingrid lives in Hamar, and I moved there too.",
        "Dana lives in Hamar now. I love it.",
    ],
)
def test_11_a_sentence_of_ones_own_beside_another_persons_changes_ones_home(
    tmp_path: Path, told: str
) -> None:
    memory = tell(tmp_path, ["I live in Oslo.", told], NOW)
    found = memory.search("Where do I live?", user_id=USER).results
    assert not any(one.current for one in found if "Oslo" in one.content)


@pytest.mark.parametrize("beside", [(), ("I love jazz.", "My sister is Ana.")])
@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        ("I work at Globex.", "I sold the piano.", "Where do I work?"),
        (
            "I live in Braga.",
            "I changed the oil of the lawnmower.",
            "Where do I live?",
        ),
        (
            "I'm allergic to peanuts.",
            "We moved the sofa to the other wall.",
            "What am I allergic to?",
        ),
        (
            "My dentist is Dr. Klein.",
            "I finally finished the puzzle.",
            "Who is my dentist?",
        ),
        ("Trabajo en Globex.", "He vendido el piano.", "¿Dónde trabajo?"),
        ("Vivo en Braga.", "He cancelado el periódico.", "¿Dónde vivo?"),
    ],
)
def test_invariant_11_a_change_of_a_thing_ends_nothing_in_a_small_memory(
    tmp_path: Path,
    told: str,
    later: str,
    question: str,
    beside: tuple[str, ...],
) -> None:
    memory = tell(tmp_path, [told, *beside, later], NOW)
    found = memory.search(question, user_id=USER).results
    assert told.removesuffix(".").split()[-1] in found[0].content
    assert found[0].current


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        (
            "I play bass in a covers band called Dad Noise",
            "Caught a bass off the pier, four pounds, best fish of my life!",
            "What instrument do I play?",
        ),
        (
            "Toco el violín.",
            "Vendí el piano de mi tía.",
            "¿Qué instrumento practico?",
        ),
        (
            "Mi boda es en octubre.",
            "El juzgado nos ha dado el día 18, a las doce.",
            "¿Cuándo me caso?",
        ),
    ],
)
def test_invariant_11_hardly_anything_is_marked_of_two_statements_without_need(
    tmp_path: Path, told: str, later: str, question: str
) -> None:
    memory = tell(tmp_path, [told, later], NOW)
    found = memory.search(question, user_id=USER).results
    value = told.rstrip(".").split()[-1]
    (first,) = (one for one in found if value in one.content)
    assert first.current
