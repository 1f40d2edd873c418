"""Whether a later text confirms an earlier one, or only reminds of it."""

import re
from enum import Enum, auto
from functools import cache

from varve.domain.language.phrases import fold_apostrophes
from varve.domain.language.stems import stems
from varve.domain.language.tokens import words
from varve.domain.statements.pairs.sameness import SAME_COSINE, tell_difference
from varve.domain.statements.texts.cues import (
    GUARDS,
    Cues,
    compile_phrases,
    read_cues,
)
from varve.domain.statements.texts.particulars import (
    Particulars,
    TellingWord,
    collect_stems,
    count_shared,
    read_particulars,
)
from varve.domain.statements.texts.statement import Statement

_ARTICLES = frozenset({"el"})
"""Articles that are pronouns with an accent, so that folded both are one."""
_WHO = frozenset({"family", "partner", "people", "pets"})
"""Topics of who somebody is to the speaker."""
CONFIRMING = "confirming"
"""The list of `[changes]` whose phrases tell that a state goes on."""


class Again(Enum):
    """Whether two texts say the same: by their words; perhaps, as far as these show; no."""

    IN_WORDS = auto()
    PERHAPS = auto()
    NO = auto()


class Agreement(Enum):
    """What two messages both state: a value; only who somebody is, as "my son Leo"; nothing."""

    VALUE = auto()
    WHO = auto()
    NONE = auto()


def compare_tellings(earlier: Statement, later: Statement) -> Again:
    """Return whether the later statement says the earlier one again."""
    is_near = float(earlier.vector @ later.vector) >= SAME_COSINE
    if is_near and not tell_difference(
        earlier.text, later.text, same_day=False
    ):
        return Again.IN_WORDS
    if confirms_in_words(earlier.text, later.text):
        return Again.IN_WORDS
    if may_tell_the_same(earlier.cues, later.cues):
        return Again.PERHAPS
    return Again.NO


def confirms_in_words(earlier: str, later: str) -> bool:
    """Return whether a text says that what the earlier one states goes on.

    It has a word such as "still", nothing that the earlier one lacks, and no end.
    """
    before = read_cues(earlier)
    after = read_cues(later)
    if after.asks or not after.has(CONFIRMING):
        return False
    if _tells_nothing_firm(before) or _tells_nothing_firm(after):
        return False
    told = after.particulars
    known = before.particulars
    if (
        list_persons(after) != list_persons(before)
        or told.denials != known.denials
    ):
        return False
    return _hold(known, told) and _repeats_all(known, later)


def list_persons(cues: Cues) -> frozenset[str]:
    """Return the persons of a text, without "el": "el Ibiza" is no person."""
    return cues.persons - _ARTICLES


def _repeats_all(known: Particulars, later: str) -> bool:
    """Return whether a text has telling words besides "still", and all of them are known."""
    rest = read_particulars(_confirming().sub(" ", fold_apostrophes(later)))
    shared = count_shared(rest, known)
    return 0 < shared == len(rest.telling)


@cache
def _confirming() -> re.Pattern[str]:
    """Return the phrases of all languages by which a state goes on."""
    return compile_phrases(lambda language: language.changes.confirming)


def _tells_nothing_firm(cues: Cues) -> bool:
    return (
        cues.has("ending")
        or cues.has("coming")
        or any(cues.has(name) for name in GUARDS)
    )


def _hold(known: Particulars, told: Particulars) -> bool:
    """Return whether all numbers and dates that a text tells are known."""
    return set(told.numbers) <= set(known.numbers) and set(told.dates) <= set(
        known.dates
    )


def may_tell_the_same(earlier: Cues, later: Cues) -> bool:
    """Return whether two texts may state one value, as far as their words show.

    They share a word, and not each has a name or a number that the other lacks.
    """
    before = earlier.particulars
    after = later.particulars
    if later.asks or count_shared(after, before) == 0:
        return False
    if before.numbers and after.numbers and before.numbers != after.numbers:
        return False
    return not (_names_more(before, after) and _names_more(after, before))


def _names_more(one: Particulars, other: Particulars) -> bool:
    """Return whether a text has a name, behind its first telling word, that the other lacks."""
    known = collect_stems(other.telling)
    return any(_is_unknown(word, known) for word in one.telling[1:])


def _is_unknown(word: TellingWord, known: set[str]) -> bool:
    return word.named and word.stems.isdisjoint(known)


def only_reminds(cues: Cues) -> bool:
    """Return whether a text is about remembering something and tells no change."""
    return cues.has("reminding") and not cues.tells_change


def says_again(
    agreement: Agreement, earlier: Statement, later: Statement
) -> bool:
    """Return whether a later text says an earlier one again, by what both state.

    "My sister Jule is a vegetarian" says again that "my sister is called Jule", and not that
    "my sister Jule lives in Hamburg".
    """
    if agreement is not Agreement.WHO:
        return agreement is Agreement.VALUE
    known = collect_stems(later.cues.particulars.telling)
    missing = collect_stems(
        word
        for word in earlier.cues.particulars.telling
        if word.stems.isdisjoint(known)
    )
    topics = later.cues.topics & _WHO | {"naming"}
    return all(
        read_cues(word).topics & topics
        for word in words(fold_apostrophes(earlier.text))
        if not missing.isdisjoint(stems(word))
    )
