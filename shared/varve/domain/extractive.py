"""A summary without a model: the most central of the sources' sentences that differ most.

Centrality is the cosine to the centroid, diversity maximal marginal relevance (Carbonell and
Goldstein, SIGIR 1998), both under a budget of tokens. Above the day, sentences that tell of
a change or a decision, or name what recurs on several days, come before others.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from varve.domain.alike_lines import (
    Integers,
    number_figures,
    number_patterns,
)
from varve.domain.asked_in_passing import QUESTION_MARKS, find_asked_in_passing
from varve.domain.calendar import day_of
from varve.domain.echoed_lines import find_echoes
from varve.domain.language.abbreviations import LONGEST, build_abbreviation
from varve.domain.language.tokens import bare_words
from varve.domain.lasting import prefer_what_lasts
from varve.domain.listed_lines import join_lines
from varve.domain.record import MemoryType, Vector
from varve.domain.source_lines import SourceLine, rendered
from varve.domain.speakers import is_name, is_small_name
from varve.domain.statements.texts.telling import read_corrected
from varve.domain.summary import Source, SummaryTask
from varve.domain.text import estimated_tokens, passages, salience

MAX_LINES = 8_000
"""The most lines that are weighed; of more, the most important of each day."""

MAX_LINE_CHARACTERS = 300

_RELEVANCE_SHARE = 0.7
_NEAR_DUPLICATE = 0.95
_QUESTION_WEIGHT = 0.5

MAX_OF_PATTERN = 3
"""So many lines that differ in names and figures alone come before what differs more."""

_REPEATED_LOSS = 2.0
"""More than any line gains: a line of a pattern picked so often comes last."""

Floats = npt.NDArray[np.float64]


def lines_of(task: SummaryTask) -> list[SourceLine]:
    """Return every sentence that has words, by local day, time and id.

    The order of the sources does not matter.
    """
    ordered = sorted(
        task.sources,
        key=lambda source: (
            source.at,
            source.id,
            source.text,
            source.importance,
            source.memory_type,
        ),
    )
    lines: list[SourceLine] = []
    for source in ordered:
        lines += _read_lines(source, task.zone)
    lines.sort(key=lambda line: line.day)
    return lines


def candidates(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return the lines worth choosing from, in order, each sentence once.

    Greetings, the assistant's echoes, and its questions that no answer needs, count only if
    there is nothing else.
    """
    once: dict[str, SourceLine] = {}
    asked = find_asked_in_passing(lines)
    echoes = find_echoes(lines)
    needed: set[str] = set()
    idle: set[str] = set()
    for line in lines:
        words = " ".join(bare_words(line.said.casefold()))
        first = once.setdefault(words, line)
        importance = max(first.importance, line.importance)
        once[words] = replace(first, importance=importance)
        if line in asked.answers:
            needed.add(words)
        if line in asked.idle or line in echoes:
            idle.add(words)
    telling = [
        line
        for words, line in once.items()
        if words in needed or not (words in idle or _is_trivial(line))
    ]
    return _bounded(telling or list(once.values()))


def _is_trivial(line: SourceLine) -> bool:
    """Return whether a line is a greeting, or too short to tell anything.

    Scripts without spaces tell more in fewer words, so the bytes count too.
    """
    words = len(bare_words(line.sentence))
    if line.heard and is_brief(line.sentence):
        return True
    is_greeting = _GREETING.match(line.sentence) is not None
    return is_greeting and words < 5


def is_brief(sentence: str) -> bool:
    """Return whether a sentence as said is likely too short to tell anything."""
    words = len(bare_words(sentence))
    return words < 3 and len(sentence.encode()) < 18


