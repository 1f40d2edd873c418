"""Whether the first of what a question finds answers it, and what else may."""

from collections.abc import Mapping, Sequence

from varve.domain.statements.questions.asked import weigh
from varve.domain.statements.questions.asked_weights import ANSWER_WEIGHTS
from varve.domain.statements.questions.asking import Asking, Found
from varve.domain.statements.questions.bearing import seeks_own
from varve.domain.statements.questions.row_signals import measure_row

LIKELY = -0.1
"""The least logit of a first statement that answers the question."""
LIKELY_OF_OWN = -2.0
"""The same where the question asks for the speaker's own state, or for what memory knows, and
the statement is at all like it.

To leave the answer out costs more there than a line that does not answer.
"""
NEAR_FIRST = 1 / 3
"""What has at least this share of the first one's chance to answer may answer as well."""
MOST_MARGIN = 3.0


def answers(asking: Asking, found: Found, chances: Sequence[float]) -> bool:
    """Return whether the first of what was found likely answers the question.

    `chances` are the logarithms of the chances of all, its own among them.
    """
    signals = measure_best(measure_row(asking, found), measure_margin(chances))
    has_to_do = signals["near"] > 0 or not signals["unrelated"]
    is_guessed = has_to_do and seeks_own(asking.cues)
    least = LIKELY_OF_OWN if is_guessed else LIKELY
    return weigh(signals, ANSWER_WEIGHTS) >= least


def measure_margin(chances: Sequence[float]) -> float:
    """Return how far the greatest chance stands out from the second one; 0: it is alone."""
    if len(chances) < 2:
        return 0.0
    first, second = sorted(chances, reverse=True)[:2]
    return min(MOST_MARGIN, first - second)


def measure_best(
    signals: Mapping[str, float], margin: float
) -> dict[str, float]:
    """Return what shows that the first of what was found answers, by its own signals."""
    return {
        "bias": 1.0,
        "near": signals["near"],
        "unrelated": signals["unrelated"],
        "margin": margin,
    }
