"""Of whom a question asks: of who asks it, of one of several speakers by name, or unknown."""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varve.domain.known_names import KnownNames
from varve.domain.language.names import NAME
from varve.domain.language.tokens import words
from varve.domain.names import normalized
from varve.domain.search.columns import Columns
from varve.domain.search.query import Filter
from varve.domain.statements.pairs.superseding import relate, split_clauses
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import Cues, asks_openly, read_cues
from varve.domain.statements.texts.particulars import (
    collect_stems,
    list_shared,
)
from varve.domain.statements.texts.persons import Persons

_NAME = re.compile(NAME)
_POSSESSIVE = re.compile(r"['’]s\b")

NAMING = frozenset({"naming"})
"""The topic of a statement that tells a name."""
LEAVING = frozenset({"ending", "exchanging"})
"""Lists of `[changes]` whose phrases name what no longer holds."""


class NamedSpeaker:
    """One of several speakers whose present state a question asks for by name.

    `alias` is the name in the question, if it is another one than the speaker's: a user
    without a name speaks by an id, and said the name once.
    """

    def __init__(
        self, code: int, question: Cues, columns: Columns, alias: str = ""
    ) -> None:
        self._code = code
        self._alias = alias
        self._question = question
        self._columns = columns
        self._tellers = columns.derive(Persons).of
        self._store = columns.derive(StoreStatements)
        self._asked = collect_stems(question.particulars.telling)

    def said(self, row: int) -> bool:
        """Return whether the speaker said a row."""
        return self._tellers.item(row) == self._code

    def answers_not(self, row: int) -> bool:
        """Return whether a row tells of another, or only the name that the question has.

        "My daughter plays the flute" is no answer to what its speaker plays. For who is
        asked about by an alias, what other users tell without it is none either.
        """
        text = self._columns.contents[row]
        told = read_cues(text)
        if self._alias:
            if self._is_of_other_user(row):
                return self._alias not in text
            if told.topics == NAMING and self._question.topics - NAMING:
                return True
        if not self.said(row) or self._question.persons:
            return False
        said = self._store.read(row).cues
        return said.begins_with_other and not said.has("own")

    def _is_of_other_user(self, row: int) -> bool:
        return row not in self._of_user

    @cached_property
    def _of_user(self) -> frozenset[int]:
        """The rows of the users in whose memory the speaker has turns."""
        of = self._columns.users.of
        spoken = self._tellers == self._code
        users = np.unique(of[spoken])
        return frozenset(np.flatnonzero(np.isin(of, users)).tolist())

    def changes(self, row: int, other: int) -> bool:
        """Return whether a later statement of the speaker changes an earlier one's value.

        One of its clauses tells an end or an exchange, and names a word of the earlier one
        that the question does not: "I switched from the cello to the bass" does so for
        "What does Jonas play?", and "I bought a bow for the cello" does not.
        """
        earlier = self._store.read(row).cues
        later = self._store.read(other)
        if not (later.cues.is_strong and relate(self._question, earlier)):
            return False
        return any(
            self._changes_value(earlier, read_cues(clause))
            for clause in split_clauses(later.text)
        )

    def _changes_value(self, earlier: Cues, clause: Cues) -> bool:
        if clause.found.isdisjoint(LEAVING) or not clause.has("own"):
            return False
        shared = list_shared(earlier.particulars, clause.particulars)
        return not shared <= self._asked


@dataclass(frozen=True, slots=True)
class Whom:
    """Of whom a question asks, as its words and the speakers of a store show it.

    `tells`: it judges what all persons tell. `names_speakers`: it names one or more of
    several speakers. `speaker` is the only one, if it asks for the present.
    """

    tells: bool = False
    names_speakers: bool = False
    speaker: NamedSpeaker | None = None


def find_whom(
    text: str,
    columns: Columns,
    visible: Filter,
    told: ToldValues,
    *,
    about_present: bool,
) -> Whom:
    """Return of whom a question asks, by its own words and the names in it.

    Where one person alone speaks, every question is about what that person told. Several
    persons who speak with each other tell of each other's past. Weak pairs would reorder
    the answers: recall on LoCoMo fell from 81 to 62 percent.
    """
    cues = read_cues(text)
    if cues.has("own"):
        return Whom(tells=True)
    persons = columns.derive(Persons).find(visible)
    if len(persons) == 1:
        return Whom(tells=True)
    named = persons & {
        code
        for word in words(text)
        for code in columns.speakers_by_word.get(word, frozenset())
    }
    if not (about_present and asks_openly(text)):
        return Whom(names_speakers=bool(named))
    alias = ""
    if not named:
        alias, named = _find_by_alias(text, columns, persons, told)
    if len(named) != 1:
        return Whom(names_speakers=bool(named))
    speaker = NamedSpeaker(named.pop(), cues, columns, alias)
    return Whom(names_speakers=not alias, speaker=speaker)


def _find_by_alias(
    text: str, columns: Columns, persons: Set[int], told: ToldValues
) -> tuple[str, set[int]]:
    """Return the name in a question that one speaker bears, and that speaker; or nothing.

    The triples are read only for a question with a name that no speaker has.
    """
    _, _, behind = _POSSESSIVE.sub("", text).partition(" ")
    names = [found[0] for found in _NAME.finditer(behind)]
    if not names:
        return "", set()
    known = KnownNames(told.triples)
    speakers = {
        normalized(columns.speakers.names[one]): one for one in persons
    }
    for name in names:
        entities = known.find(name)
        if len(entities) == 1:
            aliases = known.all_names(entities[0])
            found = {speakers[one] for one in aliases if one in speakers}
            if found:
                return name, found
    return "", set()


def list_speaking(columns: Columns, visible: Filter) -> set[str]:
    """Return the folded words of the names of those who said the turns."""
    names = columns.speakers.names
    persons = columns.derive(Persons).find(visible)
    return {word for code in persons for word in words(names[code])}
