"""Words that are forms of verbs, as far as lists and endings tell; a noun is never one.

No tagger reads the text. A form that may be a noun as well, such as "visit", "hiking" or
"comida", counts as a noun.
"""

import re
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.stopwords import CHANGES, united
from varve.domain.language.tokens import fold


def is_verb_form(word: str) -> bool:
    """Return whether a word, in lower case and with its accents, is a form of a verb."""
    folded = fold(word)
    if folded in _not_verbs():
        return False
    return (
        folded in CHANGES
        or folded in _verbs()
        or _endings().fullmatch(word) is not None
    )


@cache
def _verbs() -> frozenset[str]:
    return united(installed_languages(), "verbs")


@cache
def _not_verbs() -> frozenset[str]:
    return united(installed_languages(), "not_verbs")


@cache
def _endings() -> re.Pattern[str]:
    endings = sorted(united(installed_languages(), "verb_endings"))
    return re.compile("|".join(endings))
