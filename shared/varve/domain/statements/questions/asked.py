"""Which of the statements that a question finds answers it, and which a later one supersedes.

The answer to a question about the present is the last statement that answers it: the
chance of a statement is that it answers, times the chances that none of the later ones
supersedes it. `benchmarks/updates_fit_asked.py` fitted the weights of both on how often
the right statement has the greatest chance.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from varve.domain.language.tokens import written_words
from varve.domain.statements.pairs.confirming import only_reminds
from varve.domain.statements.pairs.events import corrects_another_event
from varve.domain.statements.pairs.other_matters import (
    only_visits,
    tells_place_of_another,
)
from varve.domain.statements.pairs.restating import measure_restating
from varve.domain.statements.pairs.superseding import (
    have_both,
    leaves,
    leaves_another,
    leaves_named,
    measure_bars,
    measure_likeness,
    names_value_again,
    relate,
    tells_nothing_own,
    tells_of_others,
)
from varve.domain.statements.questions.asked_weights import (
    MANY_OF_PAIRS,
    MANY_OF_ROWS,
    PAIR_WEIGHTS,
    PLACE_WEIGHTS,
    ROW_WEIGHTS,
)
from varve.domain.statements.questions.asked_words import AskedWords
from varve.domain.statements.texts.cues import MOST_PRESENT, Cues, read_cues
from varve.domain.statements.texts.statement import Statement
from varve.domain.statements.texts.wording import read_wording

LEAST_SHARE = 1e-3
FIRST_PLACES = 3
CROWD_UNIT = 10
"""Among fewer statements than these no more stands beside the one asked for."""
LEAST_ODDS = -20.0
COMING = "coming"
"""The list of `[changes]` whose phrases tell what is to come, as "I'm moving to Leeds"."""
NO_STATE = 6.0
"""What is to come, only reminds, or tells of another than the one asked about answers by so
much less. Too few cases tell a weight."""
BESIDE = 3.0
"""What has nothing to do with a question answers it by so much less than what has its words."""
OF_OTHER_TOPICS = 6.0
"""What tells of other everyday topics than a question answers it by so much less than what
has to do with it. Too few cases tell a weight."""
OF_THE_NAMED = 1.5
"""Of the one whom a question names a later text of the same matter supersedes by so much more.
The cases tell the speaker's own matters, so it is set by hand.
"""
BEGINNING_WORDS = 2
OWN_PLACES = 20
"""So many rows found show whether there are many own statements."""
OWN_UNIT = 6
"""Among fewer own statements most of what was found is of the matter asked for."""
APART_OF_MANY = 3.0
"""Where somebody tells many things, a later text that shares nothing with the earlier one
supersedes by so much less, and by twice as much if the question is about the earlier one.
A case tells of one matter, so it is set by hand.
"""
LEFT_THING = 2.0
"""A later text that has nothing to do with the question, nor with the earlier one, which tells
the thing that the question names, supersedes that by so much less. A case tells of one thing,
so it is set by hand.
"""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question's cues, and of how many statements of persons it asks.

    `words` compares what was found with the question's own words. `is_past`: it asks for
    what held before. `own` counts the statements found of persons' own matters. `is_open`:
    it asks who, where or how much, not whether something is so. `is_of_event`: it asks for
    what was done once, and one of the first statements found tells that.
    """

    cues: Cues
    count: int
    words: AskedWords
    is_past: bool = False
    own: int = 0
    is_open: bool = False
    is_of_event: bool = False

    @property
    def crowd(self) -> float:
        """How many other statements there are to mistake for the one asked for, 0 for few."""
        return math.log(max(1.0, self.count / CROWD_UNIT))

    @property
    def many(self) -> float:
        """How many own matters what was found tells, 0 for few.

        Among requests and chatter, what a person states is likely the answer; in a memory
        of nothing but statements that shows nothing.
        """
        return math.log(max(1.0, self.own / OWN_UNIT))


@dataclass(frozen=True, slots=True)
class Found:
    """A statement that a question found, or another row without one.

    `share` is its score as a share of the best one, `place` its place from 0, `cosine` its
    likeness to the question. `is_fact`: a fact tells it too. `is_assistant`: the assistant
    said it.
    """

    text: str
    share: float
    place: int
    cosine: float
    is_fact: bool = False
    is_assistant: bool = False


def score_row(asking: Asking, found: Found) -> float:
    """Return how likely what was found answers the question, as a logit."""
    asked = asking.words
    cues = read_cues(found.text)
    signals = measure_row(asking, found)
    tells_none = _tells_no_state(asking, cues) or asked.is_of_another(cues)
    is_beside = asked.is_beside(found.text)
    odds = weigh(signals, weights_of_rows(asking))
    if not asked.names_another and asked.is_of_other_topics(cues):
        odds -= OF_OTHER_TOPICS
    return odds - NO_STATE * tells_none - BESIDE * is_beside


