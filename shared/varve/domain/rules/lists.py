"""Lists of several things in one clause: "eggs, milk and tree nuts", "al huevo y a la leche"."""

import re
from dataclasses import dataclass

from varve.domain.rules.rule import Slot, Values
from varve.domain.rules.values import is_worth

_MOST = 12
"""Members of a list that are read."""


@dataclass(frozen=True, slots=True)
class ListWords:
    """The words by which a language lists things; all are patterns.

    `first` is a thing, `single` one that stands alone and may have more words, `member` a
    further one. `mark` stands before a member that is one without doubt, as "a la" does.
    `lead` and then `article` may stand before a member and are no part of it. `joins` is
    the last "and". `end` follows a list.
    """

    first: str
    single: str
    member: str
    mark: str
    lead: str
    article: str
    joins: str
    end: str


def build_list_slot(words: ListWords) -> Slot:
    """Return the slot of one or several things.

    It derives `each_substance`: the things alone, with commas between them.
    """
    marked = rf"(?:{words.lead})?(?:{words.mark}){words.member}"
    plain = rf"(?:{words.lead})?{words.member}"
    either = f"(?:{marked}|{plain})"
    joined = rf"(?:,? (?:{words.joins}) {either})"
    closed = rf"{words.first}(?:, {either}){{0,{_MOST}}}{joined}{{1,{_MOST}}}"
    open_ = rf"{words.first}(?:, {marked}){{1,{_MOST}}}"
    # Without an "and" only three things or more, and nothing else, are a list.
    bare = rf"{words.first}(?:, {words.member}){{2,{_MOST}}}(?=$|[.;!])"
    between = re.compile(
        rf"(?:,? (?:{words.joins})|,) (?:{words.lead})?", re.IGNORECASE
    )
    before = re.compile(
        rf"(?:{words.mark})?(?:{words.article})?", re.IGNORECASE
    )

    def name_each(value: str) -> Values:
        things = [before.sub("", one, count=1) for one in between.split(value)]
        return {"each_substance": ", ".join(things)}

    def is_each_worth(value: str) -> bool:
        return is_worth(name_each(value)["each_substance"])

    return Slot(
        rf"(?:(?:{closed}|{open_}|{bare}|{words.single}){words.end})",
        is_each_worth,
        name_each,
    )
