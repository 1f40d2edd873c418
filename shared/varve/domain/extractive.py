"""A summary without a model: the sources' own sentences, the most central ones that differ most.

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
"""How many lines are weighed at most; of more, the most important of each day."""

MAX_LINE_CHARACTERS = 300

_RELEVANCE_SHARE = 0.7
_NEAR_DUPLICATE = 0.95
_QUESTION_WEIGHT = 0.5

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence on one line, its local day, and its speaker ("": nobody, or not known).

    `heard`: it is of the words as they were said, neither of a fact nor of a summary.
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
    """Every sentence with words, by local day, time and id, whatever order the sources come in."""
    ordered = sorted(task.sources, key=lambda s: (s.at, s.id, s.text, s.importance))
    return sorted(
        (line for s in ordered for line in _lines(s, task.zone)),
        key=lambda line: line.day,
    )


def candidates(lines: Sequence[Line]) -> list[Line]:
    """The lines worth choosing from, in order: said once, and greetings only where there is nothing else."""
    once: dict[str, Line] = {}
    for line in lines:
        words = " ".join(_WORD.findall(line.said.casefold()))
        first = once.setdefault(words, line)
        once[words] = replace(first, importance=max(first.importance, line.importance))
    return _bounded(
        [line for line in once.values() if not _is_trivial(line)] or list(once.values())
    )


def _is_trivial(line: Line) -> bool:
    """A greeting, or too short to tell anything; scripts without spaces tell more in fewer words."""
    words = len(_WORD.findall(line.sentence))
    return (words < 3 and len(line.sentence.encode()) < 18) or (
        words < 5 and _GREETING.match(line.sentence) is not None
    )


def chosen(lines: Sequence[Line], vectors: Sequence[Vector], budget: int) -> str:
    """The best of the lines in their order, within the budget in tokens; `vectors` are of their `said`.

    Of lines of which none fits whole, the best is cut. Empty: there are no lines, or the budget (under
    four tokens) has no room for a word.
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
    """How much each line stands for all of them, and matters in itself; in [0, 1]."""
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
    # Rounded, so that lines that are equal are so on every machine and the earlier one is taken.
    return np.round(relevance, 6)


def _picked(
    lines: Sequence[Line], matrix: Floats, relevance: Floats, budget: int
) -> list[int]:
    """The lines' indexes as they are picked; each pick costs one product of the matrix with a vector."""
    costs = np.array([estimated_tokens(f"{line}\n") for line in lines])
    figures = _figures(lines)
    nearest, is_open, picked = (
        np.zeros(len(lines)),
        np.ones(len(lines), bool),
        list[int](),
    )
    while (is_open := is_open & (costs <= budget)).any():
        gain = _RELEVANCE_SHARE * relevance - (1 - _RELEVANCE_SHARE) * nearest
        best = int(np.argmax(np.where(is_open, gain, -np.inf)))
        likeness = np.round(matrix @ matrix[best], 6)
        nearest = np.maximum(nearest, likeness)
        is_open &= (likeness < _NEAR_DUPLICATE) | (figures != figures[best])
        is_open[best] = False
        budget -= int(costs[best])
        picked.append(best)
    return picked


def _figures(lines: Sequence[Line]) -> npt.NDArray[np.int64]:
    """Equal for lines with the same numbers: two that differ in nothing else still say two things."""
    seen: dict[tuple[str, ...], int] = {}
    keys = (tuple(re.findall(r"\d+", line.sentence)) for line in lines)
    return np.array([seen.setdefault(key, len(seen)) for key in keys])


def _bounded(lines: list[Line]) -> list[Line]:
    """At most `MAX_LINES`, evenly over the days: each day's most important, then its second, and so on."""
    if len(lines) <= MAX_LINES:
        return lines
    places: Counter[str] = Counter()
    ranked = []
    for index in sorted(range(len(lines)), key=lambda i: -lines[i].importance):
        ranked.append((places[lines[index].day], index))
        places[lines[index].day] += 1
    return [
        lines[index]
        for index in sorted(index for _, index in sorted(ranked)[:MAX_LINES])
    ]


# Sentences

_WORD = re.compile(r"[^\W_]+")
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
    """The text's sentences, each on one line without a bullet, long ones in pieces."""
    start = 0
    for end in (*_sentence_ends(text), len(text)):
        plain = " ".join(text[start:end].split()).lstrip("-–—*•#> ")
        yield from passages(plain, MAX_LINE_CHARACTERS)
        start = end


def shortened(text: str, tokens: int, head: str = "") -> str:
    """As much of the text after `head` as the tokens hold, whole sentences if one fits, else whole words.

    Empty: not even one character fits.
    """
    room = bisect_right(
        range(1, len(text) + 1), tokens, key=lambda n: estimated_tokens(head + text[:n])
    )
    if room == len(text) or not room:
        return head + text if room else ""
    ends = [end for end in _sentence_ends(text[: room + 1]) if end <= room]
    space = text.rfind(" ", 1, room + 1)
    return head + text[: ends[-1] if ends else space if space > 0 else room].rstrip()


def _sentence_ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        if not _ABBREVIATION.search(text[max(0, found.end() - 12) : found.end()]):
            yield found.end()


def _lines(source: Source, zone: ZoneInfo) -> Iterator[Line]:
    """A summary's lines have dates of their own; words as they were said are one text with one speaker.

    Facts have none: what stands before their colon is no name.
    """
    heard = source.memory_type is MemoryType.TURN
    for text in source.text.split("\n") if source.label else [source.text]:
        day, dated = _dated(text) if source.label else ("", text)
        speaker, words = (
            _spoken(dated, source) if heard or source.label else ("", dated)
        )
        for sentence in sentences(words):
            if _WORD.search(sentence):
                day = day or day_of(source.at, zone)
                yield Line(day, sentence, source.at, source.importance, speaker, heard)


def _dated(text: str) -> tuple[str, str]:
    """The date that a line begins with, and the rest."""
    found = _DATED.match(text)
    try:
        return (
            (date.fromisoformat(found[1]).isoformat(), text[found.end() :])
            if found
            else ("", text)
        )
    except ValueError:
        return "", text


def _spoken(text: str, source: Source) -> tuple[str, str]:
    """The speaker's name that a text begins with, if it looks like a name or is the user's id."""
    found = _SPEAKER.match(text)
    if found is None or not (found[1] == source.user_id or _is_name(found[1])):
        return "", text
    return " ".join(found[1].split()), text[found.end() :]


def _is_name(text: str) -> bool:
    return text[:1].isalpha() and not text[0].islower() and len(text.split()) <= 3
