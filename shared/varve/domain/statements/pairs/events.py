"""What was done once: of two purchases neither supersedes the other."""

from collections.abc import Sequence

from varve.domain.statements.texts.cues import (
    CHANGES,
    Cues,
    asks_past,
    read_cues,
)
from varve.domain.statements.texts.particulars import (
    collect_stems,
    count_shared,
    list_any_matter,
    list_shared,
)
from varve.domain.statements.texts.statement import Statement

ALIKE_WORDS = 3
"""Two changes with so many words in common are two of a kind."""
MIN_NAMED = 2
"""A correction with so many stems of its own names what it corrects."""
MOST_LOOKED_AT = 3
"""One of so many statements found first tells an event, where a question asks for it."""


def asks_event(asked: Cues) -> bool:
    """Return whether a question asks for what was done once, as "What did I buy?" does."""
    if asked.has("asks_event"):
        return True
    if asked.has("asks_past"):
        return False
    return asked.particulars.asks and asked.has("happening")


def asks_bygone(question: str) -> bool:
    """Return whether a question asks for what held before, not for what was done once."""
    return asks_past(question) and not asks_event(read_cues(question))


def asks_for_told_event(asked: Cues, found: Sequence[Cues]) -> bool:
    """Return whether a question asks for what was done once, and one of the first found tells it."""
    told = found[:MOST_LOOKED_AT]
    return asks_event(asked) and any(one.has("happening") for one in told)


def leaves_event(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text leaves an event as it is: of two purchases neither has ended.

    It tells no change, or only what was done as well; or both tell a change in nearly the
    same words.
    """
    if earlier.has("happening") and _changes_nothing(earlier, later):
        return True
    if not (earlier.is_strong and later.is_strong):
        return False
    return count_shared(later.particulars, earlier.particulars) >= ALIKE_WORDS


def leaves_asked_event(asked: Cues, earlier: Cues, later: Cues) -> bool:
    """Return whether a question asks for what the earlier text tells was done, which stays so.

    Only a correction changes that.
    """
    if not earlier.has("happening") or later.has("correcting"):
        return False
    return asks_event(asked)


def _changes_nothing(earlier: Cues, later: Cues) -> bool:
    changes = later.found.intersection(CHANGES)
    if not changes:
        return True
    if not later.has("happening") or "correcting" in changes:
        return False
    return changes <= earlier.found


def corrects_another_event(earlier: Statement, later: Statement) -> bool:
    """Return whether a later correction names something else than what was done once.

    "Oops, the gas bill was 121" leaves "I paid the vet 64 euros" as it is.
    """
    if earlier.conversation == later.conversation:
        return False
    before = earlier.cues
    after = later.cues
    if not (before.has("happening") and after.has("correcting")):
        return False
    named = collect_stems(after.particulars.telling) - list_any_matter()
    shared = list_shared(before.particulars, after.particulars)
    return len(named) >= MIN_NAMED and not shared
