"""Whether a correction gives a date or a number, of which an earlier text has none.

"Sorry, I meant 3 June" corrects a birthday, and leaves "I live in Bristol" as it is.
"""

from varve.domain.language.tokens import written_words
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import Particulars, count_shared

_MOST_WORDS = 6
"""A correction of no more words gives another value and tells nothing else."""


def corrects_value(told: Cues) -> bool:
    """Return whether a text corrects a day or a number: "sorry, I meant 5 pm".

    It answers who asks when or how much.
    """
    given = told.particulars
    return told.has("correcting") and bool(given.dates or given.numbers)


def corrects_day(told: Cues) -> bool:
    """Return whether a text corrects a day: "sorry, I meant Monday"."""
    return told.has("correcting") and bool(told.particulars.dates)


def corrects_another_value(earlier: str, later: str) -> bool:
    """Return whether the later text corrects a date or a number that the earlier one lacks."""
    after = read_cues(later)
    if not corrects_value(after):
        return False
    before = read_cues(earlier)
    given = after.particulars
    told = before.particulars
    if count_shared(given, told):
        return False
    if given.dates:
        return not _tells_day(told)
    if len(written_words(later)) > _MOST_WORDS:
        return False
    if before.topics and after.topics.isdisjoint(before.topics):
        return True
    return not (told.numbers or _tells_day(told))


def _tells_day(told: Particulars) -> bool:
    return bool(told.dates) or told.bound
