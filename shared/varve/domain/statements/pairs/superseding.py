"""Whether a later statement supersedes an earlier one, from their words and vectors alone.

`benchmarks/updates_fit.py` fitted the weights on the first part of its cases and
on the project's corpus.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

import numpy as np

from varve.domain.statements.pairs.events import (
    corrects_another_event,
    leaves_event,
)
from varve.domain.statements.pairs.harm import (
    leaves_harm,
    leaves_harm_of_part,
)
from varve.domain.statements.pairs.named_subjects import (
    names_another,
    share_name,
)
from varve.domain.statements.texts.cues import (
    CHANGES,
    GUARDS,
    PASSING,
    Cues,
    read_cues,
)
from varve.domain.statements.texts.particulars import (
    collect_stems,
    count_shared,
    list_shared,
)
from varve.domain.statements.texts.several import (
    ends_another_value,
    leaves_other_value,
)
from varve.domain.statements.texts.statement import Statement

_CLAUSE_ENDS = re.compile(r"[.,;:!?]+\s|\s(?:and|but|y|pero)\s", re.IGNORECASE)
NEAR_MESSAGES = 4
"""A correction follows what it corrects within so many messages."""
MAX_NEW_WORDS = 4
"""An answer with more words of its own than these adds something."""
MIN_CROWD = 10
"""Of fewer later statements each is as likely as among so many."""
NEVER = ("almost", "refused", "coming", "reported")
"""A text with one of these supersedes nothing."""

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -3.87, "cosine": -0.05, "topic": 1.80, "topics": 0.94,
        "likeness": 1.69, "words": 0.80, "name": 0.27, "nearest": 1.96,
        "numbers": 0.69, "dates": -0.99, "own before": 0.70, "own after": 0.23,
        "guarded before": -2.06, "guarded after": -0.25, "change": 2.52,
        "strong": 0.56, "change of topic": -0.30, "change nearby": 0.47,
        "corrected at once": 2.39, "nothing shared": -0.53, "crowd": -1.00,
        "correcting": 0.41, "ending": 0.13, "changing": 0.52, "fixing": 0.46,
        "now": 0.48, "recent": 0.05,
    }
)  # fmt: skip

NEAREST = WEIGHTS["nearest"]
"""What it adds that no earlier statement of the speaker is nearer to the later one."""


def score_pair(
    earlier: Statement,
    later: Statement,
    crowd: int,
    *,
    is_nearest: bool = False,
) -> float:
    """Return how likely `later` supersedes `earlier`, as a logit; 0 means even odds.

    `crowd` counts the later statements of the speaker: of many, each is less likely the
    one that supersedes. `is_nearest`: of the speaker's earlier statements none is nearer
    to the later one. -inf: it cannot, for it tells of another person, a wish or what
    almost came.
    """
    if is_barred(earlier.cues, later.cues) or changes_others(earlier, later):
        return -np.inf
    if leaves_named(earlier, later) or corrects_another_event(earlier, later):
        return -np.inf
    signals = measure_pair(earlier, later, crowd, is_nearest=is_nearest)
    return sum(WEIGHTS[name] * value for name, value in signals.items())


def measure_bars(earlier: Cues, later: Cues) -> dict[str, float]:
    """Return 1 for each reason why the later text hardly supersedes, else 0."""
    return {
        "never": float(any(later.has(name) for name in NEVER)),
        "event": float(leaves_event(earlier, later)),
    }


def is_barred(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text cannot supersede, as far as its words show."""
    return (
        is_guarded(earlier, later)
        or leaves_event(earlier, later)
        or _tells_of_another_thing(earlier, later)
        or leaves_another(earlier, later)
        or names_value_again(earlier, later)
    )