def chosen(
    lines: Sequence[SourceLine],
    vectors: Sequence[Vector],
    budget: int,
    recurring: Collection[str] | None = None,
    successions: Iterable[tuple[int, int]] = (),
) -> str:
    """Return the best of the lines in their order, within the budget in tokens.

    `vectors` are those of the lines' `said`. `recurring` are folded words that occur on
    several days; with them, lines that tell of a change or name what recurs are preferred,
    an agent's lines weigh less, and lines of one pattern come last once `MAX_OF_PATTERN` of
    them are picked. Of `successions`, pairs of indexes, the later line is preferred to the
    earlier one. If no line fits whole, the best one is cut. The result
    is empty without lines, or if the budget (under four tokens) has no room for a word.
    """
    if not lines:
        return ""
    matrix = np.stack(vectors).astype(np.float64)
    relevance = _relevance(lines, matrix)
    patterns = np.arange(len(lines))
    if recurring is not None:
        relevance = prefer_what_lasts(lines, relevance, recurring, successions)
        patterns = number_patterns(lines)
    picked = _picked(lines, matrix, relevance, patterns, budget)
    if picked:
        return rendered([lines[index] for index in sorted(picked)])
    most_relevant = int(np.argmax(relevance))
    best = lines[most_relevant]
    return shortened(best.said, budget, head=f"{best.day}: ")


def choose_sentences(
    texts: Sequence[str], vectors: Sequence[Vector], budget: int
) -> str:
    """Return the best of a text's own sentences in their order, within the budget in tokens.

    Sentences that were left out between two others are shown as "[…]".
    """
    epoch = datetime.fromtimestamp(0, UTC)
    lines = [SourceLine("", text, epoch, 0.5, "", True) for text in texts]
    matrix = np.stack(vectors).astype(np.float64)
    relevance = _relevance(lines, matrix)
    patterns = np.arange(len(lines))
    picked = sorted(_picked(lines, matrix, relevance, patterns, budget))
    shown: list[str] = []
    for place, index in enumerate(picked):
        if place and index != picked[place - 1] + 1:
            shown.append("[…]")
        shown.append(texts[index])
    return " ".join(shown) or shortened(texts[0], budget)


def _relevance(lines: Sequence[SourceLine], matrix: Floats) -> Floats:
    """Return each line's centrality and importance as one number, in [0, 1]."""
    importance = np.clip([line.importance for line in lines], 0.0, 1.0)
    centroid = (0.5 + importance) @ matrix
    length = max(float(np.linalg.norm(centroid)), 1e-9)
    cosine = matrix @ (centroid / length)
    centrality = np.clip(cosine, 0.0, 1.0)
    asks = [line.sentence.endswith(QUESTION_MARKS) for line in lines]
    question_weight = np.where(asks, _QUESTION_WEIGHT, 1.0)
    substance = np.array([0.5 + salience(line.sentence) for line in lines])
    relevance: Floats = (
        (centrality + importance) / 2 * substance * question_weight
    )
    # Rounded, so that equal lines are equal on every machine, and the earlier one is picked.
    return np.round(relevance, 6)


def _picked(
    lines: Sequence[SourceLine],
    matrix: Floats,
    relevance: Floats,
    patterns: Integers,
    budget: int,
) -> list[int]:
    """Return the indexes of the picked lines, in the order of picking.

    Each pick costs one product of the matrix with a vector.
    """
    costs = np.array([estimated_tokens(f"{line}.\n") for line in lines])
    figures = number_figures(lines)
    nearest = np.zeros(len(lines))
    of_pattern = np.zeros(len(lines))
    is_open = costs <= budget
    picked: list[int] = []
    while is_open.any():
        penalty = (1 - _RELEVANCE_SHARE) * nearest
        is_repeated = of_pattern >= MAX_OF_PATTERN
        gain = (
            _RELEVANCE_SHARE * relevance
            - penalty
            - _REPEATED_LOSS * is_repeated
        )
        open_gain = np.where(is_open, gain, -np.inf)
        best = int(np.argmax(open_gain))
        likeness = np.round(matrix @ matrix[best], 6)
        nearest = np.maximum(nearest, likeness)
        of_pattern += patterns == patterns[best]
        is_different = likeness < _NEAR_DUPLICATE
        has_other_figures = figures != figures[best]
        is_open &= is_different | has_other_figures
        is_open[best] = False
        budget -= int(costs[best])
        is_open &= costs <= budget
        picked.append(best)
    return picked


def _bounded(lines: list[SourceLine]) -> list[SourceLine]:
    """Return at most `MAX_LINES`, evenly over the days.

    The most important line of each day comes first, then the second of each.
    """
    if len(lines) <= MAX_LINES:
        return lines
    places: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    by_importance = sorted(
        range(len(lines)),
        key=lambda index: lines[index].importance,
        reverse=True,
    )
    for index in by_importance:
        day = lines[index].day
        ranked.append((places[day], index))
        places[day] += 1
    ranked.sort()
    kept = [index for _, index in ranked[:MAX_LINES]]
    return [lines[index] for index in sorted(kept)]