def _tells_no_state(asking: Asking, told: Cues) -> bool:
    """Return whether a text tells what is to come, only reminds, or tells a visit and no home."""
    if told.has(COMING) or only_reminds(told):
        return True
    return not asking.is_past and only_visits(asking.cues, told)


def weights_of_rows(asking: Asking) -> Mapping[str, float]:
    """Return the weights of the signals of what a question finds."""
    if asking.words.names_another or asking.is_of_event:
        return PLACE_WEIGHTS
    return ROW_WEIGHTS


def score_pair(
    asking: Asking, earlier: Statement, later: Statement, odds: float
) -> float:
    """Return how likely the later statement supersedes the earlier one, as a logit.

    `odds` are those that the later one answers the question (`score_row`). -inf: the
    later one has no value, tells what is to come, goes on without a word of change,
    leaves as it is what is asked for, or tells of another than the one asked about.
    """
    if _is_barred(asking, earlier, later):
        return -math.inf
    is_of_thing = _leaves_thing(asking, earlier.cues, later.cues)
    if is_of_thing and _tells_alike(asking, earlier, later):
        return -math.inf
    signals = measure_pair(asking, earlier, later)
    signals["odds"] = max(LEAST_ODDS, odds)
    is_apart = signals["apart"] + signals["apart before"]
    guards = APART_OF_MANY * asking.many * is_apart
    if is_of_thing and signals["apart before"]:
        guards += LEFT_THING
    if asking.words.names_another:
        guards -= OF_THE_NAMED
    guards -= measure_restating(earlier.cues, later.cues)
    return weigh(signals, PAIR_WEIGHTS) - guards


def _is_barred(asking: Asking, earlier: Statement, later: Statement) -> bool:
    """Return whether the later text cannot supersede the earlier one, for this question."""
    cues = later.cues
    if not cues.may_tell_value or _tells_no_state(asking, cues):
        return True
    if turns_to_another(earlier, later) or leaves_named(earlier, later):
        return True
    if corrects_another_event(earlier, later):
        return True
    if tells_place_of_another(earlier, later):
        return True
    return (
        leaves_another(earlier.cues, cues)
        or names_value_again(earlier.cues, cues)
        or leaves(asking.cues, earlier.text, cues)
        or _tells_another_matter(asking, earlier.cues, cues)
    )


def _leaves_thing(asking: Asking, before: Cues, after: Cues) -> bool:
    """Return whether the later text may be of another thing than the question and the earlier.

    "Do I live in Lisbon?" names a value, which another one may supersede.
    """
    if asking.is_past or not asking.is_open or after.has("correcting"):
        return False
    return asking.words.leaves_thing(before, after)


def _tells_alike(asking: Asking, earlier: Statement, later: Statement) -> bool:
    """Return whether the later text begins as the earlier one does, and names another thing.

    "I play chess on Thursdays" tells no change of "I play tennis on Mondays".
    """
    if later.cues.tells_change:
        return False
    if not asking.words.tells_new_thing(earlier.cues, later.cues):
        return False
    return _read_beginning(earlier.text) == _read_beginning(later.text)


def _read_beginning(text: str) -> list[str]:
    """Return the first words of a text, with any number in place of another."""
    first = written_words(text)[:BEGINNING_WORDS]
    return ["0" if word.isdigit() else word.casefold() for word in first]


def count_own(found: Iterable[Found]) -> int:
    """Return how many of the first rows found state what is a person's own matter.

    Of the first ones alone, so that the order does not depend on how many are wanted.
    """
    first = islice(found, OWN_PLACES)
    said = (read_cues(one.text) for one in first if not one.is_assistant)
    return sum(map(_states_own, said))


def _states_own(told: Cues) -> bool:
    if told.asks or told.has("asks_help"):
        return False
    return told.has("own") or bool(told.persons)


