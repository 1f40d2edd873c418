"""The statements that a request to forget names by its words, where no triple has their value."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

from varve.domain.language.courtesies import is_courtesy
from varve.domain.record import turn_id
from varve.domain.search.row import MessageKey
from varve.domain.statements.forgetting.forgotten import (
    Drawn,
    Forgotten,
    Stated,
    find_speaking,
    list_speakers,
    split_turns,
)
from varve.domain.statements.forgetting.named_topics import Topic
from varve.domain.statements.forgetting.requests import Naming
from varve.domain.statements.forgetting.told_parts import Told
from varve.domain.statements.forgetting.told_sentences import (
    has_any,
    list_values,
    read_sentence,
)
from varve.domain.statements.forgetting.topics import read_topics
from varve.domain.statements.forgetting.wholes import Days, read_days
from varve.domain.statements.pairs.likeness import LEAST_LIKENESS
from varve.domain.statements.texts.parts import (
    find_with_rest,
    split_parts,
)

MIN_FIGURE = 5
"""A figure with so many digits names a statement by itself."""
_HEAD = re.compile(r"(?:\d{4}-[\d-]+: )?(?:(?P<name>[^\W\d][^:]{0,60}): )?")
"""What stands before a summary's sentence: a day, and the speaker's name."""


@dataclass(frozen=True, slots=True)
class _Matter:
    """What a request of `speaker` names; `names` are those of what it means everything about.

    `speaking` are all names by which the speaker speaks. `days` are those whose telling it
    means.
    """

    topics: tuple[Topic, ...]
    names: frozenset[str]
    speaker: str
    speaking: frozenset[str]
    days: tuple[Days, ...] = ()

    @property
    def is_self(self) -> bool:
        """Whether it is the speaker, and all that was told."""
        return any(topic.kind is Naming.SELF for topic in self.topics)

    @property
    def is_of_time(self) -> bool:
        """Whether it is what was told until the request, whatever it tells of."""
        return self.is_self or bool(self.days)

    def may_be_said_by(self, name: str | None) -> bool:
        """Return whether words are the speaker's by the name before them, if there is one."""
        return name is None or name in self.speaking

    def list_told(self, turn: Stated) -> dict[int, str]:
        """Return the parts of a turn of the speaker's that it means, by their numbers."""
        if not any(_lies_in(turn.day, days) for days in self.days):
            return self.list_parts(turn.words)
        asking = _find_asking(turn.words)
        parts = enumerate(split_parts(turn.words))
        return {at: part for at, part in parts if at not in asking}

    def list_parts(self, text: str) -> dict[int, str]:
        """Return the parts of the speaker's words that tell of a topic, by their numbers.

        A request tells of none, unless it says itself what it asks to forget.
        """
        parts = split_parts(text)
        asking = _find_asking(text)
        found = find_with_rest(
            parts, lambda at: self._tells(parts[at], asks=at in asking)
        )
        return {at: parts[at] for at in found}

    def _tells(self, part: str, *, asks: bool) -> bool:
        sentence = read_sentence(part, self.speaker)
        topics = [one for one in self.topics if one.states or not asks]
        if any(topic.is_told_in(sentence) for topic in topics):
            return True
        return not asks and self.has_name(part)

    def is_asked_in(self, text: str) -> bool:
        """Return whether a text asks to forget the topics."""
        own = {(topic.kind, topic.text) for topic in self.topics}
        asked = {(topic.kind, topic.text) for topic in read_topics(text)}
        return bool(asked) and asked <= own

    def has_name(self, text: str) -> bool:
        """Return whether a text has any of the names."""
        written = read_sentence(text, self.speaker).written
        return not self.names.isdisjoint(written)

    def list_values(self, text: str) -> frozenset[str]:
        """Return the folded figures and names of a text, but for the speaker's and days."""
        return list_values(text, self.speaker)


