"""Whether two statements tell of one matter, so that both can hardly hold."""

from varve.domain.statements.cues import Cues
from varve.domain.statements.particulars import count_shared

LEAST_LIKENESS = 0.5
"""Two statements of one matter have more than this share of their topics in common."""


def have_same_matter(earlier: Cues, later: Cues) -> bool:
    """Return whether two texts share a word and most of their everyday topics.

    "I take the bus to work" and "I cycle to work" do. Texts without such topics share a
    word alone.
    """
    if count_shared(later.particulars, earlier.particulars) == 0:
        return False
    every = earlier.topics | later.topics
    shared = earlier.topics & later.topics
    return not every or len(shared) > LEAST_LIKENESS * len(every)
