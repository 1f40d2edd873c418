"""A running summary of a conversation, of at most 200 tokens, updated with every turn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from varve.domain.experience.outcomes import Outcome, is_correction, read_cues
from varve.domain.text import estimated_tokens, salience

MAX_TOKENS = 200
LONGEST = 160

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECIDED = re.compile(
    r"\b(?:decided|decision|we(?:['’]ll| will)|let['’]s|going with|agreed|decid\w+|vamos a|acordamos)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """The lines kept so far, each with its weight; their total length is bounded."""

    lines: tuple[tuple[float, str], ...] = ()

    @property
    def text(self) -> str:
        """The lines in order of time."""
        return "\n".join(line for _, line in self.lines)

    def told(self, role: str, text: str) -> "RunningSummary":
        """Return the summary after one more turn.

        The turn's weightiest sentence is added; the lightest lines go if there are too many.
        Outcomes weigh 3, decisions and corrections 2, other sentences less than 1. The weight
        of the latter falls with every turn.
        """
        sentences = [s.strip() for s in _SENTENCE.split(text) if s.strip()]
        if not sentences:
            return self
        best = max(sentences, key=lambda sentence: _weight(role, sentence))
        weight = _weight(role, best)
        lines = [(_aged(earlier), line) for earlier, line in self.lines]
        lines.append((weight, f"{role}: {best[:LONGEST]}"))
        while len(lines) > 1 and _tokens(lines) > MAX_TOKENS:
            lightest = min(lines[:-1], key=lambda pair: pair[0])
            lines.remove(lightest)
        return RunningSummary(tuple(lines))


def _tokens(lines: Sequence[tuple[float, str]]) -> int:
    return estimated_tokens("\n".join(line for _, line in lines))


def _aged(weight: float) -> float:
    return weight if weight >= 2 else weight * 0.9


def _weight(role: str, sentence: str) -> float:
    if read_cues([(role, sentence)]).outcome is not Outcome.UNKNOWN:
        return 3.0
    if _DECIDED.search(sentence) or is_correction(role, sentence):
        return 2.0
    return salience(sentence)
