"""Days of the year that a text names in another way than a value: "May 3rd", "3 de mayo"."""

import re
from functools import lru_cache

from varve.domain.day_names import MONTHS
from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold

_VALUE = re.compile(rf"(\d{{1,2}}) ({'|'.join(MONTHS)})(?: \d{{4}})?", re.I)
_MAX_CACHED = 1_024


def names_day(text: str, value: str) -> bool:
    """Return whether a text names the day of a value such as "3 May 1990", in any language.

    The year may be left out: a birthday is one day of the year.
    """
    day = _compile_day(value)
    return day is not None and day.search(fold(text)) is not None


@lru_cache(maxsize=_MAX_CACHED)
def _compile_day(value: str) -> re.Pattern[str] | None:
    """Return the pattern of a day in folded text; None: the value is no day of a year."""
    found = _VALUE.fullmatch(value)
    if found is None:
        return None
    month = "|".join(_name_month(MONTHS.index(found[2].capitalize())))
    number = rf"0?{int(found[1])}(?:st|nd|rd|th)?"
    return re.compile(
        rf"(?<!\w)(?:{number},? (?:of |de )?(?:{month})|(?:{month}),? (?:the )?{number})(?!\w)"
    )


def _name_month(number: int) -> list[str]:
    """Return the names of a month, counted from 0, in all languages, folded."""
    names: list[str] = []
    for language in installed_languages():
        for months in (language.times.months, language.times.short_months):
            if months:
                names += map(fold, months[number])
    return names
