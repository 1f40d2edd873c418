"""What the words of a request to forget name, and which sentences tell of it.

"Forget my salary" names a thing of its speaker's own, "forget where I live" a clause, "forget
that I was fired" a statement, and "forget what I told you about Ana" whatever is told of Ana.
"Forget me" and "delete everything you know about me" name all that is told of the speaker.
"Forget the therapist thing" means whatever is told of the therapist. "Forget it" and "forget
pizza" name nothing that memory hides.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from varve.domain.extractive import sentences
from varve.domain.language.languages import Language, installed_languages
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.forget_requests import (
    Matters,
    Naming,
    any_of,
    list_tails,
    may_ask,
)
from varve.domain.statements.named_topics import Topic, TopicWords
from varve.domain.statements.told_sentences import (
    list_capitalized,
    split_words,
)

_JOINTS = re.compile(r"(?:,| (?:and|or|y|e|o|ni)) (?=\w)")
_FORMS = 2
"""So many first words of a statement must be the same: its subject and its verb."""
_SHORT = frozenset({"m", "ve", "d", "ll", "re", "s"})
"""The ends of contractions such as "I'm"."""


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
        self._personal = frozenset(given.personal)
        self._words = TopicWords(language)

    def read(self, sentence: str) -> Iterator[Topic]:
        """Yield what a sentence asks to forget."""
        text = fold_apostrophes(sentence)
        if self._self.match(text):
            yield Topic(Naming.SELF, text, self._words)
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
            Topic(Naming.ANY, piece, self._words, everything=True)
            for piece in filter(None, _JOINTS.split(matter))
        ]

    def _is_of_memory(self, topic: Topic, *, is_told: bool) -> bool:
        if is_told:
            return True
        # "My address from the letter" is a thing of the letter's.
        named = self._words.list_telling(topic.text)
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
        return Topic(Naming.STATEMENT, said, self._words, forms=tuple(forms))

    def _read_piece(
        self, piece: str, names: frozenset[str], is_everything: bool
    ) -> Topic | None:
        asked_own = self._asked_own.fullmatch(piece)
        thing = asked_own["own"] if asked_own else piece
        own = self._own_thing.fullmatch(thing)
        if own:
            return Topic(
                Naming.OWN, own["thing"], self._words, everything=is_everything
            )
        asked = self._asked.fullmatch(piece)
        if asked and not is_everything:
            return self._read_clause(asked)
        is_of_other = self._of_others.match(piece) and self._names_any(
            piece, names
        )
        if is_everything or is_of_other:
            return Topic(
                Naming.ANY, piece, self._words, everything=is_everything
            )
        return None

    def _names_any(self, text: str, names: frozenset[str]) -> bool:
        """Return whether a text has a name, and another telling word."""
        telling = set(self._words.list_telling(text))
        return not telling.isdisjoint(names) and not telling <= names

    def _read_clause(self, asked: re.Match[str]) -> Topic | None:
        groups = asked.groupdict()
        rest = asked["rest"].strip()
        verb = next(iter(self._words.list_telling(rest)), None)
        if verb is None:
            return None
        return Topic(
            Naming.CLAUSE,
            rest,
            self._words,
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
