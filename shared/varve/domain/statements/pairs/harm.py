"""Allergies and intolerances: words about something else leave them as they are."""

from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import count_shared
from varve.domain.statements.texts.parts import split_parts

_DIET = "diet"
_OF_HARM = frozenset({_DIET, "drink", "health"})
"""Topics that a text on allergies has."""


def leaves_harm(earlier: Cues, later: Cues) -> bool:
    """Return whether the earlier text tells what harms somebody, and the later one not of it.

    Who "eats meat again" is as allergic to nuts as before, and so is whose mother is "not
    allergic any more".
    """
    if not earlier.has("harming") or later.has("correcting"):
        return False
    if later.has("harming"):
        return _is_of_other(earlier, later)
    if count_shared(later.particulars, earlier.particulars):
        return False
    if _may_end_diet(earlier, later):
        return False
    # What else the earlier text tells may have ended.
    return (earlier.topics & later.topics or earlier.topics) <= _OF_HARM


def _is_of_other(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text tells of another person alone, and the earlier of none."""
    if earlier.persons or later.has("own"):
        return False
    return bool(later.persons)


def leaves_harm_of_part(part: Cues, earlier: str, later: Cues) -> bool:
    """Return whether a later text leaves the allergy or the diet of a part, or a question.

    `earlier` is the text of the part.
    """
    is_part = part.has("harming") and len(split_parts(earlier)) > 1
    if is_part and _tells_other_harm(part, read_cues(earlier), later):
        return True
    return _leaves_harm_beside_diet(part, earlier, later)


def _tells_other_harm(part: Cues, earlier: Cues, later: Cues) -> bool:
    """Return whether a later text tells another allergy, and what it changes is another matter.

    "I moved to Kiel. I'm allergic to kiwis too" leaves the nuts of "I live in Hamburg. I'm
    allergic to nuts". It leaves an attribute's words, which name no person, if it tells no
    change.
    """
    if not later.has("harming") or later.has("correcting"):
        return False
    if later.has("ending") or later.particulars.denials:
        return False
    if (earlier.topics & later.topics) - _OF_HARM:
        return True
    return not part.has("own") and not later.tells_change


def _leaves_harm_beside_diet(part: Cues, earlier: str, later: Cues) -> bool:
    """Return whether a part, or question, is of an allergy or a diet, and the other one ends.

    "I eat meat again" ends the diet of "I'm vegan and allergic to nuts". What asks for the
    allergy, or for the nuts, is still answered by it.
    """
    said = read_cues(earlier)
    tells_both = said.has("harming") and said.has("diets")
    if not tells_both or later.has("correcting"):
        return False
    if later.has("harming"):
        return _is_of_diet_alone(part) and not later.has("diets")
    return _may_end_diet(said, later) and _is_of_harm(part, earlier, later)


def _is_of_diet_alone(part: Cues) -> bool:
    return part.has("diets") and not part.has("harming")


def _is_of_harm(part: Cues, earlier: str, later: Cues) -> bool:
    """Return whether a part is of the earlier text's allergy, which the later one leaves."""
    told = [read_cues(one) for one in split_parts(earlier)]
    harm = [one.particulars for one in told if one.has("harming")]
    if any(count_shared(later.particulars, one) for one in harm):
        return False
    return part.has("harming") or any(
        count_shared(part.particulars, one) for one in harm
    )


def _may_end_diet(earlier: Cues, later: Cues) -> bool:
    """Return whether the earlier text tells a way to eat, and the later one of eating."""
    return earlier.has("diets") and _DIET in later.topics
