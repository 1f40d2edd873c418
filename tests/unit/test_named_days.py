"""A day of the year is the same one in each way of writing it."""

import pytest

from varve.domain.statements.pairs.named_days import names_day
from varve.domain.statements.pairs.sameness import names_value


@pytest.mark.parametrize(
    ("value", "named", "others"),
    [
        (
            "3 May",
            ["el 3 de mayo", "May 3rd", "the 3rd of May 1990", "May the 3rd"],
            ["el 13 de mayo", "May 30", "3 de marzo", "I may take 3", "mayo"],
        ),
        ("3 May 1990", ["el 3 de mayo", "May 3, 1990"], ["May 1990"]),
        ("Namur", [], ["el 3 de mayo"]),
    ],
)
def test_a_text_names_a_day_in_any_order_and_language(
    value: str, named: list[str], others: list[str]
) -> None:
    assert all(names_value(text, value) for text in named)
    assert not any(names_day(text, value) for text in others)
