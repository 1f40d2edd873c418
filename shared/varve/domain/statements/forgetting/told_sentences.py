"""Sentences as requests to forget compare them: of their speaker, in the first person."""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice

from varve.domain.language.phrases import fold_apostrophes
from varve.domain.language.stems import stems
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import bare_words, fold, written_words
from varve.domain.statements.texts.cues import join_phrases
from varve.domain.statements.texts.particulars import is_date_word

MAX_CACHED_SENTENCES = 8_192
_GENDERS = {"a", "o"}


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """A sentence of a speaker in the first person: folded, and as words.

    It `asks` if it begins with a word that asks. `written` are the folded words with a capital
    letter, `names` those but for the first word.
    """

    text: str
    words: tuple[str, ...]
    asks: bool
    written: frozenset[str]
    names: frozenset[str]


@lru_cache(maxsize=MAX_CACHED_SENTENCES)
def read_sentence(text: str, speaker: str) -> ToldSentence:
    """Return a sentence of a speaker, or about a speaker by name, in the first person."""
    said = tell_own(text.removeprefix(f"{speaker}: "), speaker)
    folded = fold_apostrophes(said)
    asks = "?" in folded and _compile_asking().match(folded) is not None
    return ToldSentence(
        text=folded,
        words=tuple(bare_words(folded)),
        asks=asks,
        written=list_capitalized(said, 0),
        names=list_capitalized(said, 1),
    )


def tell_own(text: str, speaker: str) -> str:
    """Return a text in the first person, if it tells of its speaker by name."""
    from varve.domain.rules.own_name import (  # a search without a request needs no rules
        english_first_person,
        spanish_first_person,
    )

    if fold(speaker) not in fold(text):
        return text
    return spanish_first_person(english_first_person(text, speaker), speaker)


def list_values(text: str, speaker: str) -> frozenset[str]:
    """Return the folded figures and names of a text, but for its speaker's and days."""
    sentence = read_sentence(text, speaker)
    own = read_sentence(speaker, "").words
    figures = {word for word in sentence.words if _has_figure(word)}
    names = sentence.names - STOP_WORDS - set(own)
    return frozenset(figures | {one for one in names if not is_date_word(one)})


def has_any(text: str, values: Set[str], speaker: str) -> bool:
    """Return whether a text has any of these folded figures and names."""
    written = read_sentence(text, speaker).written
    return not values.isdisjoint(written | list_values(text, speaker))


def _has_figure(word: str) -> bool:
    return sum(map(str.isdecimal, word)) > 1


@cache
def _compile_asking() -> re.Pattern[str]:
    words = join_phrases(lambda language: language.questions.asking)
    return re.compile(rf"\W*(?:{words})\b")


def is_form(word: str, other: str) -> bool:
    """Return whether two folded words are forms of one, such as "live" and "lives".

    "Hija" is no form of "hijo".
    """
    if set(stems(word)).isdisjoint(stems(other)):
        return False
    first, second = word.rstrip("s"), other.rstrip("s")
    is_of_other_gender = {first[-1:], second[-1:]} == _GENDERS
    return not (is_of_other_gender and first[:-1] == second[:-1])


def list_capitalized(text: str, start: int) -> frozenset[str]:
    """Return the folded words that begin with a capital letter, from a place on."""
    written = islice(written_words(text), start, None)
    return frozenset(fold(word) for word in written if word[0].isupper())
