"""The patterns of one language by which a request names what to forget."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from varve.domain.language.languages import Language
from varve.domain.language.phrases import any_of, fold_apostrophes
from varve.domain.language.timemarks import leave_out_times
from varve.domain.language.tokens import bare_words
from varve.domain.language.verbs import is_verb_form
from varve.domain.statements.forgetting.named_topics import Topic, TopicWords
from varve.domain.statements.forgetting.requests import (
    Matters,
    Naming,
    Passives,
    begin_politely,
    end_trailing,
)
from varve.domain.statements.forgetting.told_sentences import list_capitalized
from varve.domain.statements.forgetting.wholes import Wholes
from varve.domain.statements.texts.cues import read_cues

_JOINTS = re.compile(r"(?:,| (?:and|or|y|e|o|ni)) (?=\w)")
_JOINT = re.compile(r"^(?:and|or|y|e|o|ni) ")
_FORMS = 2
"""So many first words of a statement must be the same: its subject and its verb."""
NO_NAMES: frozenset[str] = frozenset()
_SHORT = frozenset({"m", "ve", "d", "ll", "re", "s"})
"""The ends of contractions such as "I'm"."""


class RequestPatterns:
    """One language's requests to forget."""

    def __init__(self, language: Language) -> None:
        given = language.forgetting
        polite = begin_politely(given)
        asks, erases = any_of(given.asks), any_of(given.erases)
        lead, memory = any_of(given.lead), any_of(given.memory)
        self._request = re.compile(
            rf"{polite}(?:{asks}|(?P<erases>{erases}))\b"
            rf"(?:,? {lead}\b,?)*(?P<told>,? {any_of(given.told)}\b)?"
            rf"(?:,? {lead}\b,?)* (?P<body>.+?)(?P<memory> {memory}\b.*)?$"
        )
        trailing = end_trailing(given)
        verbs = rf"(?:{asks}|{erases})(?:,? {lead}\b,?)*"
        self._trailing = re.compile(rf"{trailing}\W*$")
        self._passives = Passives(given)
        self._self = re.compile(
            rf"{polite}(?:{any_of(given.myself)}{trailing}\W*$"
            rf"|{verbs} {any_of(given.about_myself)}{trailing}"
            rf"(?:\W*$|[,;:.] (?!{any_of(given.spares)}\b)))"
        )
        self._matters = Matters(given)
        self._wholes = Wholes(given)
        self._ends = re.compile(rf"\s?{any_of(given.ends)}.*$")
        self._own_thing = re.compile(rf"{any_of(given.own)} (?P<thing>.+)")
        self._of_own = re.compile(any_of(given.of_own))
        self._asked_own = re.compile(any_of(given.asked_own))
        self._asked = re.compile(
            rf"{any_of(given.asked)}(?: {any_of(given.subject)}\b)"
            rf"{'?' if given.drops_subject else ''}(?P<rest>.+)"
        )
        self._states = re.compile(any_of(given.states))
        self._of_others = re.compile(any_of(given.of_others))
        self._personal = frozenset(given.personal)
        self._relatives = frozenset(chain(*language.relatives.values()))
        self._present = re.compile(rf"\b{any_of(language.changes.present)}\b")
        self._words = TopicWords(language)

    def read(self, sentence: str) -> Iterator[Topic]:
        """Yield what a sentence asks to forget."""
        text = fold_apostrophes(sentence)
        if self._self.match(text):
            yield Topic(Naming.SELF, text, self._words)
            return
        days = self._wholes.find_days(text)
        if days:
            yield Topic(Naming.TOLD, days, self._words)
            return
        found = self._passives.match(text) or self._request.match(text)
        if found is None:
            return
        yield from self._read_request(found, sentence)
        for joint in _JOINTS.finditer(text, found.start("body")):
            other = self._request.match(text, joint.end())
            if other is not None:
                yield from self._read_request(other, sentence)

    def _read_request(
        self, found: re.Match[str], sentence: str
    ) -> Iterator[Topic]:
        names = list_capitalized(sentence, 1)
        told = bool(found["told"])
        body = self._trailing.sub("", found["body"])
        if told:  # "about my ex last week": when it was told
            body = _leave_out_last_time(body)
        topics = list(self._read_body(body, sentence, names, told))
        if found["erases"] and not found["memory"]:
            # "Delete my draft" is said to an agent about another thing than its memory.
            topics = self._list_of_memory(topics, is_told=told)
        yield from topics

    def read_whole(self, sentence: str) -> Iterator[Topic]:
        """Yield the persons whom a sentence asks to forget that is a message by itself."""
        for person in self._wholes.list_persons(sentence):
            yield Topic(Naming.PERSON, person, self._words, everything=True)

    def read_own(self, text: str) -> Iterator[Topic]:
        """Yield what a text that asks nothing names of its speaker's own."""
        is_own = read_cues(text).has("own")
        for piece in self._split_list(fold_apostrophes(text), NO_NAMES):
            topic = self._read_piece(piece, NO_NAMES, is_everything=False)
            if topic is None:
                continue
            # A Spanish verb shows its subject alone.
            if topic.kind is Naming.OWN or is_own:
                yield topic

    def _list_of_memory(
        self, topics: Sequence[Topic], *, is_told: bool
    ) -> list[Topic]:
        """Return what of a list memory holds: personal things, and matters beside one of them."""
        own = [
            one for one in topics if self._is_of_memory(one, is_told=is_told)
        ]
        if not own:
            return []
        return [one for one in topics if one in own or one.everything]

    def _is_of_memory(self, topic: Topic, *, is_told: bool) -> bool:
        if is_told:
            return True
        # "My address from the letter" is a thing of the letter's.
        is_own = topic.kind is Naming.OWN
        named = self._words.list_telling(topic.text)
        # "The alarm PIN" is none of the speaker's alone.
        is_shared = topic.everything and len(named) > 1
        return (is_own or is_shared) and self._ends_personal(named)

    def _ends_personal(self, named: Sequence[str]) -> bool:
        """Return whether the last words are a personal thing's: "phone number", "door code"."""
        ends = (" ".join(named[at:]) for at in range(len(named)))
        return not self._personal.isdisjoint(ends)

    def _read_body(
        self, body: str, sentence: str, names: frozenset[str], is_told: bool
    ) -> Iterator[Topic]:
        listed = list(self._split_list(body, names if is_told else NO_NAMES))
        topics = list(self._read_pieces(listed, names, is_told))
        others = [
            one for one, topic in zip(listed, topics, strict=True) if not topic
        ]
        matters = self._read_matters(others, sentence)
        whole = self._matters.find(body, sentence)
        if whole and not matters:
            for piece in _JOINTS.split(self._cut(whole)):
                yield self._read_item(piece, sentence, names)
            return
        yield from filter(None, topics)
        is_plan = others == listed and not self._ends_so(body, others[-1])
        if not is_plan:
            yield from matters

    def _read_pieces(
        self, pieces: Iterable[str], names: frozenset[str], is_told: bool
    ) -> Iterator[Topic | None]:
        """Yield what each piece names; "my" goes on to a personal thing: "my address and age"."""
        is_own = False
        for piece in pieces:
            topic = self._read_piece(piece, names, is_told)
            if topic is None and is_own and self._is_personal(piece):
                topic = Topic(
                    Naming.OWN, piece, self._words, everything=is_told
                )
            is_own = topic is not None and (
                is_own or self._own_thing.fullmatch(piece) is not None
            )
            yield topic

    def _is_personal(self, piece: str) -> bool:
        """Return whether a piece is a personal thing's name alone: "phone number"."""
        named = self._words.list_telling(piece)
        is_short = len(named) == len(piece.split()) <= _FORMS
        return is_short and self._ends_personal(named)

    def _ends_so(self, body: str, last: str) -> bool:
        """Return whether a list ends with its last matter.

        "Forget the pizza thing, let's get sushi" is no request.
        """
        return bool(self._matters.find(body[body.rindex(last) :], ""))

    def _read_matters(
        self, pieces: Sequence[str], sentence: str
    ) -> list[Topic]:
        """Return the matters that pieces name; none unless each names one."""
        matters = [self._read_matter(one, sentence) for one in pieces]
        found = [one for one in matters if one is not None]
        return found if len(found) == len(pieces) else []

    def _read_item(
        self, piece: str, sentence: str, names: frozenset[str]
    ) -> Topic:
        """Return what a piece of a matter names: "the divorce", "my job", "lo de Ana"."""
        topic = self._read_piece(piece, names, is_everything=False)
        topic = topic or self._read_matter(piece, sentence)
        return topic or self._mean_all(piece)

    def _read_matter(self, piece: str, sentence: str) -> Topic | None:
        matter = self._matters.find(piece, sentence)
        return self._mean_all(matter) if matter else None

    def _mean_all(self, matter: str) -> Topic:
        return Topic(Naming.ANY, matter, self._words, everything=True)

    def _split_list(self, body: str, names: frozenset[str]) -> Iterator[str]:
        """Yield the items of a list; a statement stays whole: "that I've a dog and a cat".

        Behind a comma only items go on with the list, and persons of these names.
        """
        for place, segment in enumerate(body.split(", ")):
            left = self._cut(segment)
            pieces = list(self._split_segment(left))
            if place and not all(self._is_item(one, names) for one in pieces):
                return
            yield from pieces
            if left != segment:
                return

    def _split_segment(self, segment: str) -> Iterator[str]:
        text = _JOINT.sub("", segment)
        start = 0
        for joint in _JOINTS.finditer(text):
            before, after = text[start : joint.start()], text[joint.end() :]
            if self._states.match(before) and not self._says_that(after):
                continue
            yield before.strip()
            start = joint.end()
        yield text[start:].strip()

    def _says_that(self, text: str) -> bool:
        """Return whether a text begins with "that", and a statement after it."""
        said = self._states.match(text)
        return said is not None and said.start("said") > 0

    def _is_item(self, piece: str, names: frozenset[str]) -> bool:
        """Return whether a piece asks for one's own, or names it without telling of it."""
        asked = self._asked.fullmatch(piece)
        if asked and not self._words.drops_subject:
            return True
        if asked and {asked["where"], asked["amount"]} != {None}:
            return True
        told = self._words.list_telling(piece)
        if any(map(is_verb_form, told)) or self._present.search(piece):
            return False
        return self._is_thing(piece) or (bool(told) and names.issuperset(told))

    def _is_thing(self, piece: str) -> bool:
        """Return whether a piece is a thing of one's own, or a matter."""
        return bool(
            self._own_thing.fullmatch(piece)
            or self._is_personal(piece)
            or self._read_matter(piece, piece)
        )

    def _cut(self, body: str) -> str:
        return self._ends.sub("", body)

    def _read_statement(self, said: str) -> Topic:
        """Return a statement; a sentence that tells it has its subject and its verb."""
        first = bare_words(said)[:_FORMS]
        # Of "I'm" and "I've" the second word may be written in full.
        forms = [word for word in first if word not in _SHORT]
        return Topic(Naming.STATEMENT, said, self._words, forms=tuple(forms))

    def _read_piece(
        self, piece: str, names: frozenset[str], is_everything: bool
    ) -> Topic | None:
        said = self._states.match(piece)
        if said and not is_everything:
            return self._read_statement(said["said"])
        own = self._name_own(piece)
        if own:
            means_all = is_everything or self._is_relative(own)
            return Topic(Naming.OWN, own, self._words, everything=means_all)
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

    def _is_relative(self, thing: str) -> bool:
        """Return whether a thing is a person of the speaker's: all told of them is meant."""
        named = self._words.list_telling(thing)
        return bool(named) and self._relatives.issuperset(named)

    def _name_own(self, piece: str) -> str:
        """Return what one's own is: "salary", "boss name" of "the name of my boss"; else ""."""
        asked = self._asked_own.fullmatch(piece)
        thing = asked["own"] if asked else piece
        of_own = self._of_own.fullmatch(thing)
        if of_own:
            return f"{of_own['whose']} {of_own['part']}"
        own = self._own_thing.fullmatch(thing)
        return own["thing"] if own else ""

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


def _leave_out_last_time(body: str) -> str:
    """Return what is named without a time at its end: "the Monday evenings" stay."""
    rest = " ".join(leave_out_times(body).split())
    return rest if body.startswith(rest) else body
