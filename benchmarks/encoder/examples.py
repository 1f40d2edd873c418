"""What the cross-encoder is trained on: single lines by their marks, statements, and pairs."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.everyday_cases import read as read_memories
from benchmarks.updates_cases import FOLDER, TRAINED, read_chatter
from benchmarks.updates_fit_asked import (
    EVERYDAY_HANDS,
    PAIR_NAMES,
    ROW_NAMES,
    Measured,
)
from benchmarks.updates_fit_wording import PARTS, Told, read_lines
from varve.domain.language.languages import installed_language
from varve.domain.language.tellings import find_language
from varve.domain.statements.questions.asked import (
    LEAST_ODDS,
    weights_of_rows,
)
from varve.domain.statements.questions.asked_weights import PAIR_WEIGHTS

WIDE_LINES = FOLDER / "wide_lines"
GROUPS = FOLDER / "groups"
"""Files of groups, one of each hand. After `?` with a question stand an earlier message, `-`, two or
three later ones that supersede it, `+`, and four that do not, `~`. From 15 to 22 most messages ask
for something besides what they tell; those of 23 are short and plain.
"""
HANDS = ("few", *EVERYDAY_HANDS)
LOOKALIKE = "~"
COMMON = 1_500
"""A word of more lines shows no common matter."""
NEAR_LINES = 20
ALIKE_PAIRS = 5_000
"""So many of them are drawn for one pass."""
LEAST_HARD, LEAST_BESIDE = -5.0, -6.0
"""A pair and a statement of lesser scores are not mistaken for others."""
_WORD = re.compile(r"[^\W\d_]{3,}")

T = TypeVar("T")

Texts = tuple[str, ...]
"""A question and a statement, or a question, a statement and a later one."""
Example = tuple[Texts, float]
"""What is read, with 1 where it is so, else 0."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How many are drawn for one pass of what does not supersede or answer.

    `hard` and `beside` of those of `Known`, and beside each change `others` that belong to
    other questions.
    """

    hard: int
    beside: int
    others: int


@dataclass(frozen=True, slots=True)
class Group:
    """A question, a message that answers it, later ones that supersede that, and such that do not."""

    question: str
    earlier: str
    changes: Sequence[str]
    lookalikes: Sequence[str]


def read_all_lines() -> list[Told]:
    """Return the lines that `updates_fit_wording.py` reads, and the wide ones."""
    found = {line.text: line for line in _read_wide(WIDE_LINES)}
    return list((found | {line.text: line for line in read_lines()}).values())


def read_trained_chatter() -> dict[str, list[str]]:
    """Return the user's lines of the chatter of the training, by language."""
    return {
        language: [
            line.text
            for talk in read_chatter(language, TRAINED)
            for line in talk
            if line.mark == "*"
        ]
        for language in ("en", "es")
    }


def _read_wide(folder: Path) -> Iterator[Told]:
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                mark, text = line.split(maxsplit=1)
                yield Told(text, mark, path.stem)


@dataclass(slots=True)
class Known:
    """What is known of questions: which pairs supersede, and which statements answer.

    `superseding` are pairs whose later statement supersedes the earlier one, and `leaving` such
    whose does not; `hard` are those of the latter that the fitted weights take for likely.
    `answering` are questions with a statement that answered them when it was told, `beside` with
    one that did not. `groups` are those of `GROUPS`.
    """

    superseding: list[Texts]
    leaving: set[Texts]
    hard: list[Texts]
    answering: list[Texts]
    beside: list[Texts]
    groups: list[Group]


def list_known(asked: Sequence[Measured]) -> Known:
    """Return what is known of questions as measured, of few statements, and of groups."""
    known: dict[Texts, bool] = {}
    hard: dict[Texts, None] = {}
    answers: dict[Texts, bool] = {}
    for measured in asked:
        question = measured.heard.asking.text
        rows = measured.heard.rows
        odds, scores = _score(measured)
        for number, (earlier, later) in enumerate(measured.places.tolist()):
            first, second = rows[earlier].statement, rows[later].statement
            if first is None or second is None:
                continue
            pair = (question, first.text, second.text)
            if scores[number] > LEAST_HARD:
                hard[pair] = None
            supersedes = _judge(measured, number)
            if supersedes is not None:
                known[pair] = supersedes
        if measured.heard.part in PARTS:
            answers |= dict(_list_answers(measured, odds))
    known |= dict(_list_small_pairs())
    return Known(
        superseding=[pair for pair, is_true in known.items() if is_true],
        leaving={pair for pair, is_true in known.items() if not is_true},
        hard=[pair for pair in hard if known.get(pair) is False],
        answering=[one for one, is_true in answers.items() if is_true],
        beside=[one for one, is_true in answers.items() if not is_true],
        groups=list(read_groups()),
    )


