"""The topics of texts without a model: words of substance, and pairs of them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise

from varve.domain.language.stems import stem_all
from varve.domain.language.stopwords import NO_TOPICS
from varve.domain.language.tokens import fold
from varve.domain.language.verbs import is_verb_form
from varve.domain.source_lines import SourceLine
from varve.domain.statements.texts.particulars import is_date_word

MAX_TOPICS = 8
MIN_AMOUNTS = 3
"""So many different figures stand before a unit, as in "5 km", "8 km" and "10 km"."""
_TERM = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")


def choose_topics(
    lines: Sequence[SourceLine], people: Iterable[str]
) -> tuple[str, ...]:
    """Return the words and word pairs of the heaviest lines; no two share a word.

    Forms of verbs, names of months and days, and units are none.
    """
    names = list_name_words(people) | _find_units(lines)
    weights: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for line in lines:
        for term in dict.fromkeys(_terms(line.sentence, names)):
            weights[term] += 0.5 + line.importance
            counts[term] += 1

    def score(term: str) -> float:
        rarity = math.log(1 + len(lines) / counts[term])
        factor = _pair_factor(term, counts[term])
        return round(factor * weights[term] * rarity, 6)

    return _without_overlap(sorted(weights, key=score, reverse=True))


def _pair_factor(term: str, count: int) -> float:
    """Return 1 for a word, more for a pair that recurs, less for one that does not."""
    if " " not in term:
        return 1.0
    return 1.5 if count > 1 else 0.5


def _terms(sentence: str, names: Container[str]) -> Iterator[str]:
    words: list[str] = []
    for word in _TERM.findall(sentence.lower()):
        is_named = _is_term(word) and word not in names
        is_term = is_named and not (is_verb_form(word) or _is_date(word))
        words.append(word if is_term else "")
    yield from filter(None, words)
    for first, second in pairwise(words):
        if first and second:
            yield f"{first} {second}"


def _find_units(lines: Iterable[SourceLine]) -> set[str]:
    """Return the words before most of which a figure stands, and several different ones."""
    amounts: defaultdict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for line in lines:
        said = _TERM.findall(line.sentence.lower())
        counts.update(said)
        for before, word in pairwise(said):
            if before[0].isdigit():
                amounts[word].append(before)
    return {
        word
        for word, figures in amounts.items()
        if len(set(figures)) >= MIN_AMOUNTS and len(figures) > counts[word] / 2
    }


def _is_date(word: str) -> bool:
    return is_date_word(fold(word))


def list_words(text: str, names: Container[str]) -> list[str]:
    """Return the words of a text that may be topics, in lower case, each once.

    Forms of verbs are none, as far as words and endings show them.
    """
    found = dict.fromkeys(_TERM.findall(text.lower()))
    terms = [word for word in found if _is_term(word) and word not in names]
    return [word for word in terms if not is_verb_form(word)]


def list_name_words(names: Iterable[str]) -> set[str]:
    """Return the words of persons' names, in lower case; they are no topics."""
    found: set[str] = set()
    for name in names:
        found.update(_TERM.findall(name.lower()))
    return found


def stem_topic(topic: str) -> frozenset[str]:
    """Return the stems of a topic's words; two forms of a word share one."""
    return stem_all(map(fold, topic.split()))


def _is_term(word: str) -> bool:
    return (
        2 < len(word) < 30
        and fold(word) not in NO_TOPICS
        and not word[0].isdigit()
    )


def _without_overlap(terms: Iterable[str]) -> tuple[str, ...]:
    """Return the first terms that share no word in any form, at most `MAX_TOPICS`."""
    used: set[str] = set()
    topics: list[str] = []
    for term in terms:
        own = stem_topic(term)
        if len(topics) < MAX_TOPICS and used.isdisjoint(own):
            used |= own
            topics.append(term)
    return tuple(topics)
