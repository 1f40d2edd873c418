"""Whose matter a statement tells, where a query names one's own (issue 17, number 12)."""

from __future__ import annotations

import pytest

from varve.domain.statements.forgetting.own_matters import is_of_others
from varve.domain.statements.forgetting.topics import read_own_topics


def tells_of_others(query: str, text: str) -> bool:
    """Return whether a text is left out where Dana's own matter is named."""
    topics = read_own_topics(query)
    return bool(topics) and is_of_others(topics, text, ["Dana"])


OTHERS = [
    ("my dog", "Eva's dog is called Bruno."),
    ("my dog", "Eva's big dog barks."),
    ("my dog", "Eva has a dog called Momo."),
    ("my dog", "My sister wants a dog."),
    ("my dog", "My neighbour's dog barks all night."),
    ("my dog", "Her dog is ill."),
    ("my dog", "The dog of my boss bites."),
    ("where I live", "My sister lives in Oslo."),
    ("where I live", "Ana lives in Rome."),
    ("where I live", "He lives near the station."),
    ("my salary", "My boss's salary is 90000 euros."),
    ("my salary", "My brother has a salary of 30000."),
    ("my phone number", "Ana's phone number is 600 123 456."),
    ("my phone number", "Ana phone: 600 123 456"),
    ("my allergy", "My son is allergic to cats."),
    ("my birthday", "Leo's birthday is on May 4."),
    ("what I'm allergic to", "My son's allergic to cats."),
    ("who I'm dating", "My sister is dating Pablo."),
    ("that I was fired", "My brother was fired in May."),
    ("my sister", "Eva's sister lives in Rome."),
    ("mi perro", "El perro de Eva se llama Bruno."),
    ("mi perro", "Eva tiene un perro que se llama Momo."),
    ("mi perro", "El perro de mi vecina ladra."),
    ("mi perro", "Su perro está malo."),
    ("dónde vivo", "Mi hermana vive en Sevilla."),
    ("dónde vivo", "Ana vive en Roma."),
    ("dónde vivo", "En Sevilla vive mi hermana."),
    ("mi sueldo", "El sueldo de mi jefe es de 4000 euros."),
    ("mi sueldo", "Mi jefe tiene un sueldo de 4000 euros."),
    ("mi teléfono", "El teléfono de Ana es el 600 123 456."),
    ("mi alergia", "Mi hijo es alérgico al polen."),
    ("a qué soy alérgico", "Mi hijo es alérgico al polen."),
    ("mi hermana", "La hermana de Eva vive en Roma."),
]
OWN = [
    ("my dog", "My dog is called Rex."),
    ("my dog", "Dana's dog is called Rex."),
    ("my dog", "My dog bit Eva's dog."),
    ("my dog", "I've got a dog and a cat."),
    ("my dog", "The dog needs his shots in May."),
    ("my dog", "I walk the dog with Eva."),
    ("my dog", "Eva looks after the dog in May."),
    ("my dog", "Rex is a dog."),
    ("my dog", "Dog food costs 40 euros a month."),
    ("my dog", "Eva and I have a dog."),
    ("my dog", "Eva gave me a dog."),
    ("my dog", "Eva's dog is old. My dog is young."),
    ("where I live", "I live in Kiel."),
    ("where I live", "Dana lives in: Kiel"),
    ("where I live", "I live with my sister in Bonn."),
    ("where I live", "My sister and I live in Bonn."),
    ("my sister", "My sister lives in Oslo."),
    ("my sister", "My sister's dog bites."),
    ("my boss's salary", "My boss's salary is 90000 euros."),
    ("my salary", "The salary went up to 52000."),
    ("my allergy", "Dana is allergic to peanuts."),
    ("my phone number", "Dana phone: +49 431 555 0199"),
    ("what I'm allergic to", "I'm allergic to peanuts, and my son is not."),
    ("mi perro", "Mi perro se llama Toby."),
    ("mi perro", "El perro de Dana se llama Toby."),
    ("mi perro", "Saco al perro a las seis."),
    ("mi perro", "Toby es un perro."),
    ("mi perro", "Eva y yo tenemos un perro."),
    ("dónde vivo", "Vivo en Gijón."),
    ("dónde vivo", "Vivo con mi hermana en Gijón."),
    ("dónde vivo", "Con Eva vivo en Gijón."),
    ("dónde vivo", "Dana vive en Gijón."),
    ("mi sueldo", "El sueldo ha subido a 2300 euros."),
    ("mi hermana", "Mi hermana vive en Sevilla."),
    ("a qué soy alérgico", "Soy alérgico a las nueces."),
    ("Eva's dog", "Eva's dog is called Bruno."),
    ("where my sister lives", "My sister lives in Oslo."),
    ("dónde vive mi hermana", "Mi hermana vive en Sevilla."),
    ("the dog", "Eva's dog is called Bruno."),
]


@pytest.mark.parametrize(("query", "text"), OTHERS)
def test_a_query_for_ones_own_leaves_out_another_ones(
    query: str, text: str
) -> None:
    assert tells_of_others(query, text)


@pytest.mark.parametrize(("query", "text"), OWN)
def test_a_query_for_ones_own_keeps_what_may_be_ones_own(
    query: str, text: str
) -> None:
    assert not tells_of_others(query, text)
