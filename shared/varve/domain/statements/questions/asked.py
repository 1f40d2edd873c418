"""Which of the statements that a question finds answers it, and which a later one supersedes.

The answer to a question about the present is the last statement that answers it: the
chance of a statement is that it answers, or supersedes an earlier one that does, times the
chances that none of the later ones supersedes it. `benchmarks/updates_fit_asked.py` fitted
the weights of both on how often the right statement has the greatest chance.
"""

import math
from collections.abc import Mapping

from varve.domain.language.tokens import written_words
from varve.domain.statements.pairs.confirming import only_reminds
from varve.domain.statements.pairs.events import corrects_another_event
from varve.domain.statements.pairs.harm import leaves_harm
from varve.domain.statements.pairs.other_matters import (
    list_own_topics,
    only_visits,
    tells_place_of_another,
)
from varve.domain.statements.pairs.restating import measure_restating
from varve.domain.statements.pairs.superseding import (
    leaves,
    leaves_another,
    leaves_named,
    names_value_again,
    relate,
    split_clauses,
)
from varve.domain.statements.questions.asked_weights import (
    PAIR_WEIGHTS,
    PLACE_WEIGHTS,
    ROW_WEIGHTS,
)
from varve.domain.statements.questions.asking import Asking, Found
from varve.domain.statements.questions.pair_signals import (
    Rivals,
    measure_pair,
)
from varve.domain.statements.questions.row_signals import (
    measure_place,
    measure_row,
)
from varve.domain.statements.texts.cues import STRONG, Cues, read_cues
from varve.domain.statements.texts.particulars import count_shared
from varve.domain.statements.texts.statement import Statement

LEAST_ODDS = -20.0
COMING = "coming"
"""The list of `[changes]` whose phrases tell what is to come, as "I'm moving to Leeds"."""
NO_STATE = 6.0
"""What is to come, only reminds, or tells of another than the one asked about answers by so
much less. Too few cases tell a weight."""
BESIDE = 3.0
"""What has nothing to do with a question answers it by so much less than what has its words,
and by twice as much if that has most of them and the other one is not even like it.
"""
FAR = 0.2
"""A text of a lower cosine is not like the question."""
UNRELATED = 1.0
"""What has neither topic nor word of a question answers it by so much less than what has one. The
cases tell changes without either, so it is set by hand.
"""
UNRELATED_AMONG_STATED = 2.6
"""By so much less again in a memory of nothing but statements."""
OF_OTHER_TOPICS = 6.0
"""What tells of other everyday topics than a question answers it by so much less than what
has to do with it. Too few cases tell a weight."""
OF_OTHER_MATTER = 3.0
"""The same of what may be of the other topics of something that has to do with the question."""
OF_THE_NAMED = 1.5
"""Of the one whom a question names a later text of the same matter supersedes by so much more.
The cases tell the speaker's own matters, so it is set by hand.
"""
OF_OTHERS = 2.0
"""What tells of others answers a question of one's own by so much less, times `Asking.many`."""
BEGINNING_WORDS = 2
MERE_ENDS = frozenset({"ending", "happening"})
"""The lists of `[changes]` whose phrases tell an end, and neither whose nor of what."""
ENDED_WORDS = 3
"""So many telling words name a thing, and what happened to it."""
LEFT_THING = 2.0
"""A later text that has nothing to do with the question, nor with the earlier one, which tells
the thing that the question names, supersedes that by so much less. A case tells of one thing,
so it is set by hand.
"""

OF_ELSE = 2.0
"""A later text that shares nothing with the question, nor with the earlier one, supersedes that
by so much less if it shows of what else it tells. A case tells of one matter, so it is set by
hand.
"""
APART_AMONG_STATED = 3.5
"""In a memory of nothing but statements by so much less a later text supersedes that has nothing
to do with the question, nor with the earlier one, which has. A case tells of one matter.
"""
REPAIRED = frozenset({"health", "trouble"})
"""Topics of what may be fine again."""