# Sentences

_DATED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}): ")
_SPEAKER = re.compile(r"([^\s:][^:\n]{0,79}): (?=\S)")
_END = re.compile(
    r"\n|(?<![.!?…])[.!?…]++[\"'”»)\]*_]*+(?=\s{2}|\s++(?![a-zà-öø-ÿ])|\s*+$)"
    r"|[。！？]++[」』）”]*+"
)
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)([^*\n]{1,200})(?<=\S)\*\*(?!\w)")
_ABBREVIATION = build_abbreviation(r"drs|sta|(?-i:e\.g|i\.e)")
_GREETING = re.compile(
    r"(?i:hi|hello|hey|hiya|good (?:morning|afternoon|evening|night)|morning|thanks|thank you|cheers"
    r"|bye|goodbye|welcome|hola|buen[oa]s(?: (?:días|tardes|noches))?|gracias|adiós|chao|hasta luego)\b"
)


def sentences(text: str) -> Iterator[str]:
    """Yield the text's sentences, each on one line without a bullet, long ones in pieces.

    Words in bold lose their marks: a list's item may begin with them.
    """
    text = _BOLD.sub(r"\1", text)
    start = 0
    for end in (*_sentence_ends(text), len(text)):
        words = text[start:end].split()
        plain = " ".join(words).lstrip("-–—*•#> ")
        yield from passages(plain, MAX_LINE_CHARACTERS)
        start = end


def shortened(text: str, tokens: int, head: str = "") -> str:
    """Return `head` and as much of the text as the tokens hold.

    The text is cut after a sentence, else after a word. Empty: not one character fits.
    """

    def count_tokens(length: int) -> int:
        return estimated_tokens(head + text[:length])

    lengths = range(1, len(text) + 1)
    room = bisect_right(lengths, tokens, key=count_tokens)
    if not room:
        return ""
    if room == len(text):
        return head + text
    end = _find_cut(text, room)
    return head + text[:end].rstrip()


def _find_cut(text: str, room: int) -> int:
    """Return where to cut: after the last sentence that fits, else the last word, else at `room`."""
    ends = [end for end in _sentence_ends(text[: room + 1]) if end <= room]
    if ends:
        return ends[-1]
    space = text.rfind(" ", 1, room + 1)
    if space > 0:
        return space
    return room


def _sentence_ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        end = found.end()
        nearby = max(0, end - LONGEST)
        if not _ABBREVIATION.search(text[nearby:end]):
            yield end


def _read_lines(source: Source, zone: ZoneInfo) -> Iterator[SourceLine]:
    """Yield a source's sentences.

    Each line of a summary may have a date and a speaker; without a date it is of the day of
    the line before it. A turn is one text with one speaker. A
    fact has no speaker: the words before its colon are no name.
    """
    heard = source.memory_type is MemoryType.TURN and not _corrects(source)
    is_summary = bool(source.label)
    texts = source.text.split("\n") if is_summary else [source.text]
    day = ""
    for text in texts:
        speaker = ""
        words = text
        if is_summary:
            own_day, words = _split_date(words)
            day = own_day or day
        if source.memory_type is not MemoryType.FACT:
            speaker, words = _split_speaker(words, source)
        for sentence in sentences(join_lines(words)):
            if not bare_words(sentence):
                continue
            yield SourceLine(
                day=day or day_of(source.at, zone),
                sentence=sentence,
                at=source.at,
                importance=source.importance,
                speaker=speaker,
                heard=heard,
            )


def _corrects(source: Source) -> bool:
    """Return whether a turn corrects another one: its words tell something, however short."""
    return any(read_corrected(id_) for _, id_ in source.messages)


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
    """Return the speaker that a text begins with, and the rest.

    The words before the colon are one if they are the user's id, or look like a name.
    """
    found = _SPEAKER.match(text)
    if found is None:
        return "", text
    speaker = found[1]
    is_known = speaker == source.user_id
    if not (is_known or is_name(speaker) or is_small_name(speaker)):
        return "", text
    rest = text[found.end() :]
    return " ".join(speaker.split()), rest
