"""The signals of two statements found, which tell whether the later one supersedes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from varve.domain.statements.pairs.other_matters import list_own_topics
from varve.domain.statements.pairs.superseding import (
    have_both,
    measure_bars,
    measure_likeness,
    relate,
    tells_nothing_own,
)
from varve.domain.statements.questions.asked_weights import MANY_OF_PAIRS
from varve.domain.statements.questions.asking import Asking
from varve.domain.statements.questions.row_signals import (
    SHORT_WORDS,
    count_words,
    measure_many,
)
from varve.domain.statements.texts.cues import MAX_CACHED_TEXTS, Cues
from varve.domain.statements.texts.particulars import count_shared
from varve.domain.statements.texts.statement import Statement
from varve.domain.statements.texts.wording import read_wording

MOST_SHARED = 3
_NUMBER = re.compile(r"\d[\d:.,-]*")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Rival:
    """What a statement has in common with a later one: telling words, a topic of its own."""

    cosine: float
    words: int
    shares_topic: bool


def compare_rival(earlier: Statement, later: Statement) -> Rival:
    """Return what an earlier statement has in common with a later one."""
    before = earlier.cues
    after = later.cues
    return Rival(
        cosine=float(earlier.vector @ later.vector),
        words=count_shared(after.particulars, before.particulars),
        shares_topic=bool(list_own_topics(after) & before.topics),
    )


@dataclass(frozen=True, slots=True)
class Rivals:
    """What else a later statement may supersede, beside the earlier one of a pair.

    `own` is the earlier one, `others` are the other earlier statements found. `share` is how
    much better the earlier one fits the question than the later one, by their scores.
    """

    own: Rival
    others: Sequence[Rival]
    share: float


def measure_pair(
    asking: Asking, earlier: Statement, later: Statement, rivals: Rivals
) -> dict[str, float]:
    """Return the signals of a pair; "odds", those of the later one, are left at 0."""
    before = earlier.cues
    after = later.cues
    wording = read_wording(later.text)
    cosine = max(0.0, rivals.own.cosine)
    words = measure_likeness(before, after)["words"]
    is_same_talk = earlier.conversation == later.conversation
    signals = {
        "bias": 1.0,
        "odds": 0.0,
        "cosine": cosine,
        "words": words,
        "change": float(after.tells_change),
        "changing": wording.changing,
        "telling": wording.telling,
        "changed": read_wording(earlier.text).changing,
        "name": float(after.tells_name),
        "names": float(before.tells_name and after.tells_name),
        "numbers": have_both(
            before.particulars.numbers, after.particulars.numbers
        ),
        "same talk": float(is_same_talk),
        "continues": float(later.position > 0 and not is_same_talk),
        **measure_bars(before, after),
        "nothing own": float(tells_nothing_own(before, after)),
        "crowd": asking.crowd,
        "crowd cosine": asking.crowd * cosine,
        "crowd words": asking.crowd * words,
        "crowd changing": asking.crowd * wording.changing,
        "past": float(asking.is_past),
        **_measure_distance(asking, before, after),
        **_measure_short(earlier, later, rivals),
        **_measure_rivals(asking, before, after, rivals),
        **_measure_numbers(earlier.text, later.text),
    }
    return signals | measure_many(asking, signals, MANY_OF_PAIRS)


def _measure_distance(
    asking: Asking, before: Cues, after: Cues
) -> dict[str, float]:
    """Return how two texts are apart: they share no topic and no word that tells one.

    "We switched flour to Paulus Bio" leaves an allergy as it is, whichever of the two
    the question is about.
    """
    is_apart = not relate(before, after)
    is_asked_before = is_apart and relate(asking.cues, before)
    is_asked_after = is_apart and relate(asking.cues, after)
    return {
        "apart": float(is_apart),
        "apart before": float(is_asked_before and not is_asked_after),
        "apart after": float(is_asked_after and not is_asked_before),
        "apart change": float(is_apart and after.tells_change),
    }


def _measure_short(
    earlier: Statement, later: Statement, rivals: Rivals
) -> dict[str, float]:
    """Return what shows that two short texts, which name their matters, are of one or of two."""
    sizes = (count_words(earlier.text), count_words(later.text))
    short = float(max(sizes) <= SHORT_WORDS)
    after = later.cues
    own = rivals.own
    is_correction = after.has("correcting")
    is_explained = not is_correction and _are_nearer(rivals)
    apart = float(not own.words and not own.shares_topic)
    return {
        "shared words": min(own.words, MOST_SHARED) / MOST_SHARED,
        "of two matters": apart,
        "correcting": float(is_correction),
        "short apart": short * apart,
        "short change": short * after.tells_change,
        "short explained": short * is_explained,
    }


def _are_nearer(rivals: Rivals) -> bool:
    """Return whether another statement has a word, or topic, of the later one, and this has none."""
    own = rivals.own
    others = rivals.others
    if not own.words and any(one.words for one in others):
        return True
    return not own.shares_topic and any(one.shares_topic for one in others)


def _measure_rivals(
    asking: Asking, before: Cues, after: Cues, rivals: Rivals
) -> dict[str, float]:
    """Return how close two statements are beside the other pairs, and to the question."""
    cosine = rivals.own.cosine
    best = max((one.cosine for one in rivals.others), default=cosine)
    words = asking.words
    return {
        "closest": float(cosine > best),
        "less close": max(0.0, best - cosine),
        "alone": float(not rivals.others),
        "closed": float(not asking.is_open),
        "share lost": rivals.share,
        "words lost": max(0, words.count(before) - words.count(after))
        / words.size,
    }


def _measure_numbers(earlier: str, later: str) -> dict[str, float]:
    """Return whether two texts have numbers of one form, as two times of day, or of others."""
    before = _read_forms(earlier)
    after = _read_forms(later)
    is_alike = not before.isdisjoint(after)
    return {
        "numbers alike": float(is_alike),
        "other numbers": float(bool(before and after) and not is_alike),
    }


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _read_forms(text: str) -> frozenset[str]:
    """Return the numbers of a text with 0 for each digit: "at 9:30" has "0:00"."""
    return frozenset(_DIGIT.sub("0", one) for one in _NUMBER.findall(text))
