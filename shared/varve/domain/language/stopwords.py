"""Words that say little, of all languages together.

Each language's file has one list of stop words; the readers that differ from it name what they keep.
"""

from collections.abc import Iterable

from varve.domain.language.languages import Language, installed_languages


def united(languages: Iterable[Language], name: str) -> frozenset[str]:
    """Return the words of one list of `WordLists` in all the languages."""
    return frozenset().union(*(getattr(one.words, name) for one in languages))


_INSTALLED = installed_languages()
_COURTESIES = united(_INSTALLED, "courtesies")

STOP_WORDS = united(_INSTALLED, "stop_words")
"""Words of grammar, without accents; keyword search passes over them."""

ADDRESSING = united(_INSTALLED, "addressing")
"""Words by which a speaker speaks of the listener and not of what happened."""

STOP_WORDS_BUT_DENIALS = STOP_WORDS - united(_INSTALLED, "denials")
"""For a comparison of what two texts say: a denial says the opposite."""

EMPTY_IN_PROMPTS = (STOP_WORDS | _COURTESIES) - united(_INSTALLED, "kept_in_prompts")
"""For the relevance to a prompt: "hello" and "thanks" ask for nothing."""

EMPTY_IN_LESSONS = STOP_WORDS - united(_INSTALLED, "kept_in_lessons")
"""For the comparison of lessons and situations."""

NO_TOPICS = (STOP_WORDS | _COURTESIES | united(_INSTALLED, "fillers")) - united(
    _INSTALLED, "kept_in_topics"
)
"""For the topics of a summary: its days and everyday verbs tell none."""

STOP_WORDS_BY_STEMMER = {
    one.words.stemmer: one.words.stop_words for one in _INSTALLED if one.words.stemmer
}
"""For each Snowball stemmer its language's stop words, by which a text's language is told."""
