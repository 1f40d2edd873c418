"""A matter that a speaker names, and whether a sentence tells of it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from varve.domain.language.languages import Language
from varve.domain.language.phrases import any_of
from varve.domain.language.tokens import bare_words, words
from varve.domain.statements.forgetting.requests import Naming
from varve.domain.statements.forgetting.told_sentences import (
    ToldSentence,
    is_form,
)
from varve.domain.statements.pairs.likeness import LEAST_LIKENESS

_POSSESSION = "s"
_REACH = 2
"""So many words may stand between "my" and its thing."""
_PLACE_REACH = 4


@dataclass(frozen=True)
class Topic:
    """What a request names.

    A sentence with the share `LEAST_LIKENESS` of its `words` may tell of it. `forms` are
    words that the sentence must have as they are. With `everything` the request means all
    that is told of it.
    """

    kind: Naming
    text: str
    language: "TopicWords"
    forms: tuple[str, ...] = ()
    place: bool = False
    amount: bool = False
    everything: bool = False

    @cached_property
    def words(self) -> tuple[frozenset[str], ...]:
        """Each telling word, with those that mean the same."""
        telling = self.language.list_telling(self.text)
        return tuple(map(self.language.find_same, telling))

    def is_told_in(self, sentence: ToldSentence) -> bool:
        """Return whether a sentence of the request's speaker tells of it."""
        if self.kind in (Naming.SELF, Naming.TOLD):
            return self.kind is Naming.SELF
        if sentence.asks and not self.everything:
            return False
        if self._tells_otherwise(sentence):
            return True
        if not self.words or self._likeness(sentence) < LEAST_LIKENESS:
            return False
        if self.amount and not any(map(str.isdecimal, sentence.text)):
            return False
        return self._is_of_kind(sentence)

    @property
    def may_be_of_talk(self) -> bool:
        """Whether it is also said to persons: "forget about Pablo", "forget what I said"."""
        return self.kind in (Naming.PERSON, Naming.TOLD)

    @property
    def states(self) -> bool:
        """Whether the request itself says what it asks to forget."""
        return self.kind is Naming.STATEMENT

    def list_names(self, sentence: ToldSentence) -> Iterator[str]:
        """Yield the names that a sentence about it gives to it: "my son Leo", "called Leo"."""
        for word, after in pairwise(sentence.words):
            if after in sentence.names and self._names(word):
                yield after
        for found in self.language.naming.finditer(sentence.text):
            name = found[found.lastindex or 0]
            if name in sentence.names:
                yield name

    def _is_of_kind(self, sentence: ToldSentence) -> bool:
        if self.kind is Naming.OWN:
            return self._is_owned(sentence.words)
        if self.kind is Naming.CLAUSE:
            return self._has_clause(sentence.words)
        if self.kind is Naming.STATEMENT:
            return self._is_stated(sentence)
        return True

    def _tells_otherwise(self, sentence: ToldSentence) -> bool:
        """Return whether the sentence tells of it in other words."""
        if self.kind not in (Naming.OWN, Naming.CLAUSE):
            return False
        named = " ".join(self.language.list_telling(self.text))
        pattern = self.language.tells.get(named)
        return (
            pattern is not None and pattern.search(sentence.text) is not None
        )

    def _likeness(self, sentence: ToldSentence) -> float:
        found = sum(
            any(_is_any_form(word, one) for word in sentence.words)
            for one in self.words
        )
        return found / len(self.words)

    def _is_stated(self, sentence: ToldSentence) -> bool:
        asked = bare_words(self.text)
        found = sum(
            any(is_form(word, one) for word in sentence.words) for one in asked
        )
        is_alike = found / len(asked) >= LEAST_LIKENESS
        return is_alike and set(self.forms) <= set(sentence.words)

    def _is_owned(self, words: Sequence[str]) -> bool:
        """Return whether a word of the thing is the speaker's own in a sentence."""
        return any(
            self._names(word) and self._has_owner(words, at)
            for at, word in enumerate(words)
        )

    def _names(self, word: str) -> bool:
        return any(_is_any_form(word, one) for one in self.words)

    def _has_owner(self, words: Sequence[str], at: int) -> bool:
        """Return whether "my" or "I have" stands right before a word."""
        steps = 0
        has_article = False
        for place in range(at - 1, -1, -1):
            word = words[place]
            # "My sister wants a dog" tells of none of the speaker's own.
            if self.language.own.fullmatch(word) and not has_article:
                return True
            if self.language.has.search(" ".join(words[: place + 1])):
                return True
            if word in self.language.articles:
                has_article = True
            elif not self._names(word) and word not in self.language.joins:
                steps += 1
                if steps > _REACH or self._ends_search(word):
                    return False
        return False

    def _ends_search(self, word: str) -> bool:
        return self.language.is_empty(word) or word == _POSSESSION

    def _has_clause(self, words: Sequence[str]) -> bool:
        """Return whether the speaker is the subject of the clause's verb in a sentence."""
        return any(
            self._is_verb(words, at) and self._has_place(words[at + 1 :])
            for at in range(len(words))
        )

    def _is_verb(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word is the clause's verb, and the speaker its subject."""
        passed_over = self.language.passed_over
        if self.language.drops_subject:
            is_first = at == 0 or words[at - 1] in passed_over
            return is_first and words[at] in self.forms
        if not any(is_form(words[at], form) for form in self.forms):
            return False
        for place in range(at - 1, -1, -1):
            if self.language.subject.fullmatch(words[place]):
                return not self.language.asks(words[max(0, place - 1)])
            if words[place] not in passed_over:
                return False
        return False

    def _has_place(self, after: Sequence[str]) -> bool:
        if not self.place:
            return True
        near = after[:_PLACE_REACH]
        return any(map(self.language.place.fullmatch, near))


def _is_any_form(word: str, names: Iterable[str]) -> bool:
    return any(is_form(word, name) for name in names)


class TopicWords:
    """One language's words that show whose a named matter is, and what means the same."""

    def __init__(self, language: Language) -> None:
        given = language.forgetting
        lists = language.words
        self._empty = lists.stop_words | lists.courtesies
        self._same = [frozenset(words.split()) for words in given.same]
        self._asking = re.compile(any_of(language.questions.asking))
        self.articles = frozenset(given.articles)
        self.joins = frozenset(given.joins)
        self.passed_over = frozenset(given.adverbs)
        if not given.drops_subject:
            self.passed_over |= self._empty
        self.drops_subject = given.drops_subject
        self.own = re.compile(any_of(given.own))
        self.subject = re.compile(any_of(given.subject))
        owner = "" if given.drops_subject else rf"\b{any_of(given.subject)} "
        self.has = re.compile(rf"{owner}\b{any_of(given.has)}$")
        self.theirs = frozenset(language.changes.theirs)
        self.being = frozenset(given.being)
        self.place = re.compile(any_of(given.place))
        self.naming = re.compile(rf"\b{any_of(given.naming)}")
        self.tells = {
            word: re.compile(rf"\b{any_of(patterns)}")
            for word, patterns in given.tells.items()
        }

    def asks(self, word: str) -> bool:
        """Return whether a clause that begins with a folded word asks."""
        return self._asking.fullmatch(word) is not None

    def is_empty(self, word: str) -> bool:
        """Return whether a folded word carries no meaning."""
        return word in self._empty

    def list_telling(self, text: str) -> list[str]:
        """Return the words that carry meaning in this language, each once.

        "Son" carries none in Spanish.
        """
        telling = [word for word in words(text) if word not in self._empty]
        return list(dict.fromkeys(telling))

    def find_same(self, word: str) -> frozenset[str]:
        """Return a word and those that mean the same."""
        found = {word}
        for group in self._same:
            if word in group:
                found |= group
        return frozenset(found)