def score_row(asking: Asking, found: Found) -> float:
    """Return how likely what was found answers the question, as a logit."""
    asked = asking.words
    cues = read_cues(found.text)
    signals = measure_row(asking, found)
    tells_none = _tells_no_state(asking, cues) or asked.is_of_another(cues)
    odds = weigh(signals, weights_of_rows(asking))
    odds -= OF_OTHERS * asking.many * signals["others"]
    if not asked.names_another:
        odds -= _measure_other_topics(asking, cues)
    is_unrelated = bool(signals["unrelated"])
    beside = _measure_beside(asking, found, is_unrelated=is_unrelated)
    return odds - NO_STATE * tells_none - beside


def _measure_beside(
    asking: Asking, found: Found, *, is_unrelated: bool
) -> float:
    """Return how much less likely a text answers than what has to do with the question."""
    if not asking.words.is_beside(found.text):
        if asking.is_past or not asking.words.finds_related:
            return 0.0
        less = UNRELATED + UNRELATED_AMONG_STATED * asking.plainness
        return less * is_unrelated
    is_far = found.cosine < FAR and not asking.is_past
    return 2 * BESIDE if is_far and asking.words.finds_most else BESIDE


def _measure_other_topics(asking: Asking, told: Cues) -> float:
    """Return how much less likely a text answers, for it tells of other topics."""
    if asking.words.is_of_other_topics(told):
        return OF_OTHER_TOPICS
    return OF_OTHER_MATTER if asking.words.is_of_other_matter(told) else 0.0


def _tells_no_state(asking: Asking, told: Cues) -> bool:
    """Return whether a text tells what is to come, only reminds, or tells a visit and no home."""
    if told.has(COMING) or only_reminds(told):
        return True
    return not asking.is_past and only_visits(asking.cues, told)


def weights_of_rows(asking: Asking) -> Mapping[str, float]:
    """Return the weights of the signals of what a question finds."""
    if asking.words.names_another or asking.is_of_event or asking.is_bare:
        return PLACE_WEIGHTS
    return ROW_WEIGHTS


def score_order(asking: Asking, found: Found, odds: float) -> float:
    """Return by what logit what was found stands in an answer.

    It is `odds` (`score_row`), and that of its place so far as this counts.
    """
    if not asking.by_place:
        return odds
    by_place = weigh(measure_place(found), PLACE_WEIGHTS)
    return odds + asking.by_place * (by_place - odds)


def score_pair(
    asking: Asking,
    earlier: Statement,
    later: Statement,
    odds: float,
    rivals: Rivals,
) -> float:
    """Return how likely the later statement supersedes the earlier one, as a logit.

    `odds` are those that the later one answers the question (`score_row`). -inf: the
    later one tells what is to come, goes on without a word of change, leaves as it is what
    is asked for, or tells of another than the one asked about, as it may only seem where all
    that was found tells of one matter (`Asking.doubt`).
    """
    if _is_barred(asking, earlier, later):
        return -math.inf
    guards = _measure_doubt(asking, earlier, later)
    is_of_thing = _leaves_thing(asking, earlier.cues, later.cues)
    tells_alike = is_of_thing and _tells_alike(asking, earlier, later)
    if tells_alike or math.isinf(guards):
        return -math.inf
    signals = measure_pair(asking, earlier, later, rivals)
    signals["odds"] = max(LEAST_ODDS, odds)
    if is_of_thing and signals["apart before"]:
        guards += LEFT_THING
    if asking.words.names_another:
        guards -= OF_THE_NAMED
    if signals["apart"]:
        is_before = bool(signals["apart before"])
        guards += _measure_apart(asking, earlier, later, is_before=is_before)
    guards -= measure_restating(earlier.cues, later.cues)
    return weigh(signals, PAIR_WEIGHTS) - guards


