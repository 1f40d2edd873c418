"""Whether a decision follows the action of a lesson or the answer of an episode."""

from varve.domain.experience.history import PastEpisode
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import normalize
from varve.domain.experience.words import content_words
from varve.domain.statements.texts.particulars import read_particulars


def action_taken(past: PastEpisode) -> str | None:
    """Return the action an episode's agent took, if known.

    Without a stated decision, the right action of a successful episode was taken.
    """
    if past.decision:
        return past.decision
    return past.resolution if past.outcome is Outcome.SUCCESS else None


def follows(decision: str | None, action: str | None) -> bool:
    """Return whether a decision takes an action.

    The decision has all content words of the action, and the same numbers, dates and
    number of denials. So "I raise the pool size" takes "raise the pool", but
    "do not raise the pool" does not.
    """
    if not decision or not action:
        return False
    if normalize(decision) == normalize(action):
        return True
    wanted = content_words(action)
    if not wanted or not wanted <= content_words(decision):
        return False
    taken = read_particulars(decision)
    asked = read_particulars(action)
    same_figures = (taken.numbers, taken.dates) == (asked.numbers, asked.dates)
    return same_figures and taken.denials == asked.denials
