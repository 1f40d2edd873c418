"""Which line of a summary tells how a matter came out that an earlier line tells too.

Both tell a change or a decision. They have one thing beside their verb ("refused the
licence", "granted the licence"), or one verb and the same everyday topics ("moved to
Lisbon", "moved to Porto"). The earlier one may give a thing's date or figure ("the deadline
is 30 June"), if the later one gives another ("moved the deadline to 15 July").
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from varve.domain.language.stems import stem_all
from varve.domain.language.stopwords import CHANGES, DENIALS, NO_TOPICS
from varve.domain.language.tokens import words
from varve.domain.language.verbs import is_verb_form
from varve.domain.source_lines import SourceLine
from varve.domain.statements.pairs.named_subjects import (
    names_another,
    share_name,
)
from varve.domain.statements.pairs.superseding import tells_of_others
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import (
    Particulars,
    is_date_word,
    read_particulars,
)

_DIGIT = re.compile(r"\d")
_UNREAL = ("supposed", "almost", "coming")
"""Lists of cues; with a phrase of them a line tells no state."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A line that tells a change: its verbs, and the stems of the things beside them.

    `objects` stand behind the verbs, and `subjects` before them: "the licence was granted".
    """

    at: int
    line: SourceLine
    verbs: frozenset[str]
    objects: frozenset[str]
    subjects: frozenset[str]

    @property
    def cues(self) -> Cues:
        """The cues of the line's words."""
        return read_cues(self.line.sentence)

    def list_matters(self) -> list[tuple[str, frozenset[str]]]:
        """Return what a change of the same matter shares: a thing, or a verb and topics."""
        things = sorted(self.objects | self.subjects)
        matters = [(thing, frozenset[str]()) for thing in things]
        topics = self.cues.topics
        verbs = sorted(self.verbs) if topics else []
        return [*matters, *((verb, topics) for verb in verbs)]


def tells_change(line: SourceLine) -> bool:
    """Return whether a line tells a change or decision, not one that is only thought of."""
    is_told = any(word in CHANGES for word in words(line.sentence))
    return is_told and _tells_state(read_cues(line.sentence))


def find_last_states(lines: Sequence[SourceLine]) -> Iterator[tuple[int, int]]:
    """Yield the indexes of an earlier line and of a later one that tells its outcome.

    The lines are in the order of time. A later line is compared with the last one of each
    of its matters.
    """
    last_of: dict[tuple[str, frozenset[str]], _Change] = {}
    for at, line in enumerate(lines):
        before = lines[at - 1] if at else None
        change = _read_change(at, line, before)
        if change is None:
            continue
        matters = change.list_matters()
        known = {
            last_of[one].at: last_of[one] for one in matters if one in last_of
        }
        for earlier in known.values():
            if _is_outcome(earlier, change):
                yield earlier.at, at
        last_of.update(dict.fromkeys(matters, change))


def find_changed_figures(
    lines: Sequence[SourceLine],
) -> Iterator[tuple[int, int]]:
    """Yield the indexes of a line that gives a thing's figure, and of one that changes it.

    The lines are in the order of time. A correction changes a figure of the same form:
    "Correction, the ticket is PAY-1128" that of "Ticket PAY-1182".
    """
    given: dict[str, list[_Change]] = {}
    for at, line in enumerate(lines):
        before = lines[at - 1] if at else None
        change = _read_change(at, line, before) or _read_correction(at, line)
        if change is None:
            _add_figures(given, at, line)
            continue
        named = sorted(change.objects | change.subjects)
        known = {
            one.at: one for thing in named for one in given.get(thing, ())
        }
        for earlier in known.values():
            if _changes_figure(earlier, change):
                yield earlier.at, at


def _add_figures(
    given: dict[str, list[_Change]], at: int, line: SourceLine
) -> None:
    """Add the figures that a line gives, by the things that it begins with."""
    for figure in _read_figures(at, line):
        for thing in figure.objects:
            given.setdefault(thing, []).append(figure)


def _read_figures(at: int, line: SourceLine) -> Iterator[_Change]:
    """Yield the thing that a line begins with, if it gives a date or figure of it.

    The name of its speaker, with which a fact begins, is no such thing.
    """
    told = read_particulars(line.sentence)
    if (told.dates or told.numbers) and not told.asks:
        names = words(line.speaker)
        things = _find_things(
            [[word for word in words(line.sentence) if word not in names]]
        )
        yield _Change(at, line, frozenset(), things, frozenset())


