"""What speakers tell of their own work, home, numbers and favourites, and what is no such telling."""

from pathlib import Path

import pytest

from tests.unit.test_rules import changes, extract
from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.domain.extraction import Extraction

TOLD = [
    (("I retrained as an electrician.", "Retrained as an electrician last year.",
      "I've recently requalified as an electrician.", "I became an electrician."),
     ["UPDATE Dana works_as electrician"]),
    (("Me he reconvertido en electricista.", "Me reconvertí en electricista el año pasado.",
      "Me he hecho electricista."),
     ["UPDATE Dana works_as electricista"]),
    (("Corvane hired me.", "Corvane just hired me, finally!", "Corvane has hired me.",
      "I got hired by Corvane.", "I've been hired by Corvane.", "I was taken on by Corvane."),
     ["UPDATE Dana works_at Corvane"]),
    (("Corvane hired me as a welder.", "I've been hired by Corvane as a welder."),
     ["UPDATE Dana works_at Corvane", "UPDATE Dana works_as welder"]),
    (("Me han contratado en Brisol.", "Me contrataron en Brisol.", "Brisol me ha contratado.",
      "Me ha contratado Brisol.", "Me acaban de fichar en Brisol."),
     ["UPDATE Dana works_at Brisol"]),
    (("Brisol me ha contratado como contable.", "Me han contratado en Brisol como contable."),
     ["UPDATE Dana works_at Brisol", "UPDATE Dana works_as contable"]),
    (("I work for myself now.", "I'm self-employed.", "I've gone freelance.", "Went freelance.",
      "I run my own business these days.", "Me he hecho autónomo.", "Ahora trabajo por mi cuenta.",
      "Soy autónoma."),
     ["DELETE Dana works_at"]),
    (("I'm freelancing as a designer.",), ["DELETE Dana works_at", "UPDATE Dana works_as designer"]),
    (("We're settled in Namur now.", "I've settled down in Namur.", "Settled in Namur at last.",
      "Nos hemos instalado en Namur.", "Me instalé en Namur.", "Ya estamos instalados en Namur.",
      "Nos instalamos en Namur la semana pasada.", "Vivo ahora en Namur.", "I'm based in Namur these days."),
     ["UPDATE Dana lives_in Namur"]),
    (("We settled in Rome but moved back to Namur.",
      "Nos hemos instalado en Rome pero hemos vuelto a Namur."),
     ["DELETE Dana lives_in Rome", "UPDATE Dana lives_in Namur"]),
    (("New phone number: 555 0199", "Hi, new number: 555 0199.", "My new number: 555 0199",
      "My phone number: 555 0199", "Nuevo número: 555 0199", "Mi nuevo número: 555 0199",
      "Teléfono nuevo: 555 0199. Gracias."),
     ["UPDATE Dana phone 555 0199"]),
    (("New email: d@example.org", "My email: d@example.org", "Nuevo correo: d@example.org."),
     ["UPDATE Dana email d@example.org"]),
    (("New address: 12 Hill Road, Leeds", "My address: 12 Hill Road, Leeds"),
     ["UPDATE Dana address 12 Hill Road, Leeds"]),
    (("My favourite colour is maroon now.", "My favourite colour is now maroon.",
      "My new favourite colour is maroon."),
     ["UPDATE Dana favourite_colour maroon"]),
    (("Mi color favorito es ahora el granate.", "Ahora mi color favorito es el granate.",
      "Mi color favorito es el granate ahora."),
     ["UPDATE Dana favourite_color granate"]),
    (("I turned 35 today.", "I just turned 35!", "I've turned 35.", "Hoy cumplí 35 años.",
      "He cumplido los 35.", "Acabo de cumplir 35 años.", "Cumplo 35 hoy."),
     ["UPDATE Dana age 35"]),
    (("He dejado Brisol, empiezo en Corvane.", "He dejado Brisol y empiezo en Corvane.",
      "Ya no trabajo en Brisol, ahora empiezo a trabajar en Corvane.",
      "Me he ido de Brisol, comienzo en Corvane.",
      "I've left Brisol, I start at Corvane.", "I've left Brisol, starting at Corvane.",
      "I left Brisol and I'm joining Corvane.", "I've just quit Brisol, now at Corvane."),
     ["DELETE Dana works_at Brisol", "UPDATE Dana works_at Corvane"]),
    (("He dejado Brisol y empiezo en Corvane el lunes.", "He dejado Brisol, empiezo en Corvane en mayo."),
     ["DELETE Dana works_at Brisol"]),
    (("We've moved, we're in Namur now.", "We've moved and are in Namur now.",
      "I moved last week, now I'm in Namur.", "We moved house, so we're in Namur now.",
      "Nos hemos mudado, ya estamos en Namur.", "Me he mudado, ahora estoy en Namur.",
      "Nos mudamos de casa y estamos ya en Namur."),
     ["UPDATE Dana lives_in Namur"]),
]  # fmt: skip