def _list_answers(
    measured: Measured, odds: np.ndarray
) -> Iterator[tuple[Texts, bool]]:
    """Yield a question with each statement that it found, and whether it answers."""
    heard = measured.heard
    if heard.asking.is_past or "together" in heard.sorts:
        return
    for row, likely in zip(heard.rows, odds.tolist(), strict=True):
        answers = row.mark in ("old", "new")
        if row.statement is not None and (answers or likely > LEAST_BESIDE):
            yield (heard.asking.text, row.statement.text), answers


def read_groups() -> Iterator[Group]:
    """Yield the groups of all hands."""
    for path in sorted(GROUPS.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            lines = [line.partition(" ") for line in block.splitlines()]
            told = defaultdict(list)
            for mark, _, text in lines:
                told[mark].append(text.strip())
            yield Group(told["?"][0], told["-"][0], told["+"], told["~"])


def _score(measured: Measured) -> tuple[np.ndarray, np.ndarray]:
    """Return the odds of a question's rows and the scores of its pairs, by the weights in use."""
    of_rows = weights_of_rows(measured.heard.asking)
    weights = np.array([of_rows.get(name, 0.0) for name in ROW_NAMES])
    odds: np.ndarray = measured.rows @ weights + measured.row_guards
    if not len(measured.places):
        return odds, np.zeros(0)
    signals = measured.pairs.copy()
    signals[:, PAIR_NAMES.index("odds")] = np.maximum(
        LEAST_ODDS, odds[measured.places[:, 1]]
    )
    weights = np.array([PAIR_WEIGHTS.get(name, 0.0) for name in PAIR_NAMES])
    scores: np.ndarray = signals @ weights + measured.pair_guards
    return odds, scores


def _judge(measured: Measured, number: int) -> bool | None:
    """Return whether the later statement of a pair supersedes the earlier, if that is known.

    Among other cases only what the question's own case has is known.
    """
    if "together" not in measured.heard.sorts:
        supersedes = measured.supersedes[number]
        return None if math.isnan(supersedes) else bool(supersedes)
    earlier, later = measured.places[number]
    before = measured.heard.rows[earlier].mark
    after = measured.heard.rows[later].mark
    if before == "old" and after == "new":
        return True
    is_known = before in ("old", "new") and after == "other"
    return False if is_known else None


def _list_small_pairs() -> Iterator[tuple[Texts, bool]]:
    """Yield the pairs of each question of the everyday memories."""
    for hand in HANDS:
        for told in read_memories(hand):
            ids = list(told.statements)
            for asked in told.questions:
                for place, earlier in enumerate(ids):
                    for later in ids[place + 1 :]:
                        is_stale = earlier in asked.stale
                        supersedes = is_stale and later in asked.answers
                        if earlier in told.superseded and not is_stale:
                            continue
                        if is_stale and later in asked.stale:
                            continue
                        pair = (
                            asked.text,
                            told.statements[earlier],
                            told.statements[later],
                        )
                        yield pair, supersedes


class Examples:
    """Deals out what one pass reads, with lines beside it that change and answer nothing.

    `chatter` has the user's lines about other things, by language.
    """

    def __init__(
        self,
        known: Known,
        lines: Sequence[Told],
        chatter: Mapping[str, Sequence[str]],
        chance: np.random.Generator,
        shares: Shares,
    ) -> None:
        self._known = known
        self._shares = shares
        self._chance = chance
        self._chatter = chatter
        self._lookalikes = [
            line.text for line in lines if line.mark == LOOKALIKE
        ]
        alike = set(self._lookalikes)
        self._alike = [
            pair
            for pair in known.leaving
            if pair[2] in alike and pair[1] not in alike
        ]
        self._alike.sort()
        self._near = _Near(lines, self._lookalikes)
        self._own: dict[str, set[str]] = defaultdict(set)
        self._told: dict[str, list[str]] = defaultdict(list)
        for question, *told in known.superseding:
            self._own[question].update(told)
            self._told[self._find_language(question)] += told
        for group in known.groups:
            told = self._told[self._find_language(group.question)]
            told += [group.earlier, *group.changes]

    def deal_pairs(self) -> list[Example]:
        """Return pairs with 1 where the later one supersedes, else 0.

        Each superseding pair comes twice. Beside one of a case stand look-alikes in like words,
        what others tell and change, and chatter; beside one of a group the last two: none of
        them changes its statements.
        """
        known = self._known
        dealt = [(pair, 1.0) for pair in known.superseding] * 2
        dealt += self._sample(known.hard, self._shares.hard)
        dealt += self._sample(self._alike, ALIKE_PAIRS)
        for pair in known.superseding:
            dealt += [(other, 0.0) for other in self._list_beside(pair)]
        for group in known.groups:
            dealt += self._deal_group(group)
        return dealt

    def _deal_group(self, group: Group) -> Iterator[Example]:
        """Yield the pairs of a group, and such with a line that is none of its."""
        asked, earlier = group.question, group.earlier
        for change in group.changes:
            yield (asked, earlier, change), 1.0
            yield (asked, earlier, change), 1.0
            for other in self._pick_others(asked):
                if self._is_lucky(0.75):
                    yield (asked, earlier, other), 0.0
                else:
                    yield (asked, other, change), 0.0
            chatter = self._pick_chatter(asked)
            if self._is_lucky(0.6):
                yield (asked, earlier, chatter), 0.0
            else:
                yield (asked, chatter, change), 0.0
        for lookalike in group.lookalikes:
            yield (asked, earlier, lookalike), 0.0
            if self._is_lucky(0.25):
                yield (asked, self._pick_chatter(asked), lookalike), 0.0

    def deal_statements(self) -> list[Example]:
        """Return questions with a statement, and 1 where it answered when it was told, else 0."""
        known = self._known
        dealt = [(one, 1.0) for one in known.answering] * 2
        dealt += self._sample(known.beside, self._shares.beside)
        for pair in known.superseding:
            asked = pair[0]
            others = [*self._pick_others(asked), *self._pick_near(pair)]
            dealt += [((asked, other), 0.0) for other in others]
        for group in known.groups:
            asked = group.question
            dealt += [((asked, group.earlier), 1.0)] * 2
            dealt += [((asked, change), 1.0) for change in group.changes]
            dealt += [((asked, other), 0.0) for other in group.lookalikes]
            for _ in group.changes:
                others = self._pick_others(asked)
                dealt += [((asked, other), 0.0) for other in others]
                dealt.append(((asked, self._pick_chatter(asked)), 0.0))
        return dealt

    def _sample(self, every: Sequence[Texts], most: int) -> list[Example]:
        """Return some of what does not supersede or answer."""
        chosen = self._chance.permutation(len(every))[:most]
        return [(every[number], 0.0) for number in chosen]

    def _list_beside(self, pair: Texts) -> Iterator[Texts]:
        """Yield pairs with a line that has nothing to do with a superseding pair."""
        question, earlier, later = pair
        for near in self._pick_near(pair):
            yield question, earlier, near
        for near in self._pick_near(pair):
            yield question, later, near
        for told in self._pick_others(question):
            yield question, earlier, told
        chatter, other = (self._pick_chatter(question) for _ in range(2))
        yield question, earlier, chatter
        if self._is_lucky(0.5):
            yield question, later, other
        else:
            yield question, other, later
        if self._is_lucky(0.3):
            yield question, chatter, other

    def _pick_near(self, pair: Texts) -> Iterator[str]:
        """Yield a look-alike in words like those of a superseding pair, if there is one."""
        near = self._near.find(" ".join(pair), self._own[pair[0]])
        if near:
            yield self._pick(near)

    def _is_lucky(self, chance: float) -> bool:
        return bool(self._chance.random() < chance)

    def _pick(self, every: Sequence[T]) -> T:
        return every[int(self._chance.integers(len(every)))]

    def _pick_others(self, question: str) -> Iterator[str]:
        """Yield what any groups and cases tell and change, in the question's language."""
        told = self._told[self._find_language(question)]
        for _ in range(self._shares.others):
            yield self._pick(told)

    def _pick_chatter(self, question: str) -> str:
        """Return a line about something else in the question's language."""
        return self._pick(self._chatter[self._find_language(question)])

    def _find_language(self, question: str) -> str:
        languages = [installed_language(code) for code in self._chatter]
        return find_language([question], languages).code


class _Near:
    """Finds the look-alikes that share rare words with a text."""

    def __init__(
        self, lines: Sequence[Told], lookalikes: Sequence[str]
    ) -> None:
        self._counts = Counter(
            word for line in lines for word in _list_words(line.text)
        )
        self._texts = lookalikes
        self._having: dict[str, list[int]] = defaultdict(list)
        self._found: dict[str, list[str]] = {}
        for number, text in enumerate(lookalikes):
            for word in _list_words(text):
                if self._counts[word] < COMMON:
                    self._having[word].append(number)

    def find(self, text: str, own: set[str]) -> list[str]:
        """Return the nearest ones, without those in `own`."""
        if text not in self._found:
            self._found[text] = self._find(text, own)
        return self._found[text]

    def _find(self, text: str, own: set[str]) -> list[str]:
        scores: Counter[int] = Counter()
        for word in sorted(_list_words(text)):
            for number in self._having.get(word, ()):
                scores[number] += 1 / math.log(2 + self._counts[word])  # type: ignore[assignment]
        best = [self._texts[number] for number, _ in scores.most_common(30)]
        return [one for one in best if one not in own][:NEAR_LINES]


def _list_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
