"""Names in small letters are read where the words are clearly of a name, and nowhere else."""

import pytest

from tests.unit.test_rules import changes, extract
from varve.domain.rules.capitals import restore_capitals

STATED = [
    ("im priya", "UPDATE Dana name Priya"),
    ("Im priya", "UPDATE Dana name Priya"),
    ("i'm priya, just moved to bristol", "UPDATE Dana name Priya"),
    ("soy marta, vivo en vigo", "UPDATE Dana name Marta"),
    ("my boyfriend tom", "ADD Dana has_partner Tom"),
    ("My boyfriend tom and I have a cat", "ADD Dana has_partner Tom"),
    ("my boyfriend's called tom", "ADD Dana has_partner Tom"),
    ("my sister grace lives in york", "UPDATE Grace lives_in York"),
    ("mi hermana lucía vive en gijón", "UPDATE Lucía lives_in Gijón"),
    ("mi novio pablo y yo", "ADD Dana has_partner Pablo"),
    ("mi perro toby", "ADD Dana has_pet Toby"),
]
OTHERS = """
im tired
i'm vegan
my boyfriend works
my boyfriend works nights
my sister lives
my sister lives in a flat
my sister really loves cats
my little brother lives in a flat
my son will be three
my mom cooks well
mi hermana mayor vive en un piso
mi hermana también vive en un piso
mi novio trabaja de noche
soy vegana
i love tom ford perfumes
files of jack.smith
hay luna llena y la luna
mail me at tom@example.org
My friend likes Leeds and my boyfriend tom
"""


@pytest.mark.parametrize(("said", "change"), STATED)
def test_a_name_in_small_letters_is_read(said: str, change: str) -> None:
    assert change in changes(extract(said))


def test_other_words_keep_their_small_letters() -> None:
    for said in OTHERS.strip().splitlines():
        assert restore_capitals(said) == said
