"""Lines that tell one measure again and again, such as a weight or a price each week.

A summary of several days tells the first and the last of them: from what to what it went.
These stand for the lines between them, so they count for more, the last for most. A figure
that is a name, as in "ticket 4511 is fixed", is no measure.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import bare_words, fold
from varve.domain.language.verbs import is_verb_form
from varve.domain.source_lines import SourceLine
from varve.domain.statements.texts.particulars import is_date_word

LEAST_DAYS = 3
"""Days on which a measure must be told to be a series."""
_FIRST_BONUS = 0.2
_LAST_BONUS = 0.4
_FIGURE = re.compile(
    r"(?<![\w#])(?P<before>[€$£])?\d+(?P<rest>(?:[.,:]\d+)*)(?P<unit>[^\W\d_]{1,3}\b|\s?[%°€$£]|)(?!\w)"
)
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_Frame = tuple[str, str]


def keep_ends(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines in their order; of each series only the first and the last."""
    series: dict[_Frame, list[int]] = {}
    for index, line in enumerate(lines):
        frame = _read_frame(line.sentence)
        if frame:
            series.setdefault((line.speaker, frame), []).append(index)
    left = dict(enumerate(lines))
    for members in series.values():
        days = {lines[index].day for index in members}
        if len(days) < LEAST_DAYS:
            continue
        first, *between, last = members
        left[first] = _raise(left[first], _FIRST_BONUS)
        left[last] = _raise(left[last], _LAST_BONUS)
        for index in between:
            del left[index]
    return list(left.values())


def _raise(line: SourceLine, bonus: float) -> SourceLine:
    return replace(line, importance=min(1.0, line.importance + bonus))


def _read_frame(sentence: str) -> str:
    """Return the folded words with a 0 for each figure; "": not all of them, or none, are measures.

    Marks and emoji do not count: "Weight 80.1." and "Weight 79.2 🎉" are of one series.
    """
    figures = list(_FIGURE.finditer(sentence))
    if not figures:
        return ""
    if not all(_is_measure(one, sentence) for one in figures):
        return ""
    framed = fold(_FIGURE.sub(r" 0 \g<unit>", sentence))
    return " ".join(bare_words(framed))


def _is_measure(figure: re.Match[str], sentence: str) -> bool:
    """Return whether a figure has decimals, a currency or a unit."""
    if figure["before"] or figure["rest"] or figure["unit"]:
        return True
    found = _NEXT_WORD.match(sentence, figure.end())
    if found is None:
        return False
    word = found[1].lower()
    folded = fold(word)
    is_grammar = folded in STOP_WORDS or is_date_word(folded)
    return not (is_grammar or is_verb_form(word))
