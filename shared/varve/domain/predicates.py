"""Predicates of triples: their form, and those that have one value at a time."""

import re

SINGLE_VALUED = frozenset(
    {
        "lives_in", "works_at", "works_as", "name", "birthday", "age", "address", "email",
        "phone", "diet", "time_zone", "language", "pronouns", "married_to", "reports_to", "hometown",
        "studies_at",
    }
)  # fmt: skip
"""Predicates that have one value at a time: a newer value closes the one before it."""

FAVOURITE = "favourite_"
"""Begins the predicate of a favourite of one sort, such as `favourite_colour`."""


def is_single_valued(predicate: str) -> bool:
    """Return whether a newer value of the predicate closes the one before it."""
    return predicate in SINGLE_VALUED or predicate.startswith(FAVOURITE)


def name_predicate(label: str) -> str:
    """Return `LIVES_IN`, `livesIn`, `Lives in` and `lives-in` as `lives_in`.

    It is empty if the label has neither a letter nor a digit.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label)
    return re.sub(r"[\W_]+", "_", words).strip("_").lower()


def name_favourite(sort: str) -> str:
    """Return the predicate of the favourite of a sort: "ice cream"."""
    return FAVOURITE + "_".join(sort.casefold().split())