def is_guarded(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text asks, or tells of no own present state.

    No model's judgement changes that.
    """
    if earlier.asks or any(later.has(name) for name in NEVER):
        return True
    return tells_nothing_own(earlier, later)


def tells_nothing_own(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text only asks, or tells of others or nothing present."""
    if later.asks or later.has("almost"):
        return True
    if later.begins_with_other and not earlier.persons:
        return True
    if tells_of_others(earlier, later) and not later.has("correcting"):
        return True
    return tells_no_present(later)


def _tells_of_another_thing(earlier: Cues, later: Cues) -> bool:
    """Return whether neither text tells of the speaker, nor of a change, nor of one thing.

    "The plumber is at …" and "The roofer is at …" are two.
    """
    if earlier.has("own") or later.has("own") or later.tells_change:
        return False
    return count_shared(later.particulars, earlier.particulars) == 0


def leaves_another(earlier: Cues, later: Cues) -> bool:
    """Return whether the earlier text tells another person's state, and the later one's own.

    Or whether it tells an allergy, and the later one nothing of that, or the later one ends
    another value of the same attribute.
    """
    return (
        leaves_harm(earlier, later)
        or ends_another_value(earlier, later)
        or _leaves_other_person(earlier, later)
    )


def _leaves_other_person(earlier: Cues, later: Cues) -> bool:
    """Return whether the earlier text tells another person's state, and the later one's own.

    "I moved to Porto" leaves where "my brother" lives as it is. "I report to Tomasz" may end
    "my boss is Helen": both tell of what the other person is to the speaker. Where they share
    no topic, "I joined Initech" leaves what one of the family does.
    """
    if not earlier.begins_with_other or earlier.has("own"):
        return False
    if not later.has("own") or later.has("correcting"):
        return False
    if _list_relations(later) or share_name(earlier, later):
        return False
    relations = [read_cues(one).topics for one in _list_relations(earlier)]
    shared = earlier.topics & later.topics
    if shared:
        return shared.isdisjoint(chain.from_iterable(relations))
    return frozenset({"family"}) in relations


def leaves_named(earlier: Statement, later: Statement) -> bool:
    """Return whether one text tells the state of somebody by name, and the other the speaker's.

    "Bo Larsen lives in Oslo" and "I moved to Porto" leave each other as they are, unless
    the speaker's own text names what somebody is to them ("my boss") or the same name.
    """
    if later.cues.has("correcting") or share_name(earlier.cues, later.cues):
        return False
    for one, other in ((earlier, later), (later, earlier)):
        if one.cues.has("own") or not other.cues.has("own"):
            continue
        if names_another(one.text, one.speaker):
            return not _list_relations(other.cues)
    return False


def _list_relations(cues: Cues) -> list[str]:
    """Return the persons in a text that it names by what they are, as "my sister"."""
    return [person for person in cues.persons if " " in person]


def names_value_again(before: Cues, after: Cues) -> bool:
    """Return whether a later text names the values of an earlier one and no others.

    "Rex, my dog, was ill" leaves "My dog is called Rex" as it is. The earlier one tells a
    name or a place alone: "Rex is sick" may end.
    """
    told = _name_values(before)
    if not told or not (before.has("placing") or "naming" in before.topics):
        return False
    if after.tells_change or after.particulars.denials:
        return False
    if not told <= collect_stems(after.particulars.telling):
        return False
    return _name_values(after) <= collect_stems(before.particulars.telling)


def _name_values(cues: Cues) -> set[str]:
    """Return the stems of the names behind the first telling word."""
    return collect_stems(
        word for word in cues.particulars.telling[1:] if word.named
    )


def tells_no_present(later: Cues) -> bool:
    """Return whether a text tells of a wish, a visit or bygone times and of no change."""
    if later.found.isdisjoint(PASSING):
        return False
    return later.firm.isdisjoint(CHANGES)


def tells_of_others(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text tells only of persons whom the earlier does not name."""
    if later.has("own"):
        return False
    relations = _list_relations(later)
    if relations:
        known = _last_words(earlier.persons)
        is_known = bool(known & _last_words(relations))
        return not is_known and not share_name(earlier, later)
    singular = later.persons & {"he", "she", "his", "her", "dad", "mum", "mom"}
    return (
        bool(singular)
        and not earlier.persons
        and not share_name(earlier, later)
    )


def changes_others(earlier: Statement, later: Statement) -> bool:
    """Return whether the later text's clauses on the earlier topics tell of others.

    "I like sushi. My sister lives in Madrid" changes no home of the speaker, nor does
    "Ingrid lives in Hamar. I have a sister Ingrid".
    """
    before = earlier.cues
    about = [
        clause
        for clause in split_clauses(later.text)
        if read_cues(clause).topics & before.topics
    ]
    return bool(about) and all(
        _tells_of_another(earlier, clause, later.speaker) for clause in about
    )


def _tells_of_another(earlier: Statement, clause: str, speaker: str) -> bool:
    """Return whether a clause tells of others, by name too, and the earlier text does not."""
    told = read_cues(clause)
    if tells_of_others(earlier.cues, told):
        return True
    if not earlier.cues.has("own") or told.has("own"):
        return False
    return names_another(clause, speaker) and not share_name(
        earlier.cues, told
    )


def _last_words(persons: Iterable[str]) -> set[str]:
    return {person.split()[-1].removesuffix("'s") for person in persons}


def measure_likeness(earlier: Cues, later: Cues) -> dict[str, float]:
    """Return the share of common topics, and how many words are common, at most two."""
    every = earlier.topics | later.topics
    told = count_shared(later.particulars, earlier.particulars)
    return {
        "likeness": len(earlier.topics & later.topics) / max(1, len(every)),
        "words": min(told, 2) / 2,
    }


def relate(one: Cues, other: Cues) -> bool:
    """Return whether two texts share a topic, or a word that tells what they are about.

    Two matters may be told with "week", "put" or "moved".
    """
    return bool(one.topics & other.topics) or share_words(one, other)


def share_words(one: Cues, other: Cues) -> bool:
    """Return whether two texts share a word that tells what they are about."""
    return bool(list_shared(one.particulars, other.particulars))


def leaves(part: Cues, earlier: str, later: Cues) -> bool:
    """Return whether the later text leaves a part of the earlier one as it is.

    "I'm a nurse and live in Porto" still answers for the work after "I moved": the
    clause about the part is another than the one that the later text changes. So does "I'm
    vegan and allergic to nuts" for the allergy after "I eat meat again".
    """
    if leaves_other_value(part, earlier, later):
        return True
    if leaves_harm_of_part(part, earlier, later):
        return True
    if part.topics & later.topics:
        return False
    is_told = False
    is_changed = False
    for clause in split_clauses(earlier):
        told = read_cues(clause)
        topics = told.topics
        is_of_part = bool(topics & part.topics) or (
            not part.asks and share_words(part, told)
        )
        is_told |= is_of_part and topics.isdisjoint(later.topics)
        is_changed |= bool(topics & later.topics and not topics & part.topics)
    return is_told and is_changed


def adds_nothing(answer: Cues, said: Cues) -> bool:
    """Return whether an answer adds nothing to a statement."""
    known = collect_stems(said.particulars.telling)
    telling = answer.particulars.telling
    new_words = [word for word in telling if not word.stems & known]
    new_numbers = set(answer.particulars.numbers) - set(
        said.particulars.numbers
    )
    new_dates = set(answer.particulars.dates) - set(said.particulars.dates)
    return (
        len(new_words) <= MAX_NEW_WORDS and not new_numbers and not new_dates
    )


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a text, as far as punctuation and "and" show them."""
    return [clause for clause in _CLAUSE_ENDS.split(text) if clause.strip()]


def measure_pair(
    earlier: Statement, later: Statement, crowd: int, *, is_nearest: bool
) -> dict[str, float]:
    """Return the signals of a pair (`score_pair`), each about from 0 to 1.

    Only "crowd" is greater: the natural logarithm of the count, at least `MIN_CROWD`.
    """
    before = earlier.cues
    after = later.cues
    cosine = max(0.0, float(earlier.vector @ later.vector))
    shared = before.topics & after.topics
    alike = measure_likeness(before, after)
    is_same_talk = _are_near(earlier, later)
    signals = {
        "bias": 1.0,
        "cosine": cosine,
        "topic": float(bool(shared)),
        "topics": min(len(shared), 3) / 3,
        **alike,
        "name": float(share_name(before, after)),
        "nearest": float(is_nearest),
        "numbers": have_both(
            before.particulars.numbers, after.particulars.numbers
        ),
        "dates": have_both(before.particulars.dates, after.particulars.dates),
        "own before": float(before.has("own")),
        "own after": float(after.has("own")),
        "guarded before": float(any(before.has(name) for name in GUARDS)),
        "guarded after": float(any(after.has(name) for name in GUARDS)),
        "change": float(after.tells_change),
        "strong": float(after.is_strong),
        "change of topic": float(after.tells_change and bool(shared)),
        "change nearby": float(after.tells_change) * cosine,
        "corrected at once": float(after.has("correcting") and is_same_talk),
        "nothing shared": float(not any(alike.values()) and cosine < 0.25),
        "crowd": math.log(max(MIN_CROWD, crowd)),
    }
    for name in (*CHANGES, "recent"):
        signals[name] = float(after.has(name))
    return signals


def have_both(before: Sequence[str], after: Sequence[str]) -> float:
    """Return 1 if both texts have words of a sort, else 0."""
    return float(bool(before) and bool(after))


def _are_near(earlier: Statement, later: Statement) -> bool:
    if (
        earlier.conversation is None
        or earlier.conversation != later.conversation
    ):
        return False
    return 0 < later.position - earlier.position <= NEAR_MESSAGES