@dataclass(frozen=True, slots=True)
class ForgottenWords(Forgotten):
    """The statements that a request names by its words, and others' turns that repeat them.

    `asking` are the parts of the request's own turn that ask. `held` has the ids of all
    turns that were compared. With `whole_text` all
    sentences of a summary tell of what is forgotten.
    """

    matter: _Matter
    told: tuple[Told, ...]
    asking: Told
    whole_text: bool = False
    held: frozenset[str] = frozenset()

    @property
    def is_of_all(self) -> bool:
        """Whether the speaker asked to forget all that was told until then."""
        return self.matter.is_self

    @property
    def is_of_user(self) -> bool:
        """Whether it is all that is in memory of the user."""
        return self.is_of_all and self.user is not None

    def in_summary(self, user: str | None) -> Self:
        """Return what it hides of a summary of a user's period: all, of who asked for that."""
        is_own = self.matter.is_self and user == self.user
        return replace(self, whole_text=True) if is_own else self

    def was_told_in(self, messages: frozenset[MessageKey]) -> bool:
        """Return whether any of these messages tells of a topic, or is the request."""
        told = (self.asking, *self.told)
        return any(not messages.isdisjoint(one.turn.messages) for one in told)

    def find_parts(self, stated: Stated) -> frozenset[int]:
        """Return the numbers of the parts of a fact or turn that tell of a topic."""
        if not self.concerns(stated):
            return frozenset()
        is_answer = self.is_answered_by(stated)
        if (
            self.is_of_user
            and stated.id != self.request_turn
            and not is_answer
        ):
            return frozenset(range(len(split_parts(stated.words))))
        if stated.speaker is not None:
            hidden = (self.asking, *self.told)
            parts = (
                one.find_parts(stated)
                for one in hidden
                if one.turn.id == stated.id
            )
            return frozenset().union(*parts)
        is_told = self.is_told_by(stated.id, stated.content, stated.messages)
        if is_told or self.asking.has_told(stated.messages, stated.content):
            return frozenset(range(len(split_parts(stated.content))))
        return frozenset()

    def is_told_by(
        self, id_: str, content: str, messages: frozenset[MessageKey]
    ) -> bool:
        """Return whether a turn, or words drawn from messages, tell of a topic."""
        return any(
            one.turn.id == id_ or one.has_told(messages, content)
            for one in self.told
        )

    def names(self, drawn: Drawn) -> bool:
        """Return whether a triple or an attribute tells of a topic.

        What a turn in memory states is judged by that turn: "since 2019" may be told today.
        """
        if drawn.user != self.user:
            return False
        turn = turn_id(*drawn.message) if drawn.message else ""
        if turn in self.held:
            messages = frozenset(filter(None, [drawn.message]))
            return any(
                one.has_told(messages, drawn.words) for one in self.told
            )
        if drawn.at > self.at:
            return False
        speaker = self.matter.speaker
        said = f"{speaker}: {drawn.say(speaker)}"
        return self.is_of_user or self.is_named_in(said)

    def is_named_in(self, text: str) -> bool:
        """Return whether a sentence of a summary tells of a topic, or of the same values."""
        if self.whole_text:
            return True
        head = _HEAD.match(text)
        name = head["name"] if head else None
        words = text[head.end() :] if head and name else text
        if self._repeats(words):
            return True
        if self.matter.is_self:
            is_own = name in self.matter.speaking
            return is_own or self._names_speaker(words)
        if not self.matter.may_be_said_by(name):
            return False
        return self.matter.is_asked_in(words) or bool(
            self.matter.list_parts(words)
        )

    def _names_speaker(self, text: str) -> bool:
        written = read_sentence(text, "").words
        own = read_sentence(self.matter.speaker, "").words
        return bool(own) and set(own) <= set(written)

    def _repeats(self, text: str) -> bool:
        """Return whether a text has the figures and names of a hidden part."""
        if self.matter.has_name(text):
            return True
        held = self.matter.list_values(text)
        for one in self.told:
            if self.matter.days and one.is_quoted_in(text):
                return True
            for values in one.values:
                shared = values & held
                is_clear = len(shared) > 1 or any(map(_is_figure, shared))
                if is_clear and len(shared) >= LEAST_LIKENESS * len(values):
                    return True
        return False


def _lies_in(day: str, days: Days) -> bool:
    first, last = days
    return first.isoformat() <= day <= last.isoformat()


def _find_asking(text: str) -> frozenset[int]:
    """Return the numbers of a text's parts that ask to forget something."""
    found: set[int] = set()
    for number, part in enumerate(split_parts(text)):
        # "Forget my home and my job" has two parts.
        goes_on_asking = number - 1 in found and part[:1].islower()
        if goes_on_asking or read_topics(part):
            found.add(number)
    return frozenset(found)


