"""Whether a statement tells of another person's matter, where one's own is named.

"My dog" is not "Eva's dog", and "where I live" is not where a sister lives. A statement that
leaves open whose it is ("the dog needs his shots") may be one's own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from varve.domain.language.names import PARTICLES
from varve.domain.language.tokens import bare_words, fold
from varve.domain.language.verbs import is_verb_form
from varve.domain.statements.forgetting.named_topics import Topic
from varve.domain.statements.forgetting.requests import Naming
from varve.domain.statements.forgetting.told_sentences import (
    ToldSentence,
    is_form,
    read_sentence,
    tell_own,
)
from varve.domain.statements.pairs.likeness import is_same_word
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.particulars import is_date_word
from varve.domain.statements.texts.parts import split_parts

_POSSESSION = "s"
_REACH = 3
"""So many words may stand between an owner and the thing, the owner's "s" among them."""
_OF = re.compile(PARTICLES)
_ARTICLE = "el"
"""Without its accent it is no person."""


def is_of_others(
    topics: Sequence[Topic], text: str, names: Iterable[str]
) -> bool:
    """Return whether a text tells of the topics, but of none of its speaker's own.

    `names` are those of the speaker, who may be named in the text.
    """
    parts = split_parts(text)
    told = [_read_own(part, names) for part in parts]
    if any(one.is_told_in(part) for one in topics for part in told):
        return False
    mentions = list(_list_mentions(topics, parts, names))
    return bool(mentions) and all(one.is_of_others for one in mentions)


def _list_mentions(
    topics: Sequence[Topic], parts: Iterable[str], names: Iterable[str]
) -> Iterator["_Mention"]:
    own = frozenset(word for name in names for word in bare_words(fold(name)))
    for topic in topics:
        before = ""
        for part in parts:
            told = _read_own(part, names)
            runs = list(_find_runs(topic, told.words))
            if before and any(start == 0 for start, _ in runs):
                # "La hermana de Ana, Clara, vive en Gante" has its subject before the part.
                told = _read_own(f"{before} {part}", names)
                runs = list(_find_runs(topic, told.words))
            for run in runs:
                yield _Mention(topic, told, run, own)
            before = part


def _read_own(text: str, names: Iterable[str]) -> ToldSentence:
    for name in names:
        text = tell_own(text, name)
    return read_sentence(text, "")


def _find_runs(
    topic: Topic, words: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield where the topic's words stand, from the first to behind the last of each run."""
    named = topic.language.list_telling(topic.text)
    start = None
    for place, word in enumerate((*words, "")):
        is_named = any(is_same_word(word, one) for one in named if word)
        if is_named and start is None:
            start = place
        elif not is_named and start is not None:
            yield start, place
            start = None


class _Mention:
    """A topic's words within a sentence."""

    def __init__(
        self,
        topic: Topic,
        sentence: ToldSentence,
        run: tuple[int, int],
        own_names: frozenset[str],
    ) -> None:
        self._topic = topic
        self._sentence = sentence
        start, end = run
        self._words = sentence.words[start:end]
        self._before = sentence.words[:start]
        self._after = sentence.words[end:]
        self._own_names = own_names

    @property
    def is_of_others(self) -> bool:
        """Whether another person owns the thing, or is the subject of what is told."""
        owner = self._find_owner()
        if owner is not None:
            return owner
        if self._has_owner_behind():
            return True
        if self._is_own_verb() or self._is_thing_itself():
            return False
        return self._has_other_subject()

    def _find_owner(self) -> bool | None:
        """Return whether an owner right before is another one; None: there is no owner."""
        language = self._topic.language
        is_thing = self._topic.kind is Naming.OWN
        for place in range(len(self._before) - 1, -1, -1)[:_REACH]:
            word = self._before[place]
            if word == _POSSESSION and place:
                return not language.is_empty(self._before[place - 1])
            if word in language.theirs:
                return True
            if is_thing and language.own.fullmatch(word):
                return False
            if language.is_empty(word):
                break
        # As in a triple: "Ana phone: …".
        is_owned = is_thing and self._is_name(self._before[-1:])
        return True if is_owned else None

    def _has_owner_behind(self) -> bool:
        """Return whether "de Ana" or "of my boss" stands right behind."""
        if not self._after or not _OF.fullmatch(self._after[0]):
            return False
        behind = self._after[1:]
        return self._is_name(behind[:1]) or _begins_with_person(behind)

    def _is_own_verb(self) -> bool:
        """Return whether the verb has the speaker's form: "vivo", not "es alérgico"."""
        topic = self._topic
        language = topic.language
        if not language.drops_subject or self._words[0] not in topic.forms:
            return False
        return language.being.isdisjoint(self._before[-1:])

    def _is_thing_itself(self) -> bool:
        """Return whether it is a thing that no person is told to have: "the dog"."""
        topic = self._topic
        if topic.kind is not Naming.OWN:
            return False
        is_noun = any(
            is_form(word, name)
            for word in self._words
            for same in topic.words
            for name in same
        )
        has_article = self._before[-1:] and (
            self._before[-1] in topic.language.articles
        )
        names_it = self._before[-2:-1] and (
            self._before[-2] in topic.language.being
        )
        return is_noun and (not has_article or bool(names_it))

    def _has_other_subject(self) -> bool:
        before = " ".join(self._before)
        cues = read_cues(before)
        # "He" alone is also a Spanish "I have".
        if cues.has("own") and read_cues(self._sentence.text).has("own"):
            return False
        if cues.persons - {_ARTICLE} or _begins_with_person(self._after):
            return True
        return any(
            self._is_name((word,)) and not (place == 0 and is_verb_form(word))
            for place, word in enumerate(self._before)
        )

    def _is_name(self, words: Sequence[str]) -> bool:
        """Return whether a word is written as the name of another one."""
        return any(
            word in self._sentence.written
            and word not in self._own_names
            and not self._topic.language.is_empty(word)
            and not is_date_word(word)
            for word in words
        )


def _begins_with_person(words: Sequence[str]) -> bool:
    text = " ".join(words)
    return any(
        text.startswith(person)
        for person in read_cues(text).persons - {_ARTICLE}
    )
