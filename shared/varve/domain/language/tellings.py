"""A language's sentences for triples, and the language that a person's words are in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from varve.domain.language.tokens import words

if TYPE_CHECKING:
    from varve.domain.language.languages import Language

Sentences = Mapping[str, str]
"""Sentences by predicate."""


@dataclass(frozen=True, slots=True)
class Tellings:
    """The sentences by which speakers tell triples, by predicate.

    `own` are those of one's own triples, `others` those of another's, who is `{who}`.
    `{value}` is the triple's value. `{no}` stands where `no_longer` says that the triple
    has ended. `own_ends` and `others_ends` tell an end in a sentence of its own.
    """

    no_longer: str = ""
    own: Sentences = field(default_factory=dict)
    others: Sentences = field(default_factory=dict)
    own_ends: Sentences = field(default_factory=dict)
    others_ends: Sentences = field(default_factory=dict)

    def tell(
        self, who: str | None, predicate: str, value: str, *, ends: bool
    ) -> str | None:
        """Return a triple as a sentence; None as `who`: the speaker's own.

        None: the language has no sentence for the predicate.
        """
        holding = self.own if who is None else self.others
        ending = self.own_ends if who is None else self.others_ends
        form = holding.get(predicate)
        if ends:
            form = ending.get(predicate, form)
        if form is None:
            return None
        no = self.no_longer if ends else ""
        said = form.format(who=who, value=value, no=no)
        return said[:1].upper() + said[1:]


def find_language(
    texts: Iterable[str], languages: Iterable["Language"]
) -> "Language":
    """Return the language with most stop words in the texts; of several the first."""
    said: list[str] = []
    for text in texts:
        said += words(text)

    def count(language: "Language") -> int:
        return language.words.count_stop_words(said)

    return max(languages, key=count)