def _find_request(text: str) -> frozenset[int]:
    """Return the numbers of a request's parts that ask, and of its greetings and thanks."""
    return _find_asking(text).union(
        number
        for number, part in enumerate(split_parts(text))
        if is_courtesy(part)
    )


def find_forgotten_words(
    request: Stated, turns: Iterable[Stated]
) -> ForgottenWords | None:
    """Return what a turn asks to forget by its words; None: it asks nothing of the kind.

    `turns` are those of its user, its speaker's and others'.
    """
    topics = read_topics(request.words)
    speaker = request.speaker
    held = tuple(turns)
    if not topics or speaker is None or _is_of_talk(topics, request, held):
        return None
    [message] = request.messages
    asked = Forgotten(message, request.at, request.user)
    speaking = find_speaking(request, held)
    own, others = split_turns(filter(asked.concerns, held), speaking)
    names = frozenset(_find_names(topics, own, speaker))
    days = tuple(_list_days(topics, request.day))
    matter = _Matter(topics, names, speaker, speaking, days)
    asking = Told(request, _find_request(request.words))
    told = list(_find_told(matter, own))
    if matter.is_of_time:
        told = [_leave_later(one, asking) for one in told]
    return ForgottenWords(
        request=message,
        at=request.at,
        user=request.user,
        matter=matter,
        told=(*told, *_find_repeated(matter, told, others, asked)),
        asking=asking,
        held=frozenset(turn.id for turn in held),
    )


def _is_of_talk(
    topics: Iterable[Topic], request: Stated, turns: Iterable[Stated]
) -> bool:
    """Return whether a request is a phrase of talk, said by the assistant or to another person.

    "Forget about Pablo" is advice from the assistant, and from a friend.
    """
    if not any(topic.may_be_of_talk for topic in topics):
        return False
    speakers = set(list_speakers(request, turns))
    return request.speaker not in speakers or len(speakers) > 1


def _list_days(topics: Iterable[Topic], today: str) -> Iterator[Days]:
    for topic in topics:
        if topic.kind is Naming.TOLD and today:
            days = read_days(topic.text, date.fromisoformat(today))
            if days:
                yield days


def _find_told(matter: _Matter, turns: Iterable[Stated]) -> Iterator[Told]:
    for turn in turns:
        parts = matter.list_told(turn)
        if parts:
            values = map(matter.list_values, parts.values())
            yield Told(turn, frozenset(parts), tuple(values))


def _leave_later(told: Told, asking: Told) -> Told:
    """Return a turn without what a request's own turn tells after it asks."""
    if told.turn.id != asking.turn.id:
        return told
    first = min(asking.parts, default=0)
    return replace(told, parts=frozenset(filter(first.__gt__, told.parts)))


def _find_repeated(
    matter: _Matter,
    told: Iterable[Told],
    others: Iterable[Stated],
    asked: Forgotten,
) -> Iterator[Told]:
    """Yield others' turns that repeat in the same conversation what a turn tells.

    The answers to the request may repeat what any turn tells.
    """
    every: set[str] = set()
    values_of: dict[str | None, set[str]] = {}
    for one in told:
        every.update(*one.values)
        for talk, _ in one.turn.messages:
            values_of.setdefault(talk, set()).update(*one.values)
    for turn in others:
        values = set(every) if asked.is_answered_by(turn) else set()
        for talk, _ in turn.messages:
            values |= values_of.get(talk, set())
        parts = frozenset(
            number
            for number, part in enumerate(split_parts(turn.words))
            if has_any(part, values, matter.speaker) or matter.has_name(part)
        )
        if parts:
            yield Told(turn, parts)


def _find_names(
    topics: Iterable[Topic], turns: Iterable[Stated], speaker: str
) -> Iterator[str]:
    """Yield the names that the turns give to what everything is meant of."""
    meant = [topic for topic in topics if topic.everything]
    if not meant:
        return
    for turn in turns:
        for part in split_parts(turn.words):
            if read_topics(part):
                continue
            sentence = read_sentence(part, speaker)
            for topic in meant:
                if topic.is_told_in(sentence):
                    yield from topic.list_names(sentence)


def _is_figure(word: str) -> bool:
    return sum(map(str.isdecimal, word)) >= MIN_FIGURE
