"""Words that say little, of all languages together.

Each language's file has one list of stop words. A reader with other needs has a list of the words
that it keeps.
"""

from collections.abc import Iterable

from varve.domain.language.languages import Language, installed_languages


def united(languages: Iterable[Language], name: str) -> frozenset[str]:
    """Return the words of one list of `WordLists` in all the languages."""
    found: set[str] = set()
    for language in languages:
        found |= getattr(language.words, name)
    return frozenset(found)


_INSTALLED = installed_languages()
COURTESIES = united(_INSTALLED, "courtesies")
"""Words of greeting, thanks and assent."""

STOP_WORDS = united(_INSTALLED, "stop_words")
"""Words of grammar, without accents; keyword search passes over them."""

ADDRESSING = united(_INSTALLED, "addressing")
"""Words by which a speaker speaks of the listener and not of what happened."""

DENIALS = united(_INSTALLED, "denials")
"""Words that deny what the rest of a sentence says."""

GIVEN_NAMES = united(_INSTALLED, "given_names")
"""Given names, without accents, that are hardly ever other words."""

CHANGES = united(_INSTALLED, "changes")
"""Words that tell of a change or a decision."""

EMPTY_IN_PROMPTS = (STOP_WORDS | COURTESIES) - united(
    _INSTALLED, "kept_in_prompts"
)
"""For the relevance to a prompt: "hello" and "thanks" ask for nothing."""

EMPTY_IN_LESSONS = STOP_WORDS - united(_INSTALLED, "kept_in_lessons")
"""For the comparison of lessons and situations."""

_FILLERS = united(_INSTALLED, "fillers")
_KEPT_IN_TOPICS = united(_INSTALLED, "kept_in_topics")
NO_TOPICS = (STOP_WORDS | COURTESIES | _FILLERS) - _KEPT_IN_TOPICS
"""For the topics of a summary: names of days and everyday verbs are no topics."""

STOP_WORDS_BY_STEMMER = {
    language.words.stemmer: language.words.stop_words
    for language in _INSTALLED
    if language.words.stemmer
}
"""For each Snowball stemmer the stop words of its language, by which a text's language is found."""