OF_OTHERS = (
    "My sister retrained as an electrician.", "Corvane hired my brother.", "My brother went freelance.",
    "Mi hermana se ha reconvertido en electricista.", "A mi hermano le han contratado en Brisol.",
    "My sister's new number: 555 0199", "El nuevo número de mi hermana: 655 123 456",
    "New phone number of my sister: 555 0199", "My sister moved. New number: 555 0199",
    "My son turned 5 today.", "I turned 180 degrees.", "Mi hijo cumplió 5 años.", "Cumplí 3 horas de curso.",
    "New number: 555 0199 for the office", "Nuevo número: 555 0199 de la oficina",
)  # fmt: skip
NOT_SO = (
    "They almost hired me.", "Corvane almost hired me.", "If Corvane hired me, I'd move.",
    "I'd love to settle in Namur.", "We want to settle in Namur.", "I might retrain as an electrician.",
    "I used to work for myself.", "Casi me contratan en Brisol.", "Casi me contrata Brisol.",
    "Me gustaría instalarme en Namur.", "Quiero hacerme autónomo.", "Did Corvane hire me?",
)  # fmt: skip
OF_ELSE = (
    "Corvane hired me a car.", "Corvane hired me to paint a fence.", "Me contrataron un seguro en Brisol.",
    "Brisol me contrató un seguro.", "I freelance on the side.", "I'm working for myself at weekends too.",
    "We settled in the garden.", "I've settled in well.", "Me he instalado Linux.",
    "Me contrataron en Madrid.", "My company is based in Leeds.", "New order number: 555 0199 000.",
    "New number: 12", "New phone: a Nokia",
    "We're in Namur now.", "Ya estamos en Namur.", "We've moved on, we're in Namur now.",
    "We moved the meeting, we're in Room 4 now.",
)  # fmt: skip


@pytest.mark.parametrize(("texts", "expected"), TOLD)
def test_a_change_is_heard_in_each_of_its_wordings(
    texts: tuple[str, ...], expected: list[str]
) -> None:
    for text in texts:
        assert changes(extract(text)) == expected, text


@pytest.mark.parametrize("texts", [OF_OTHERS, NOT_SO, OF_ELSE])
def test_what_others_do_or_might_be_changes_nothing(
    texts: tuple[str, ...],
) -> None:
    for text in texts:
        assert extract(text).operations == Extraction().operations, text


@pytest.mark.parametrize(
    "text",
    [
        "I'm back at Corvane.",
        "I'm back at Corvane as a welder.",
        "I've gone back to Corvane.",
        "I went back to Corvane after all.",
        "I've rejoined Corvane.",
        "He vuelto a Corvane.",
    ],
)
def test_who_is_back_at_a_known_employer_works_there(
    tmp_path: Path, text: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    told = ("I work at Corvane.", "I left Corvane.", text)
    for number, said in enumerate(told, 1):
        memory.ingest(talk(number, said))
    block = memory.context("Where do I work?", user_id="u-1").text
    assert "employer: Corvane" in block
    assert not extract(text).operations


@pytest.mark.parametrize(
    "text",
    [
        "I'm back at work.",
        "I'm back at 5.",
        "I'm back at home.",
        "I'm back at Corvane for a meeting.",
        "I'm back at Corvane today.",
    ],
)
def test_a_return_that_is_no_work_is_none(text: str) -> None:
    found = extract(text)
    assert not found.operations
    assert not found.if_known