def _is_barred(asking: Asking, earlier: Statement, later: Statement) -> bool:
    """Return whether the later text cannot supersede the earlier one, for this question."""
    cues = later.cues
    if _tells_no_state(asking, cues) or leaves_named(earlier, later):
        return True
    if corrects_another_event(earlier, later):
        return True
    if tells_place_of_another(earlier, later):
        return True
    return (
        names_value_again(earlier.cues, cues)
        or _leaves_told_harm(earlier, cues)
        or _tells_another_matter(asking, earlier.cues, cues)
        or _changes_else(asking, earlier, later)
    )


def _leaves_told_harm(earlier: Statement, later: Cues) -> bool:
    """Return whether a later text leaves an earlier allergy, whatever was requested with it.

    "I'm allergic to bee stings, what do I carry on a hike?" stays true without the hike.
    """
    if not earlier.cues.has("harming"):
        return False
    told = [
        clause
        for clause in split_clauses(earlier.text)
        if not read_cues(clause).asks
    ]
    return leaves_harm(read_cues(". ".join(told)), later)


def _changes_else(
    asking: Asking, earlier: Statement, later: Statement
) -> bool:
    """Return whether the later text shows that it changes another matter, if there is one."""
    if asking.is_of_one_matter:
        return False
    return (
        turns_to_another(earlier, later)
        or leaves_another(earlier.cues, later.cues)
        or leaves(asking.cues, earlier.text, later.cues)
    )


def _measure_doubt(
    asking: Asking, earlier: Statement, later: Statement
) -> float:
    """Return by how much less the later text supersedes, for it seems to tell of another matter.

    It has no value or other everyday topics than the question, or it ends a thing of nobody's.
    """
    cues = later.cues
    seems_of_other = (
        not cues.may_tell_value
        or asking.words.is_of_other_topics(cues)
        or _ends_thing_apart(asking, earlier.cues, cues)
    )
    return asking.doubt if seems_of_other else 0.0


def _ends_thing_apart(asking: Asking, before: Cues, after: Cues) -> bool:
    """Return whether the later text ends a thing of nobody's, which has to do with nothing asked.

    "Finished the puzzle, 2000 pieces!" ends no plan for a race. "It's fixed now" names nothing.
    """
    if not after.found <= MERE_ENDS:
        return False
    if len(after.particulars.telling) < ENDED_WORDS:
        return False
    return not relate(before, after) and not relate(asking.cues, after)


def _measure_apart(
    asking: Asking, earlier: Statement, later: Statement, *, is_before: bool
) -> float:
    """Return by how much less a later text supersedes that shares nothing with the earlier one.

    `is_before`: the earlier one has to do with the question, and the later one has not. A verb
    in common shows the same matter: "I stopped taking both" of "I take ibuprofen".
    """
    less = OF_ELSE * _tells_of_else(asking, earlier.cues, later.cues)
    if not is_before or asking.is_past:
        return less
    if count_shared(earlier.cues.particulars, later.cues.particulars):
        return less
    return less + APART_AMONG_STATED * asking.plainness


def _tells_of_else(asking: Asking, before: Cues, after: Cues) -> bool:
    """Return whether a later text apart from the earlier one shows of what else it tells.

    It shares nothing with the question either. It has everyday topics, where question and
    earlier text have none; or it only says that something is fine again, and the earlier
    text tells of no trouble.
    """
    if asking.is_past or after.has("correcting"):
        return False
    if relate(asking.cues, after):
        return False
    if after.found & STRONG == {"fixing"}:
        return before.topics.isdisjoint(REPAIRED)
    known = list_own_topics(asking.cues) or list_own_topics(before)
    return bool(list_own_topics(after)) and not known


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


def weigh(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the weighted sum of the signals."""
    return sum(weight * signals[name] for name, weight in weights.items())


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
    if asked.is_of_another(after):
        return True
    if asking.is_bare and not asked.count(after):
        return True
    return asked.names_another and not asked.share_matter(before, after)
