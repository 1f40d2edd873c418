"""A running summary of a conversation, of at most 200 tokens, updated with every turn."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from varve.domain.experience.outcomes import Outcome, is_correction, read_cues
from varve.domain.statements.texts.particulars import read_particulars
from varve.domain.text import estimated_tokens, salience

MAX_TOKENS = 200
LONGEST_SENTENCE = 160
OUTCOME, DECISION, DATE = 3.0, 2.0, 1.5
"""The weights of sentences that stay; others weigh less than 1, and less with every turn."""

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
"""What parts two sentences."""
_DECIDED = re.compile(
    r"\b(?:decid\w+|decision|agreed|i(?:['’]ll| will) (?:take|book|buy|use|choose)|we(?:['’]ll| will)"
    r"|let['’]s|go(?:ing)? (?:with|for)|went (?:with|for)|cho(?:ose|osing|se|sen)|pick(?:ed)?|settled? on"
    r"|booked|vamos (?:a|con)|acordamos|elegimos|elegí|nos quedamos con|me quedo con)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\b\d{1,2}(?::\d{2}|(?=\s?[ap]m\b))", re.IGNORECASE)
_CALENDAR_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}\b")

WeightedLine = tuple[float, str]


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """The lines kept so far, each with its weight; their total length is bounded."""

    lines: tuple[WeightedLine, ...] = ()

    @property
    def text(self) -> str:
        """The lines in order of time."""
        return _join(self.lines)

    @property
    def decided(self) -> tuple[str, ...]:
        """The words of the decisions, dates and outcomes, without day and speaker."""
        return tuple(
            line.partition(": ")[2]
            for weight, line in self.lines
            if weight >= DATE
        )

    def told(
        self, role: str, text: str, speaker: str = ""
    ) -> "RunningSummary":
        """Return the summary after one more turn; `speaker` is named in place of the role.

        The turn's outcomes, decisions, corrections and dates are added, or else its
        weightiest sentence; the lightest and oldest lines go if there are too many.
        """
        lines = [(_aged(weight), line) for weight, line in self.lines]
        for weight, sentence in _choose_sentences(role, text):
            line = f"{speaker or role}: {sentence[:LONGEST_SENTENCE]}"
            lines.append((weight, line))
        while len(lines) > 1 and _tokens(lines) > MAX_TOKENS:
            lines.remove(min(lines[:-1], key=itemgetter(0)))
        return RunningSummary(tuple(lines))


def _choose_sentences(role: str, text: str) -> list[WeightedLine]:
    """Return a turn's sentences that stay; without any the weightiest."""
    sentences = [one.strip() for one in SENTENCE.split(text) if one.strip()]
    weighed = [(weigh_sentence(role, one), one) for one in sentences]
    kept = [one for one in weighed if one[0] >= DATE]
    if kept or not weighed:
        return kept
    return [max(weighed, key=itemgetter(0))]


def weigh_sentence(role: str, sentence: str) -> float:
    """Return how much a sentence matters: an outcome most, then a decision, then a date."""
    cues = read_cues([(role, sentence)])
    if cues.outcome is not Outcome.UNKNOWN:
        return OUTCOME
    if _DECIDED.search(sentence) or is_correction(role, sentence):
        return DECISION
    return DATE if _names_date(sentence) else salience(sentence)


def _names_date(sentence: str) -> bool:
    if _CALENDAR_DAY.search(sentence) or _CLOCK.search(sentence):
        return True
    return bool(read_particulars(sentence).dates)


def _join(lines: Iterable[WeightedLine]) -> str:
    return "\n".join(line for _, line in lines)


def _tokens(lines: Iterable[WeightedLine]) -> int:
    return estimated_tokens(_join(lines))


def _aged(weight: float) -> float:
    if weight >= DATE:
        return weight
    return weight * 0.9
