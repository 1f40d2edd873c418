"""Whether a later statement ends some members of a list in an earlier one, and leaves others.

"I stopped taking ibuprofen" leaves omeprazole of "I take ibuprofen and omeprazole".
"""

import re
from collections.abc import Sequence, Set
from functools import cache, lru_cache

from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    Cues,
    join_phrases,
    read_cues,
)
from varve.domain.statements.texts.particulars import (
    collect_stems,
    list_any_matter,
)
from varve.domain.statements.texts.parts import split_parts
from varve.domain.statements.texts.statement import Statement

_COMMA = re.compile(r"[,;]\s+")
MOST_WORDS = 2
"""A member of a list has no more telling words."""


def leaves_others(
    told: ToldValues,
    asked: Cues | None,
    earlier: Statement,
    later: Statement,
) -> bool:
    """Return whether a later statement ends some values of one, and others of these hold.

    The triples show it, or the words. As long as the question names none of those that
    ended, the earlier statement answers it.
    """
    if told.leave_others(asked, earlier.messages, later.messages, later.cues):
        return True
    return leaves_members(asked, earlier.text, later.cues)


def tells_apart(
    told: ToldValues, earlier: Statement, later: Statement
) -> bool:
    """Return whether triples were drawn from both statements, of other predicates.

    "I left Telefónica" ends no telephone number.
    """
    if later.cues.has("correcting"):
        return False
    return told.tell_apart(earlier.messages, later.messages)


def leaves_members(asked: Cues | None, earlier: str, later: Cues) -> bool:
    """Return whether a text ends a member of a list, and the question names none of these."""
    if not later.has("ending") or later.has("correcting"):
        return False
    # "Ruby stopped eating meat" ends nothing of "I have two children, Ruby and Max".
    if later.topics and later.topics.isdisjoint(read_cues(earlier).topics):
        return False
    ended = _find_ended(earlier, later)
    if not ended or asked is None:
        return bool(ended)
    names = collect_stems(asked.particulars.telling)
    return not asked.has("asks_past") and names.isdisjoint(ended)


def _find_ended(earlier: str, later: Cues) -> Set[str]:
    """Return the stems of members that a later text names, of lists with others."""
    words = collect_stems(later.particulars.telling)
    ended: set[str] = set()
    for members in _list_members(earlier):
        gone = [one for one in members if not one.isdisjoint(words)]
        if len(gone) < len(members):
            ended = ended.union(*gone)
    return ended


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _list_members(text: str) -> Sequence[Sequence[frozenset[str]]]:
    """Return the lists of a text, each as the stems of its members.

    A list has an "and". Of "two cats, Tom and Kit" the first part may name what the others are.
    """
    found: list[list[frozenset[str]]] = []
    for part in split_parts(text):
        before, last = _split_last(fold_apostrophes(part))
        first, *others = _COMMA.split(before)
        others.append(last)
        if not last or not all(map(_is_member, others)):
            continue
        named = others if len(others) > 1 else [first, last]
        members = [_read_value(one) for one in named]
        if all(members):
            found.append(members)
    return found


def _split_last(text: str) -> tuple[str, str]:
    """Return what stands before the last "and" of a text, and what follows it."""
    joints = list(_compile_joint().finditer(text))
    if not joints:
        return text, ""
    last = joints[-1]
    return text[: last.start()], text[last.end() :]


def _is_member(text: str) -> bool:
    """Return whether what follows a comma or "and" is a thing alone, and no clause."""
    told = read_cues(text)
    return len(told.particulars.telling) <= MOST_WORDS and not told.has("own")


def _read_value(text: str) -> frozenset[str]:
    """Return the stems of the last telling word of a member."""
    telling = read_cues(text).particulars.telling
    known = list_any_matter()
    values = [one.stems for one in telling if one.stems.isdisjoint(known)]
    return frozenset(values[-1]) if values else frozenset()


@cache
def _compile_joint() -> re.Pattern[str]:
    words = join_phrases(lambda language: language.times.joins.get("or", ()))
    return re.compile(rf",?\s+(?:{words})\s+")
