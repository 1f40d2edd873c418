"""A running summary of a conversation, of at most 200 tokens, updated with every turn."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from varve.domain.experience.outcomes import Outcome, is_correction, read_cues
from varve.domain.text import estimated_tokens, salience

MAX_TOKENS = 200
LONGEST_SENTENCE = 160

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECIDED = re.compile(
    r"\b(?:decided|decision|we(?:['’]ll| will)|let['’]s|going with|agreed|decid\w+|vamos a|acordamos)\b",
    re.IGNORECASE,
)

WeightedLine = tuple[float, str]


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """The lines kept so far, each with its weight; their total length is bounded."""

    lines: tuple[WeightedLine, ...] = ()

    @property
    def text(self) -> str:
        """The lines in order of time."""
        return _join(self.lines)

    def told(self, role: str, text: str) -> "RunningSummary":
        """Return the summary after one more turn.

        The turn's weightiest sentence is added; the lightest lines go if there are too many.
        Outcomes weigh 3, decisions and corrections 2, other sentences less than 1. The weight
        of the latter falls with every turn.
        """
        stripped = [sentence.strip() for sentence in _SENTENCE.split(text)]
        sentences = [sentence for sentence in stripped if sentence]
        if not sentences:
            return self
        weights = [_weight(role, sentence) for sentence in sentences]
        heaviest = max(weights)
        best = sentences[weights.index(heaviest)]
        lines = [(_aged(weight), line) for weight, line in self.lines]
        lines.append((heaviest, f"{role}: {best[:LONGEST_SENTENCE]}"))
        while len(lines) > 1 and _tokens(lines) > MAX_TOKENS:
            lightest = min(lines[:-1], key=itemgetter(0))
            lines.remove(lightest)
        return RunningSummary(tuple(lines))


def _join(lines: Iterable[WeightedLine]) -> str:
    return "\n".join(line for _, line in lines)


def _tokens(lines: Iterable[WeightedLine]) -> int:
    return estimated_tokens(_join(lines))


def _aged(weight: float) -> float:
    if weight >= 2:
        return weight
    return weight * 0.9


def _weight(role: str, sentence: str) -> float:
    cues = read_cues([(role, sentence)])
    if cues.outcome is not Outcome.UNKNOWN:
        return 3.0
    if _DECIDED.search(sentence) or is_correction(role, sentence):
        return 2.0
    return salience(sentence)
