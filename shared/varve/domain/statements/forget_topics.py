"""What the words of a request to forget name, and which sentences tell of it.

"Forget my salary" names a thing of its speaker's own, "forget where I live" a clause, "forget
that I was fired" a statement, and "forget what I told you about Ana" whatever is told of Ana.
"Forget me" and "delete everything you know about me" name all that is told of the speaker.
"Forget the therapist thing" means whatever is told of the therapist. "Forget it" and "forget
pizza" name nothing that memory hides.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

from varve.domain.extractive import sentences
from varve.domain.language.languages import Language, installed_languages
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.language.tokens import words
from varve.domain.statements.forget_requests import (
    Matters,
    Naming,
    any_of,
    list_tails,
    may_ask,
)
from varve.domain.statements.likeness import LEAST_LIKENESS
from varve.domain.statements.told_sentences import (
    ToldSentence,
    is_form,
    list_capitalized,
    split_words,
)

_JOINTS = re.compile(r"(?:,| (?:and|or|y|e|o|ni)) (?=\w)")
_POSSESSION = "s"
_REACH = 2
"""So many words may stand between "my" and its thing."""
_PLACE_REACH = 4
_FORMS = 2
"""So many first words of a statement must be the same: its subject and its verb."""
_SHORT = frozenset({"m", "ve", "d", "ll", "re", "s"})
"""The ends of contractions such as "I'm"."""


@dataclass(frozen=True)
class Topic:
    """What a request names.

    A sentence with the share `LEAST_LIKENESS` of its `words` may tell of it. `forms` are
    words that the sentence must have as they are. With `everything` the request means all
    that is told of it.
    """

    kind: Naming
    text: str
    language: "_Requests"
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
        if self.kind is Naming.SELF:
            return True
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
        asked = split_words(self.text)
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
        for place in range(at - 1, -1, -1):
            word = words[place]
            if self.language.own.fullmatch(word):
                return True
            if self.language.has.search(" ".join(words[: place + 1])):
                return True
            if self._names(word) or word in self.language.before:
                continue
            steps += 1
            if (
                self.language.is_empty(word)
                or word == _POSSESSION
                or steps > _REACH
            ):
                return False
        return False

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


class _Requests:
    """One language's requests to forget."""

    def __init__(self, language: Language) -> None:
        given = language.forgetting
        polite = any_of(given.polite)
        asks, erases = any_of(given.asks), any_of(given.erases)
        lead, memory = any_of(given.lead), any_of(given.memory)
        self._request = re.compile(
            rf"\W*(?:{polite}\b[,.!:]* )*(?:{asks}|(?P<erases>{erases}))\b"
            rf"(?:,? {lead}\b,?)*(?P<told>,? {any_of(given.told)}\b)?"
            rf"(?:,? {lead}\b,?)* (?P<body>.+?)(?P<memory> {memory}\b.*)?$"
        )
        trailing = rf"(?:,? {any_of(given.trailing)}\b)*"
        verbs = rf"(?:{asks}|{erases})(?:,? {lead}\b,?)*"
        self._self = re.compile(
            rf"\W*(?:{polite}\b[,.!:]* )*(?:{any_of(given.myself)}{trailing}\W*$"
            rf"|{verbs} {any_of(given.about_myself)}{trailing}"
            rf"(?:\W*$|[,;:.] (?!{any_of(given.spares)}\b)))"
        )
        self._matters = Matters(given)
        self._ends = re.compile(rf"\s?{any_of(given.ends)}.*$")
        self._own_thing = re.compile(rf"{any_of(given.own)} (?P<thing>.+)")
        self._asked_own = re.compile(any_of(given.asked_own))
        self._asked = re.compile(
            rf"{any_of(given.asked)}(?: {any_of(given.subject)}\b)"
            rf"{'?' if given.drops_subject else ''}(?P<rest>.+)"
        )
        self._states = re.compile(any_of(given.states))
        self._of_others = re.compile(any_of(given.of_others))
        lists = language.words
        self._empty = lists.stop_words | lists.courtesies
        self._personal = frozenset(given.personal)
        self._same = [frozenset(words.split()) for words in given.same]
        self.before = frozenset(given.before)
        self.passed_over = frozenset(given.adverbs)
        if not given.drops_subject:
            self.passed_over |= self._empty
        self._asking = re.compile(any_of(language.questions.asking))
        self.drops_subject = given.drops_subject
        self.own = re.compile(any_of(given.own))
        self.subject = re.compile(any_of(given.subject))
        owner = "" if given.drops_subject else rf"\b{any_of(given.subject)} "
        self.has = re.compile(rf"{owner}\b{any_of(given.has)}$")
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

    def read(self, sentence: str) -> Iterator[Topic]:
        """Yield what a sentence asks to forget."""
        text = fold_apostrophes(sentence)
        if self._self.match(text):
            yield Topic(Naming.SELF, text, self)
            return
        found = self._request.match(text)
        if found is None:
            return
        names = list_capitalized(sentence, 1)
        body, told = found["body"], bool(found["told"])
        topics = self._read_matter(body, sentence, names)
        topics = topics or list(self._read_body(body, names, told))
        if found["erases"] and not found["memory"]:
            # "Delete my draft" is said to an agent about another thing than its memory.
            topics = [
                one for one in topics if self._is_of_memory(one, is_told=told)
            ]
        yield from topics

    def _read_matter(
        self, body: str, sentence: str, names: frozenset[str]
    ) -> list[Topic]:
        matter = self._matters.find(body, sentence)
        topics = list(self._read_body(matter, names, is_everything=False))
        return topics or [
            Topic(Naming.ANY, piece, self, everything=True)
            for piece in filter(None, _JOINTS.split(matter))
        ]

    def _is_of_memory(self, topic: Topic, *, is_told: bool) -> bool:
        if is_told:
            return True
        # "My address from the letter" is a thing of the letter's.
        named = self.list_telling(topic.text)
        is_own = topic.kind is Naming.OWN
        return is_own and self._personal.issuperset(named[-1:])

    def _read_body(
        self, body: str, names: frozenset[str], is_everything: bool
    ) -> Iterator[Topic]:
        said = self._states.match(body)
        if said and not is_everything:
            yield self._read_statement(self._cut(said["said"]))
            return
        for piece in _JOINTS.split(self._cut(body)):
            topic = self._read_piece(piece.strip(), names, is_everything)
            if topic is not None:
                yield topic

    def _cut(self, body: str) -> str:
        return self._ends.sub("", body)

    def _read_statement(self, said: str) -> Topic:
        """Return a statement; a sentence that tells it has its subject and its verb."""
        first = split_words(said)[:_FORMS]
        # Of "I'm" and "I've" the second word may be written in full.
        forms = [word for word in first if word not in _SHORT]
        return Topic(Naming.STATEMENT, said, self, forms=tuple(forms))

    def _read_piece(
        self, piece: str, names: frozenset[str], is_everything: bool
    ) -> Topic | None:
        asked_own = self._asked_own.fullmatch(piece)
        thing = asked_own["own"] if asked_own else piece
        own = self._own_thing.fullmatch(thing)
        if own:
            return Topic(
                Naming.OWN, own["thing"], self, everything=is_everything
            )
        asked = self._asked.fullmatch(piece)
        if asked and not is_everything:
            return self._read_clause(asked)
        is_of_other = self._of_others.match(piece) and self._names_any(
            piece, names
        )
        if is_everything or is_of_other:
            return Topic(Naming.ANY, piece, self, everything=is_everything)
        return None

    def _names_any(self, text: str, names: frozenset[str]) -> bool:
        """Return whether a text has a name, and another telling word."""
        telling = set(self.list_telling(text))
        return not telling.isdisjoint(names) and not telling <= names

    def _read_clause(self, asked: re.Match[str]) -> Topic | None:
        groups = asked.groupdict()
        rest = asked["rest"].strip()
        verb = next(iter(self.list_telling(rest)), None)
        if verb is None:
            return None
        return Topic(
            Naming.CLAUSE,
            rest,
            self,
            forms=(verb,),
            place=bool(groups.get("where")),
            amount=bool(groups.get("amount")),
        )


@cache
def _list_requests() -> tuple[_Requests, ...]:
    return tuple(
        _Requests(language)
        for language in installed_languages()
        if language.forgetting.asks
    )


def read_topics(text: str) -> tuple[Topic, ...]:
    """Return what a message asks to forget; empty if it asks nothing of the kind."""
    if not may_ask(text):
        return ()
    topics: list[Topic] = []
    for sentence in sentences(text):
        beginnings = (sentence, *list_tails(sentence))
        for language in _list_requests():
            topics += _read_first(language, beginnings)
    return tuple(
        topic for topic in topics if topic.words or topic.kind is Naming.SELF
    )


def _read_first(language: _Requests, beginnings: Iterable[str]) -> list[Topic]:
    """Return what the first text that asks to forget something asks."""
    for text in beginnings:
        topics = list(language.read(text))
        if topics:
            return topics
    return []
