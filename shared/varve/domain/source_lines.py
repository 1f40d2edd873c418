"""The sentences that a summary without a model is made of, and the text made of them.

A text has one line for what one speaker said in a row on one day, `2026-10-20: Elena: …`. A
further line of the same day has no date.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

_FINAL_MARKS = (".", "!", "?", "…", "。", "！", "？", ":", ";")
_CLOSING_MARKS = "\"'”’»)]*_」』）"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One sentence on one line, with its local day and its speaker ("": none is known).

    `heard` is true for words as they were said, false for a fact or a summary.
    """

    day: str
    sentence: str
    at: datetime
    importance: float
    speaker: str
    heard: bool

    @property
    def said(self) -> str:
        """The sentence, after its speaker's name."""
        return (
            f"{self.speaker}: {self.sentence}"
            if self.speaker
            else self.sentence
        )

    def __str__(self) -> str:
        return f"{self.day}: {self.said}"


def rendered(lines: Sequence[SourceLine]) -> str:
    """Return the lines as a summary's text: each date and each speaker's name once in a row."""
    paragraphs: list[str] = []
    last_day = ""
    groups = groupby(lines, key=lambda one: (one.day, one.speaker))
    for (day, speaker), group in groups:
        said = _joined([_ended(line.sentence) for line in group])
        head = "" if day == last_day else f"{day}: "
        name = f"{speaker}: " if speaker else ""
        paragraphs.append(f"{head}{name}{said}")
        last_day = day
    return "\n".join(paragraphs)


def _joined(sentences: Sequence[str]) -> str:
    """Return the sentences in a row, with two spaces before one in small letters.

    Without them it would be read as a part of the sentence before it.
    """
    first, *others = sentences
    for sentence in others:
        first += ("  " if sentence[:1].islower() else " ") + sentence
    return first


def _ended(sentence: str) -> str:
    """Return the sentence with a final mark, which separates it from the next one."""
    bare = sentence.rstrip(_CLOSING_MARKS)
    return sentence if bare.endswith(_FINAL_MARKS) else f"{sentence}."