def weigh(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the weighted sum of the signals."""
    return sum(weight * signals[name] for name, weight in weights.items())


def measure_row(asking: Asking, found: Found) -> dict[str, float]:
    """Return the signals of what was found."""
    question = asking.cues
    cues = read_cues(found.text)
    wording = read_wording(found.text)
    is_users = float(not found.is_assistant)
    share = math.log(max(LEAST_SHARE, found.share))
    near = max(0.0, found.cosine)
    telling = wording.telling * is_users
    unrelated = float(not relate(question, cues))
    likeness = measure_likeness(question, cues)["likeness"]
    has_number = bool(cues.particulars.numbers)
    has_date = bool(cues.particulars.dates)
    is_past = float(asking.is_past)
    signals = {
        "bias": 1.0,
        "share": share,
        "first": float(found.place == 0),
        "among first": float(found.place < FIRST_PLACES),
        "near": near,
        "fact": float(found.is_fact),
        "assistant": float(found.is_assistant),
        "telling": telling,
        "changing": wording.changing * is_users,
        "likeness": likeness,
        "unrelated": unrelated,
        "own": float(cues.has("own")),
        "asks": float(cues.asks),
        "question": float(cues.particulars.asks),
        "name": float(cues.tells_name),
        "number": float(has_number),
        "date": float(has_date),
        "persons": min(2, len(cues.persons)) / 2,
        "present": min(MOST_PRESENT, cues.present) / MOST_PRESENT,
        "others": float(_tells_others(question, cues)),
        "asks help": float(cues.has("asks_help")),
        "crowd": asking.crowd,
        "crowd share": asking.crowd * share,
        "crowd near": asking.crowd * near,
        "crowd likeness": asking.crowd * likeness,
        "crowd telling": asking.crowd * telling,
        "crowd unrelated": asking.crowd * unrelated,
        "past": is_past,
        "past share": is_past * share,
        "past changing": is_past * wording.changing * is_users,
        "past unrelated": is_past * unrelated,
        "many": asking.many,
    }
    return signals | _measure_many(asking, signals, MANY_OF_ROWS)


def measure_pair(
    asking: Asking, earlier: Statement, later: Statement
) -> dict[str, float]:
    """Return the signals of a pair; "odds", those of the later one, are left at 0."""
    before = earlier.cues
    after = later.cues
    wording = read_wording(later.text)
    cosine = max(0.0, float(earlier.vector @ later.vector))
    words = measure_likeness(before, after)["words"]
    is_same_talk = earlier.conversation == later.conversation
    signals = {
        "bias": 1.0,
        "odds": 0.0,
        "cosine": cosine,
        "words": words,
        "change": float(after.tells_change),
        "changing": wording.changing,
        "telling": wording.telling,
        "changed": read_wording(earlier.text).changing,
        "name": float(after.tells_name),
        "names": float(before.tells_name and after.tells_name),
        "numbers": have_both(
            before.particulars.numbers, after.particulars.numbers
        ),
        "same talk": float(is_same_talk),
        "continues": float(later.position > 0 and not is_same_talk),
        **measure_bars(before, after),
        "nothing own": float(tells_nothing_own(before, after)),
        "crowd": asking.crowd,
        "crowd cosine": asking.crowd * cosine,
        "crowd words": asking.crowd * words,
        "crowd changing": asking.crowd * wording.changing,
        "past": float(asking.is_past),
        **_measure_distance(asking, before, after),
    }
    return signals | _measure_many(asking, signals, MANY_OF_PAIRS)


def _measure_many(
    asking: Asking, signals: Mapping[str, float], names: Iterable[str]
) -> dict[str, float]:
    """Return signals times how many own matters were found."""
    return {f"many {name}": asking.many * signals[name] for name in names}


def _tells_others(question: Cues, told: Cues) -> bool:
    """Return whether a text tells of others, and the question asks for the speaker."""
    if not question.has("own") or question.persons:
        return False
    return told.begins_with_other or tells_of_others(question, told)


def turns_to_another(earlier: Statement, later: Statement) -> bool:
    """Return whether a speaker goes on in one conversation with another matter.

    "I live in Lisbon. I repaired the oven" changes no home; "sorry, I meant Porto" does.
    """
    if earlier.conversation != later.conversation:
        return False
    if later.cues.has("correcting"):
        return False
    is_change = later.cues.tells_change
    return not (is_change and relate(earlier.cues, later.cues))


def _tells_another_matter(asking: Asking, before: Cues, after: Cues) -> bool:
    """Return whether the later text is about another, or another matter of the same one.

    "I owe Ada twenty euros" leaves where Ada works as it is.
    """
    asked = asking.words
    if asked.is_of_another(after) or asked.is_of_other_topics(after):
        return True
    return asked.names_another and not asked.share_matter(before, after)


def _measure_distance(
    asking: Asking, before: Cues, after: Cues
) -> dict[str, float]:
    """Return how two texts are apart: they share no topic and no word that tells one.

    "We switched flour to Paulus Bio" leaves an allergy as it is, whichever of the two
    the question is about.
    """
    is_apart = not relate(before, after)
    is_asked_before = is_apart and relate(asking.cues, before)
    is_asked_after = is_apart and relate(asking.cues, after)
    return {
        "apart": float(is_apart),
        "apart before": float(is_asked_before and not is_asked_after),
        "apart after": float(is_asked_after and not is_asked_before),
        "apart change": float(is_apart and after.tells_change),
    }
