"""A summary without a model: the most central of the sources' sentences that differ most.

Centrality is the cosine to the centroid, diversity maximal marginal relevance (Carbonell and
Goldstein, SIGIR 1998), both under a budget of tokens.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import day_of
from varve.domain.record import MemoryType, Vector
from varve.domain.summary import Source, SummaryTask
from varve.domain.text import estimated_tokens, passages, salience

MAX_LINES = 8_000
"""How many lines are weighed at most; of more, the most important of each day are."""

MAX_LINE_CHARACTERS = 300

_RELEVANCE_SHARE = 0.7
_NEAR_DUPLICATE = 0.95
_QUESTION_WEIGHT = 0.5

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence on one line, with its local day and its speaker ("": none is known).

    `heard` is true for words as they were said, false for a fact or a summary.
    """

    day: str
    sentence: str
    at: datetime
    importance: float
    speaker: str
    heard: bool

    @property
    def said(self) -> str:
        """The sentence, after its speaker's name."""
        return f"{self.speaker}: {self.sentence}" if self.speaker else self.sentence

    def __str__(self) -> str:
        return f"{self.day}: {self.said}"


def lines_of(task: SummaryTask) -> list[Line]:
    """Return every sentence that has words, by local day, time and id, in any order of the sources."""
    ordered = sorted(task.sources, key=lambda s: (s.at, s.id, s.text, s.importance))
    lines: list[Line] = []
    for source in ordered:
        lines += _lines(source, task.zone)
    return sorted(lines, key=lambda line: line.day)


def candidates(lines: Sequence[Line]) -> list[Line]:
    """Return the lines worth choosing from, in order, each said once; no greetings if there is more."""
    once: dict[str, Line] = {}
    for line in lines:
        words = " ".join(_WORD.findall(line.said.casefold()))
        first = once.setdefault(words, line)
        once[words] = replace(first, importance=max(first.importance, line.importance))
    every = list(once.values())
    telling = [line for line in every if not _is_trivial(line)]
    return _bounded(telling or every)


def _is_trivial(line: Line) -> bool:
    """Return whether it is a greeting, or too short to tell anything.

    Scripts without spaces tell more in fewer words: their bytes count too.
    """
    words = len(_WORD.findall(line.sentence))
    if words < 3 and len(line.sentence.encode()) < 18:
        return True
    return words < 5 and _GREETING.match(line.sentence) is not None


def chosen(lines: Sequence[Line], vectors: Sequence[Vector], budget: int) -> str:
    """Return the best of the lines in their order, within the budget in tokens.

    `vectors` are those of the lines' `said`. If no line fits whole, the best one is cut. Empty:
    there are no lines, or the budget (under four tokens) has no room for a word.
    """
    if not lines:
        return ""
    matrix = np.stack(vectors).astype(np.float64)
    relevance = _relevance(lines, matrix)
    picked = _picked(lines, matrix, relevance, budget)
    if picked:
        return "\n".join(str(lines[index]) for index in sorted(picked))
    best = lines[int(np.argmax(relevance))]
    return shortened(best.said, budget, head=f"{best.day}: ")


def _relevance(lines: Sequence[Line], matrix: Floats) -> Floats:
    """Return how much each line stands for all of them and matters in itself, in [0, 1]."""
    importance = np.clip([line.importance for line in lines], 0.0, 1.0)
    centroid = (0.5 + importance) @ matrix
    cosine = matrix @ (centroid / max(float(np.linalg.norm(centroid)), 1e-9))
    asking = np.where(
        [line.sentence.endswith(("?", "？")) for line in lines], _QUESTION_WEIGHT, 1.0
    )
    substance = np.array([0.5 + salience(line.sentence) for line in lines])
    relevance: Floats = (
        (np.clip(cosine, 0.0, 1.0) + importance) / 2 * substance * asking
    )
    # Rounded, so that equal lines are equal on every machine, and the earlier one is picked.
    return np.round(relevance, 6)


def _picked(
    lines: Sequence[Line], matrix: Floats, relevance: Floats, budget: int
) -> list[int]:
    """Return the lines' indexes in the order of picking.

    Each pick costs one product of the matrix with a vector.
    """
    costs = np.array([estimated_tokens(f"{line}\n") for line in lines])
    figures = _figures(lines)
    nearest = np.zeros(len(lines))
    is_open = costs <= budget
    picked: list[int] = []
    while is_open.any():
        gain = _RELEVANCE_SHARE * relevance - (1 - _RELEVANCE_SHARE) * nearest
        best = int(np.argmax(np.where(is_open, gain, -np.inf)))
        likeness = np.round(matrix @ matrix[best], 6)
        nearest = np.maximum(nearest, likeness)
        is_open &= (likeness < _NEAR_DUPLICATE) | (figures != figures[best])
        is_open[best] = False
        budget -= int(costs[best])
        is_open &= costs <= budget
        picked.append(best)
    return picked


