"""Of whom a question asks: of who asks it, of one of several speakers by name, or unknown."""

from dataclasses import dataclass

from varve.domain.language.tokens import words
from varve.domain.search.columns import Columns
from varve.domain.search.query import Filter
from varve.domain.statements.cues import Cues, asks_openly, read_cues
from varve.domain.statements.paired import StoreStatements
from varve.domain.statements.pairs import relate, split_clauses
from varve.domain.statements.particulars import collect_stems, list_shared
from varve.domain.statements.persons import Persons

LEAVING = frozenset({"ending", "exchanging"})
"""Lists of `[changes]` whose phrases name what no longer holds."""


class NamedSpeaker:
    """One of several speakers whose present state a question asks for by name."""

    def __init__(self, code: int, question: Cues, columns: Columns) -> None:
        self._code = code
        self._question = question
        self._columns = columns
        self._store = columns.derive(StoreStatements)
        self._asked = collect_stems(question.particulars.telling)

    def said(self, row: int) -> bool:
        """Return whether the speaker said a row."""
        return self._columns.speakers.of.item(row) == self._code

    def tells_of_another(self, row: int) -> bool:
        """Return whether the speaker tells there of another person, who is not asked about.

        "My daughter plays the flute" is no answer to what its speaker plays.
        """
        if not self.said(row) or self._question.persons:
            return False
        told = self._store.read(row).cues
        return told.begins_with_other and not told.has("own")

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
    text: str, columns: Columns, visible: Filter, *, about_present: bool
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
    is_of_state = about_present and asks_openly(text)
    if len(named) != 1 or not is_of_state:
        return Whom(names_speakers=bool(named))
    speaker = NamedSpeaker(named.pop(), cues, columns)
    return Whom(names_speakers=True, speaker=speaker)


def list_speaking(columns: Columns, visible: Filter) -> set[str]:
    """Return the folded words of the names of those who said the turns."""
    names = columns.speakers.names
    persons = columns.derive(Persons).find(visible)
    return {word for code in persons for word in words(names[code])}
