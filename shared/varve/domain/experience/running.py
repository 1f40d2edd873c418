"""A conversation's summary as it goes: at most 200 tokens, decisions and outcomes first, turn by turn."""

import re
from dataclasses import dataclass

from varve.domain.experience.outcomes import Outcome, cued, is_correction
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
    """The lines kept so far, each with its weight; the cost of a turn does not grow with their number."""

    lines: tuple[tuple[float, str], ...] = ()

    @property
    def text(self) -> str:
        """The lines in the order they were said."""
        return "\n".join(line for _, line in self.lines)

    def told(self, role: str, text: str) -> "RunningSummary":
        """The summary after one more turn: its weightiest sentence joins, the least weighty give way.

        Decisions and corrections weigh 2, outcomes 3, anything else less than 1 and less the older it gets.
        """
        sentences = [s.strip() for s in _SENTENCE.split(text) if s.strip()]
        if not sentences:
            return self
        weighed = [(_weight(role, sentence), sentence) for sentence in sentences]
        weight, best = max(weighed, key=lambda pair: pair[0])
        aged = [(w if w >= 2 else w * 0.9, line) for w, line in self.lines]
        lines = [*aged, (weight, f"{role}: {best[:LONGEST]}")]
        while (
            len(lines) > 1
            and estimated_tokens("\n".join(line for _, line in lines)) > MAX_TOKENS
        ):
            lines.remove(min(lines[:-1], key=lambda pair: pair[0]))
        return RunningSummary(tuple(lines))


def _weight(role: str, sentence: str) -> float:
    if cued([(role, sentence)]).outcome is not Outcome.UNKNOWN:
        return 3.0
    if _DECIDED.search(sentence) or is_correction(role, sentence):
        return 2.0
    return salience(sentence)
