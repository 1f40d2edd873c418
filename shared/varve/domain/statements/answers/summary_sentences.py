"""The sentences of a summary, each with its speaker and the day on which it was said."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from varve.domain.extractive import sentences
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.language.tokens import words
from varve.domain.speakers import is_name, is_small_name
from varve.domain.statements.texts.cues import Cues, join_phrases, read_cues
from varve.domain.summary import RECURRING_HEADING

MAX_CACHED_SUMMARIES = 1_024
_DATE_BEFORE = re.compile(r"^\W*(\d{4}-\d{2}-\d{2})\W+")
_SPEAKER = re.compile(r"([^\W\d_][^:\n]{0,79}): (?=\S)")


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """One sentence of a summary.

    `text` has no date before it, and `said` no speaker's name either. `day` is the local
    day on which it was said; "": the summary does not tell.
    """

    text: str
    said: str
    speaker: str | None
    day: str

    @property
    def wording(self) -> str:
        """The folded words, which two sentences in the same words share."""
        return fold_words(self.said)

    def tell_whose(self) -> tuple[str | None, str]:
        """Return who told it, if known, and what that person told.

        "Dana said that she lives in Porto" is Dana's "Dana lives in Porto".
        """
        related = None if self.speaker else _match_related(self.said)
        if related is None:
            return self.speaker, self.said
        name = self.said[: related.start()].strip()
        return name, f"{name}{self.said[related.end() :]}"

    def bears_on(self, question: Cues) -> bool:
        """Return whether the sentence has a topic or a telling word of the question.

        A name counts only if the question has no other telling words.
        """
        told = read_cues(self.said)
        if question.topics & told.topics:
            return True
        asked = question.particulars.telling
        plain = [word for word in asked if not word.named] or asked
        telling = told.particulars.telling
        return any(
            one.stems & other.stems for one in plain for other in telling
        )


def fold_words(text: str) -> str:
    """Return the folded words of a text, without marks between them."""
    return " ".join(words(text))


@lru_cache(maxsize=MAX_CACHED_SUMMARIES)
def read_sentences(
    content: str, user: str | None = None
) -> tuple[SummarySentence, ...]:
    """Return a summary's sentences without headings.

    A line without a date is of the day of the line before it. The user's id may name the
    speaker.
    """
    recurring = RECURRING_HEADING.strip()
    found: list[SummarySentence] = []
    day = ""
    for line in content.split("\n"):
        if line.startswith(recurring):
            continue
        dated = _DATE_BEFORE.match(line)
        day = dated[1] if dated else day
        found += _read_line(line, day, user)
    return tuple(found)


def _read_line(
    line: str, day: str, user: str | None
) -> Iterator[SummarySentence]:
    speaker: str | None = None
    begins = True
    for sentence in sentences(line):
        text = _DATE_BEFORE.sub("", sentence).strip()
        if text.endswith(":") or not words(text):
            continue
        name = _find_speaker(text, user, begins=begins)
        begins = False
        said = text
        if name:
            speaker = name
            said = text.removeprefix(f"{name}: ")
        yield SummarySentence(text, said, speaker, day)


def _find_speaker(text: str, user: str | None, *, begins: bool) -> str:
    """Return the speaker with whom a text begins: the user by id, or a name; "": none.

    A name in lower case only begins a line.
    """
    if user and text.startswith(f"{user}: "):
        return user
    named = _SPEAKER.match(text)
    if named is None:
        return ""
    name = named[1]
    return name if is_name(name) or (begins and is_small_name(name)) else ""


def _match_related(said: str) -> re.Match[str] | None:
    """Return the words that relate what a person told; a name alone stands before them."""
    folded = fold_apostrophes(said)
    found = _relating().search(folded) if len(folded) == len(said) else None
    name = said[: found.start()].strip() if found else ""
    return found if is_name(name) else None


@cache
def _relating() -> re.Pattern[str]:
    """Return such words of all languages."""
    return re.compile(
        rf"(?<!\w)(?:{join_phrases(lambda one: one.changes.relating)})(?= \w)"
    )