def _figures(lines: Sequence[Line]) -> npt.NDArray[np.int64]:
    """Return a number for each line, equal for lines that hold the same figures.

    Two lines that differ in a figure alone say two things.
    """
    seen: dict[tuple[str, ...], int] = {}
    keys = [tuple(_FIGURE.findall(line.sentence)) for line in lines]
    return np.array([seen.setdefault(key, len(seen)) for key in keys])


def _bounded(lines: list[Line]) -> list[Line]:
    """Return at most `MAX_LINES`, evenly over the days: the most important of each, then the second."""
    if len(lines) <= MAX_LINES:
        return lines
    places: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for index in sorted(range(len(lines)), key=lambda i: -lines[i].importance):
        day = lines[index].day
        ranked.append((places[day], index))
        places[day] += 1
    kept = sorted(index for _, index in sorted(ranked)[:MAX_LINES])
    return [lines[index] for index in kept]


# Sentences

_WORD = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\d+")
_DATED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}): ")
_SPEAKER = re.compile(r"([^\s:][^:\n]{0,79}): (?=\S)")
_END = re.compile(
    r"\n|(?<![.!?…])[.!?…]++[\"'”»)\]*_]*+(?=\s++(?![a-zà-öø-ÿ])|\s*+$)|[。！？]++[」』）”]*+"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:(?i:drs?|mrs?|ms|prof|sra?|srta|sta?|ste|av|avda|vs|approx|no|núm|nr|fig|art|tel|ext)"
    r"|e\.g|i\.e|[^\W\d_])\.$"
)
_GREETING = re.compile(
    r"(?i:hi|hello|hey|hiya|good (?:morning|afternoon|evening|night)|morning|thanks|thank you|cheers"
    r"|bye|goodbye|welcome|hola|buen[oa]s(?: (?:días|tardes|noches))?|gracias|adiós|chao|hasta luego)\b"
)


def sentences(text: str) -> Iterator[str]:
    """Yield the text's sentences, each on one line without a bullet, long ones in pieces."""
    start = 0
    for end in (*_sentence_ends(text), len(text)):
        plain = " ".join(text[start:end].split()).lstrip("-–—*•#> ")
        yield from passages(plain, MAX_LINE_CHARACTERS)
        start = end


def shortened(text: str, tokens: int, head: str = "") -> str:
    """Return `head` and as much of the text as the tokens hold.

    Whole sentences if one fits, else whole words. Empty: not even one character fits.
    """
    lengths = range(1, len(text) + 1)
    room = bisect_right(
        lengths, tokens, key=lambda length: estimated_tokens(head + text[:length])
    )
    if not room:
        return ""
    if room == len(text):
        return head + text
    return head + text[: _cut(text, room)].rstrip()


def _cut(text: str, room: int) -> int:
    """Return where to cut: after the last sentence that fits, else the last word, else at `room`."""
    ends = [end for end in _sentence_ends(text[: room + 1]) if end <= room]
    if ends:
        return ends[-1]
    space = text.rfind(" ", 1, room + 1)
    return space if space > 0 else room


def _sentence_ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        if not _ABBREVIATION.search(text[max(0, found.end() - 12) : found.end()]):
            yield found.end()


def _lines(source: Source, zone: ZoneInfo) -> Iterator[Line]:
    """Yield a source's sentences.

    Each line of a summary may have a date and a speaker of its own. A turn is one text with one
    speaker. A fact has no speaker: the words before its colon are no name.
    """
    heard = source.memory_type is MemoryType.TURN
    is_summary = bool(source.label)
    for text in source.text.split("\n") if is_summary else [source.text]:
        day, speaker, words = "", "", text
        if is_summary:
            day, words = _split_date(words)
        if heard or is_summary:
            speaker, words = _split_speaker(words, source)
        day = day or day_of(source.at, zone)
        for sentence in sentences(words):
            if _WORD.search(sentence):
                yield Line(day, sentence, source.at, source.importance, speaker, heard)


def _split_date(text: str) -> tuple[str, str]:
    """Return the date that a line begins with, and the rest."""
    found = _DATED.match(text)
    if found is None:
        return "", text
    try:
        day = date.fromisoformat(found[1])
    except ValueError:
        return "", text
    return day.isoformat(), text[found.end() :]


def _split_speaker(text: str, source: Source) -> tuple[str, str]:
    """Return the speaker that a text begins with, if it looks like a name or is the user's id."""
    found = _SPEAKER.match(text)
    if found is None or not (found[1] == source.user_id or _is_name(found[1])):
        return "", text
    return " ".join(found[1].split()), text[found.end() :]


def _is_name(text: str) -> bool:
    return text[:1].isalpha() and not text[0].islower() and len(text.split()) <= 3
