"""The particulars of a sentence: what makes it say something else than nearly the same words.

A vector of a sentence hardly changes when "not", a figure, a day or a name does. These are
therefore compared word by word.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from varve.domain.language.languages import installed_languages, merge_times
from varve.domain.language.named_words import find_names
from varve.domain.language.qualifiers import find_qualifiers
from varve.domain.language.spelling import restore_apostrophes
from varve.domain.language.stems import stem_all, stems
from varve.domain.language.stopwords import (
    CHANGES,
    COURTESIES,
    DENIALS,
    NO_TOPICS,
    STOP_WORDS,
)
from varve.domain.language.timemarks import tells_time
from varve.domain.language.tokens import fold, written_words
from varve.domain.language.vocabulary import YEAR, Vocabulary, read_vocabulary

MAX_CACHED_SENTENCES = 8_192
_LABEL = re.compile(
    r"^\W*(?:user|assistant|system|human|usuario|asistente)\s*:", re.IGNORECASE
)
"""The label of a speaker without a name."""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|º|ª)")
_VERSION = re.compile(r"v(?=\d)")
_YEAR = re.compile(rf"(?<!\d)(?:{YEAR})(?!\d)")
_SYMBOLS = frozenset("%#&@")
_SYMBOL_CATEGORIES = frozenset({"Sc", "Sm", "So"})
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class TellingWord:
    """A word that carries meaning: its stems, and whether it is written as a name."""

    stems: frozenset[str]
    named: bool


@dataclass(frozen=True, slots=True)
class Particulars:
    """What a sentence must share with another one to say the same.

    `numbers`, `dates` and `telling` are in the sentence's order, each once. `symbols` tell
    "C#" from "C++" and dollars from euros. `denials` counts words such as "not";
    `qualifiers` are words such as "before", "might" and "was". `bound` means that the
    meaning depends on the day it is said, as that of "last Friday" does.
    """

    numbers: tuple[str, ...]
    symbols: tuple[str, ...]
    dates: tuple[str, ...]
    telling: tuple[TellingWord, ...]
    denials: int
    qualifiers: frozenset[str]
    asks: bool
    bound: bool


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def read_particulars(text: str) -> Particulars:
    """Return the particulars of a sentence in any of the installed languages."""
    sentence = restore_apostrophes(_LABEL.sub("", text))
    written = written_words(sentence)
    names = find_names(sentence)
    folded = [word if word in names else fold(word) for word in written]
    numbers: dict[str, None] = {}
    dates: dict[str, None] = {}
    telling: dict[frozenset[str], TellingWord] = {}
    for word, plain in zip(written, folded, strict=True):
        number = _read_number(fold(plain))
        date = _find_date(fold(plain))
        if number:
            numbers[number] = None
        elif date:
            dates[date] = None
        elif _is_telling(plain):
            kinds = frozenset(stems(plain))
            telling.setdefault(kinds, TellingWord(kinds, _is_named(word)))
    return Particulars(
        numbers=tuple(numbers),
        symbols=_find_symbols(sentence),
        dates=tuple(dates),
        telling=tuple(telling.values()),
        denials=_count_denials(folded),
        qualifiers=find_qualifiers(written),
        asks=any(mark in sentence for mark in _QUESTION_MARKS),
        bound=_is_bound_to_day(sentence),
    )


def find_difference(one: Particulars, other: Particulars) -> str | None:
    """Return what tells two sentences apart, such as "number"; None: nothing does.

    The words are: number, symbol, date, name, negation, condition, question, order, words.
    """
    checks = (
        ("number", one.numbers == other.numbers),
        ("symbol", one.symbols == other.symbols),
        ("date", one.dates == other.dates),
        ("negation", one.denials == other.denials),
        ("condition", one.qualifiers == other.qualifiers),
        ("question", one.asks == other.asks),
        ("name", _have_same_names(one, other)),
        ("words", _adds_nothing(one, other) or _adds_nothing(other, one)),
        ("order", _have_same_order(one.telling, other.telling)),
    )
    for name, is_equal in checks:
        if not is_equal:
            return name
    return None


def _have_same_names(one: Particulars, other: Particulars) -> bool:
    """Return whether both have the same names in the same order.

    A word that only one of them writes as a name, such as the first of a sentence, is a
    name in both.
    """
    named: set[str] = set()
    for word in (*one.telling, *other.telling):
        if word.named:
            named |= word.stems
    first = [word for word in one.telling if word.stems & named]
    second = [word for word in other.telling if word.stems & named]
    return len(first) == len(second) and _match_in_order(first, second)


def _adds_nothing(one: Particulars, other: Particulars) -> bool:
    """Return whether every telling word of the first sentence is in the other."""
    return count_shared(one, other) == len(one.telling)


def _have_same_order(
    one: Sequence[TellingWord], other: Sequence[TellingWord]
) -> bool:
    """Return whether the words that both have stand in the same order."""
    stems_of_one = collect_stems(one)
    stems_of_other = collect_stems(other)
    first = [word for word in one if word.stems & stems_of_other]
    second = [word for word in other if word.stems & stems_of_one]
    return _match_in_order(first, second)


def _match_in_order(
    one: Sequence[TellingWord], other: Sequence[TellingWord]
) -> bool:
    pairs = zip(one, other, strict=False)
    return all(first.stems & second.stems for first, second in pairs)


def collect_stems(words: Iterable[TellingWord]) -> set[str]:
    """Return the stems of all these words."""
    found: set[str] = set()
    for word in words:
        found |= word.stems
    return found


def count_shared(one: Particulars, other: Particulars) -> int:
    """Return how many telling words of the first sentence the other has, in some form."""
    known = collect_stems(other.telling)
    return sum(not word.stems.isdisjoint(known) for word in one.telling)


def _read_number(word: str) -> str:
    """Return a number, code or version in its usual form; "" if the word is none."""
    if any(character.isdigit() for character in word):
        plain = _VERSION.sub("", word)
        ordinal = _ORDINAL.fullmatch(plain)
        return ordinal[1] if ordinal else plain
    number = _vocabulary()["n"].get(word, "")
    is_article = number == "1"
    return "" if is_article or word in STOP_WORDS else number


def _find_symbols(sentence: str) -> tuple[str, ...]:
    return tuple(filter(_is_symbol, sentence))


def _is_symbol(character: str) -> bool:
    if character.isalnum() or character.isspace():
        return False
    category = unicodedata.category(character)
    return character in _SYMBOLS or category in _SYMBOL_CATEGORIES


def is_date_word(word: str) -> bool:
    """Return whether a folded word names a month or a day of the week."""
    return bool(_find_date(word))


def _find_date(word: str) -> str:
    """Return `month 3` or `weekday 0` for the name of one; "" for another word."""
    for kind in ("month", "weekday"):
        number = _vocabulary()[kind].get(word)
        if number:
            return f"{kind} {number}"
    return ""


def _is_telling(word: str) -> bool:
    return (
        word not in STOP_WORDS
        and word not in COURTESIES
        and word not in DENIALS
    )


def _is_named(word: str) -> bool:
    """Return whether a word begins with a capital letter.

    Scripts without case show no names, so that each of their words may be one.
    """
    first = word[0]
    return first.isalpha() and not first.islower()


def _count_denials(words: Sequence[str]) -> int:
    """Count the words that deny; a first "no" answers a question and denies nothing."""
    count = sum(word in DENIALS for word in words)
    answers = bool(words) and words[0] == "no"
    return count - answers if count > 1 else count


def _is_bound_to_day(sentence: str) -> bool:
    if _YEAR.search(sentence):
        return False
    without_months = _month_names().sub(" ", sentence.casefold())
    return tells_time(without_months)


@cache
def _vocabulary() -> Vocabulary:
    times = merge_times(language.times for language in installed_languages())
    return read_vocabulary(times)


@cache
def _month_names() -> re.Pattern[str]:
    names = "|".join(map(re.escape, _vocabulary()["month"]))
    return re.compile(rf"\b(?:{names})\b")


def names_date(text: str, day: str) -> bool:
    """Return whether a text names the month and the day of an ISO date."""
    told = read_particulars(text)
    _, month, number = day.split("-")
    is_month = f"month {int(month)}" in told.dates
    return day in told.numbers or (
        is_month and str(int(number)) in told.numbers
    )


def read_stems(text: str) -> set[str]:
    """Return the stems of a text's telling words."""
    return collect_stems(read_particulars(text).telling)


def list_shared(one: Particulars, other: Particulars) -> set[str]:
    """Return the stems that two texts share of the words that tell what they are about."""
    shared = collect_stems(one.telling) & collect_stems(other.telling)
    return shared - list_any_matter()


@cache
def list_any_matter() -> frozenset[str]:
    """Return the stems of the words that are told of any matter."""
    return stem_all(NO_TOPICS | CHANGES)
