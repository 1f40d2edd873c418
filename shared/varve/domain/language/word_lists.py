"""A language's words that say little, and its words about names."""

from collections.abc import Iterable
from dataclasses import dataclass

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words of a language that say little, without accents, and its Snowball stemmer.

    `stop_words` are words of grammar; `addressing` (words by which a speaker speaks of the listener)
    are some of them. `denials` and `qualifiers` (words of condition, order and past) change what a
    sentence says; the words of `only_without_accents` are other words if they have one. `marks` are
    words that no other language has. `changes` tell of a change or a decision. `courtesies` mean
    nothing in a prompt and `fillers` nothing in a summary's topics. `verbs` are forms of verbs that
    are no nouns; words that match one of the patterns `verb_endings`, with accents, are others, but
    for `not_verbs`. `respelt` are no other words without their apostrophe or accents. `given_names`
    are hardly ever other words. The lists of `kept_…` are words that count for one reader all the
    same.
    """

    stemmer: str = ""
    stop_words: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    denials: frozenset[str] = frozenset()
    qualifiers: frozenset[str] = frozenset()
    only_without_accents: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    addressing: frozenset[str] = frozenset()
    courtesies: frozenset[str] = frozenset()
    fillers: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    not_verbs: frozenset[str] = frozenset()
    verb_endings: frozenset[str] = frozenset()
    respelt: frozenset[str] = frozenset()
    given_names: frozenset[str] = frozenset()
    kept_in_prompts: frozenset[str] = frozenset()
    kept_in_lessons: frozenset[str] = frozenset()
    kept_in_topics: frozenset[str] = frozenset()

    def count_stop_words(self, said: Iterable[str]) -> int:
        """Return how many of the words are stop words."""
        return sum(word in self.stop_words for word in said)


@dataclass(frozen=True, slots=True)
class NameWords:
    """Words about names: capitalized ones that are none, particles within a name, and "or".

    `roles` are folded names of a speaker's part in a conversation, such as "user", and of no
    person. In folded text `person_states` follow the name of one of whom they tell a state;
    those of `person_only` are told of no company, place or thing. A name follows
    `before_name`, patterns of texts without capitals, unless it is one of the words `unnamed`;
    `followers` stand behind a name and are no part of it. The name of a person may follow
    `before_person`, that of a known place `before_place`.
    """

    roles: Words = ()
    person_states: Words = ()
    person_only: Words = ()
    not_names: Words = ()
    particles: Words = ()
    or_: Words = ()
    before_name: Words = ()
    before_person: Words = ()
    before_place: Words = ()
    unnamed: Words = ()
    followers: Words = ()
