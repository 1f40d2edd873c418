"""Whether a later text tells of another matter than an earlier one, as its topics show.

Two matters may both be told with a day, a price or a person. Such a topic alone does not
show that the later text changes what the earlier one tells.
"""

from collections.abc import Iterable

from varve.domain.language.stems import stem_all
from varve.domain.statements.pairs.superseding import (
    changes_others,
    relate,
    share_words,
    split_clauses,
    tells_no_present,
)
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import (
    collect_stems,
    list_shared,
)
from varve.domain.statements.texts.statement import Statement

BESIDE_ALL = frozenset(
    {"contact", "family", "naming", "people", "price", "schedule", "trouble"}
)
"""Topics of which statements of every other one may tell too."""
OF_ONE_VALUE = frozenset({"home", "work", "partner"})
"""Topics of which a person has one value: a clause beside a change may tell it."""
PLACES = frozenset({"home", "work"})
"""Topics of which another person's state changes nothing of one's own."""
PASSING_TOPICS = BESIDE_ALL - {"family"}
"""Topics that do not show what a text tells of a person whom it names."""


def tells_other_matter(before: Cues, later: str) -> bool:
    """Return whether a later text tells of another matter than an earlier one.

    What shares a telling word, or corrects, may be of the same matter. A name is no such
    word where the later text begins with it and tells no change: much is told of one person.
    """
    after = read_cues(later)
    if after.has("correcting"):
        return False
    return _has_other_topics(before, after) or changes_other_topic(
        before, later
    )


def _has_other_topics(before: Cues, after: Cues) -> bool:
    """Return whether two texts share a passing topic or a person, and tell others of their own.

    "My exams start on 4 June" leaves "I run on Mondays" as it is; "they start on Tuesday"
    may not. Where both name a person, the earlier one must show what it tells of them.
    """
    own = list_own_topics(after)
    if not own or not own.isdisjoint(before.topics):
        return False
    shared = list_shared(before.particulars, after.particulars)
    if not shared:
        return not before.topics.isdisjoint(after.topics)
    if after.tells_change or shared - _list_people(before, after):
        return False
    begins_with_name = bool(after.particulars.telling[0].stems & shared)
    return begins_with_name and bool(before.topics - PASSING_TOPICS)


def changes_other_topic(before: Cues, later: str) -> bool:
    """Return whether the later text changes another topic, and tells the shared one beside.

    "I stopped playing tennis, my knee hurts" ends no appointment with the dentist.
    """
    clauses = [read_cues(clause) for clause in split_clauses(later)]
    changing = [clause for clause in clauses if clause.tells_change]
    if not _change_other(before, changing):
        return False
    return not any(
        _may_tell_state(before, clause)
        for clause in clauses
        if not clause.tells_change
    )


def tells_day_alone(asked: Cues, before: Cues, after: Cues) -> bool:
    """Return whether a later text shares only a day with an earlier one, asked for a home or work.

    "Wednesdays at 11 please" ends no home that "I moved to Porto on Saturday" tells; "I start
    at Initech on Monday" may end the work.
    """
    shared = before.topics & after.topics
    if not shared or not shared <= BESIDE_ALL:
        return False
    if after.has("own") or after.tells_name:
        return False
    if not asked.topics & before.topics & OF_ONE_VALUE:
        return False
    return not relate(asked, after) and not share_words(before, after)


def only_visits(asked: Cues, told: Cues) -> bool:
    """Return whether a text tells of a visit and of no change, asked where one lives."""
    is_visit = told.has("visiting") and tells_no_present(told)
    return "home" in asked.topics and is_visit


def tells_place_of_another(earlier: Statement, later: Statement) -> bool:
    """Return whether both tell where one lives or works, and the later of another person.

    A boss may be another person than before.
    """
    before = earlier.cues
    shared = before.topics & later.cues.topics & PLACES
    if not shared or "people" in before.topics:
        return False
    return changes_others(earlier, later)


def _change_other(before: Cues, changing: Iterable[Cues]) -> bool:
    """Return whether clauses with a word of change have topics, and share nothing with a text."""
    topics: set[str] = set()
    for clause in changing:
        topics |= list_own_topics(clause)
        if list_shared(before.particulars, clause.particulars):
            return False
    return bool(topics) and topics.isdisjoint(before.topics)


def _may_tell_state(before: Cues, clause: Cues) -> bool:
    """Return whether a clause without a word of change may tell what the earlier text tells."""
    if before.topics & clause.topics & OF_ONE_VALUE:
        return True
    told = clause.particulars
    names = any(word.named for word in told.telling)
    has_value = bool(names or told.numbers or told.dates)
    return has_value and bool(
        list_shared(before.particulars, clause.particulars)
    )


def list_own_topics(told: Cues) -> frozenset[str]:
    """Return the topics of a text that show what it is about, and not what goes with all."""
    return told.topics - BESIDE_ALL


def have_other_topics(one: Cues, other: Cues) -> bool:
    """Return whether two texts show by topics what they are about, and share none of these."""
    topics = list_own_topics(one)
    others = list_own_topics(other)
    return bool(topics and others) and topics.isdisjoint(others)


def _list_people(before: Cues, after: Cues) -> set[str]:
    """Return the stems of the names and persons in either text."""
    return _list_named(before) | _list_named(after)


def _list_named(told: Cues) -> set[str]:
    """Return the stems of the names and persons in a text.

    The first word has a capital letter, whatever it is.
    """
    names = (word for word in told.particulars.telling[1:] if word.named)
    persons = (one.split()[-1].removesuffix("'s") for one in told.persons)
    return collect_stems(names) | stem_all(persons)
