"""Predicates of triples that have one value at a time."""

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


def name_favourite(sort: str) -> str:
    """Return the predicate of the favourite of a sort: "ice cream"."""
    return FAVOURITE + "_".join(sort.casefold().split())
