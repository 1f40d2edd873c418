"""Attribution: which sentences of a summary of several users may stay after an erasure.

The prose of such a summary names no source. So a sentence stays only if its words differ
from those of the forgotten statements.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import parts, words
from varve.domain.source_lines import SourceLine, rendered
from varve.domain.statements.answers.summary_sentences import (
    SummarySentence,
    read_sentences,
)

SHORTEST = 3
"""The letters of the shortest word that counts."""
STEM = 6
"""The letters by which two forms of a word are equal: `quince` and `quinces`."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The words that only the forgotten statements have, and those that only others have."""

    forgotten: frozenset[str]
    others: frozenset[str]

    def is_of_others(self, text: str) -> bool:
        """Return whether a text has words of others alone, and none of the forgotten."""
        found = terms(text)
        return found.isdisjoint(self.forgotten) and not found.isdisjoint(
            self.others
        )

    def keep_sentences(self, prose: str) -> str:
        """Return the sentences of others with their days and speakers.

        It is the prose itself if all of it is of others.
        """
        told = read_sentences(prose)
        kept = [one for one in told if self.is_of_others(one.said)]
        if len(kept) == len(told):
            return prose
        return rendered([_as_line(one) for one in kept])

    def keep_texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return those of the texts that are of others."""
        return tuple(text for text in texts if self.is_of_others(text))


def _as_line(sentence: SummarySentence) -> SourceLine:
    return SourceLine(
        day=sentence.day,
        sentence=sentence.said,
        at=datetime.fromtimestamp(0, UTC),
        importance=0.0,
        speaker=sentence.speaker or "",
        heard=False,
    )


def attribute(forgotten: Iterable[str], others: Iterable[str]) -> Attribution:
    """Return the attribution by these texts; words that both have tell nothing."""
    own = terms(" ".join(forgotten))
    known = terms(" ".join(others))
    return Attribution(own - known, known - own)


def terms(text: str) -> frozenset[str]:
    """Return the first letters of a text's words, without words of grammar."""
    found: set[str] = set()
    for word in words(text):
        for part in parts(word) or [word]:
            if len(part) >= SHORTEST and part not in STOP_WORDS:
                found.add(part[:STEM])
    return frozenset(found)
