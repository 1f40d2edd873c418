"""Whether a text says again what an earlier one does: a place of home or work, or a value."""

from varve.domain.statements.texts.cues import Cues
from varve.domain.statements.texts.particulars import collect_stems

OF_ONE_PLACE = frozenset({"home", "work"})
"""Topics of which a person has one place at a time."""
PLACING = "placing"
"""The list of `[changes]` whose phrases tell a place, as "I live in Porto" does."""
RESTATING = 2.5
"""What says the same of another place, as "I live in Porto" after "I live in Lisbon",
supersedes by so much more. The cases tell changes in other words, so it is set by hand.
"""


def measure_restating(before: Cues, after: Cues) -> float:
    """Return how much more likely a later text supersedes if it names another place."""
    are_of_place = before.has(PLACING) and after.has(PLACING)
    if not are_of_place or after.begins_with_other or not after.tells_name:
        return 0.0
    shared = before.topics & after.topics & OF_ONE_PLACE
    return RESTATING if shared else 0.0


def list_values(told: Cues) -> frozenset[str]:
    """Return the stems of a text's telling words, with its numbers and dates."""
    particulars = told.particulars
    stems = collect_stems(particulars.telling)
    return frozenset((*stems, *particulars.numbers, *particulars.dates))