def _changes_figure(earlier: _Change, later: _Change) -> bool:
    """Return whether a change gives another date, or without dates another figure."""
    before = read_particulars(earlier.line.sentence)
    after = read_particulars(later.line.sentence)
    if before.dates and not after.dates:
        return False
    if set(before.numbers).issuperset(after.numbers):
        return False
    if not later.verbs and not _share_form(before, after):
        return False
    return _is_outcome(earlier, later)


def _share_form(before: Particulars, after: Particulars) -> bool:
    """Return whether both give a date, or figures that differ in their digits alone."""
    if before.dates and after.dates:
        return True
    forms = [
        {_DIGIT.sub("0", number) for number in one.numbers}
        for one in (before, after)
    ]
    return not forms[0].isdisjoint(forms[1])


def _read_correction(at: int, line: SourceLine) -> _Change | None:
    """Return a correction of a figure, which may be of anything that it names."""
    cues = read_cues(line.sentence)
    told = cues.particulars
    if not cues.has("correcting") or not (told.dates or told.numbers):
        return None
    if not _tells_state(cues):
        return None
    named = _find_things([word] for word in words(line.sentence))
    return _Change(at, line, frozenset(), named, frozenset())


def _read_change(
    at: int, line: SourceLine, before: SourceLine | None
) -> _Change | None:
    """Return the change that a line tells; None: it asks, supposes or tells none."""
    told = words(line.sentence)
    verbs = _find_verbs(told)
    if not verbs or not _tells_state(read_cues(line.sentence)):
        return None
    objects = _find_things(told[place + 1 :] for place in verbs)
    subjects = _find_things(reversed(told[:place]) for place in verbs)
    forms = frozenset(told[place] for place in verbs)
    if not (objects or subjects):
        objects = _find_named_before(line, before)
    return _Change(at, line, forms, objects, subjects or objects)


def _find_verbs(told: Sequence[str]) -> list[int]:
    return [place for place, word in enumerate(told) if word in CHANGES]


def _tells_state(cues: Cues) -> bool:
    return not cues.asks and not any(map(cues.has, _UNREAL))


def _find_named_before(
    line: SourceLine, before: SourceLine | None
) -> frozenset[str]:
    """Return the stems of what the speaker has just named: "They granted it" tells of that."""
    if before is None or not _is_one_talk(before, line):
        return frozenset()
    return _find_things([word] for word in words(before.sentence))


def _find_things(told: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the stems of the first thing in each of these words: "planning request"."""
    things: list[str] = []
    for one in told:
        behind = dropwhile(lambda word: not _is_thing(word), one)
        things += takewhile(_is_thing, behind)
    return stem_all(things)


def _is_thing(word: str) -> bool:
    is_empty = word in NO_TOPICS or word in DENIALS or is_verb_form(word)
    return not (is_empty or word.isdigit() or is_date_word(word))


def _is_one_talk(one: SourceLine, other: SourceLine) -> bool:
    return (one.day, one.speaker) == (other.day, other.speaker)


def _is_outcome(earlier: _Change, later: _Change) -> bool:
    """Return whether the later change tells how the matter of the earlier one came out."""
    before, after = earlier.cues, later.cues
    if tells_of_others(before, after) or _name_others(earlier, later):
        return False
    if _share_thing(earlier, later):
        return True
    is_one_verb = not earlier.verbs.isdisjoint(later.verbs)
    return (
        is_one_verb and bool(before.topics) and before.topics == after.topics
    )


def _share_thing(earlier: _Change, later: _Change) -> bool:
    """Return whether one thing has changed in both; to have one subject is not enough.

    "The council refused the licence" and "the council approved the budget" are two matters.
    """
    if earlier.objects and later.objects:
        objects = earlier.objects & later.objects
        moved = earlier.objects & later.subjects
        back = earlier.subjects & later.objects
        return bool(objects or moved or back)
    things = earlier.objects or earlier.subjects
    return bool(things & (later.objects or later.subjects))


def _name_others(earlier: _Change, later: _Change) -> bool:
    """Return whether one line tells of a person by name, and the other not of that one."""
    if share_name(earlier.cues, later.cues):
        return False
    return any(
        names_another(one.line.sentence, one.line.speaker)
        for one in (earlier, later)
    )
