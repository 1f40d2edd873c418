"""The parts of a turn that a request to forget names."""

from dataclasses import dataclass

from varve.domain.language.tokens import spaced_words
from varve.domain.search.row import MessageKey
from varve.domain.statements.forgetting.forgotten import Stated
from varve.domain.statements.texts.parts import find_parts, split_parts


@dataclass(frozen=True, slots=True)
class Told:
    """A turn, and the numbers of its parts that tell of a topic or repeat what does.

    `values` are the folded figures and names of each part that tells of a topic.
    """

    turn: Stated
    parts: frozenset[int]
    values: tuple[frozenset[str], ...] = ()

    def find_parts(self, stated: Stated) -> frozenset[int]:
        """Return the numbers of these parts in the turn, or in what is shown of it."""
        if stated.words == self.turn.words:
            return self.parts
        parts = split_parts(self.turn.words)
        hidden = [spaced_words(parts[at]) for at in self.parts]
        found: set[int] = set()
        for number, part in enumerate(split_parts(stated.words)):
            # What joined it to a part before it may be left out.
            if any(spaced_words(part) in one for one in hidden):
                found.add(number)
        return frozenset(found)

    def is_quoted_in(self, text: str) -> bool:
        """Return whether a text has one of the parts word for word."""
        parts = split_parts(self.turn.words)
        said = spaced_words(text)
        return any(spaced_words(parts[at]) in said for at in self.parts)

    def has_told(self, messages: frozenset[MessageKey], content: str) -> bool:
        """Return whether words that were drawn from messages tell of a topic."""
        if messages.isdisjoint(self.turn.messages):
            return False
        drawn = find_parts(self.turn.words, content)
        return not drawn.isdisjoint(self.parts)
