"""Which earlier statements a new one is compared with by a model, and what is believed of its reply."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from varve.domain.statements.pairs.links import Relation
from varve.domain.statements.pairs.sameness import (
    mean_the_same,
    tell_difference,
)
from varve.domain.statements.pairs.superseding import (
    changes_others,
    is_guarded,
    split_clauses,
)
from varve.domain.statements.texts.particulars import (
    Particulars,
    collect_stems,
    count_shared,
    read_particulars,
)
from varve.domain.statements.texts.statement import Statement
from varve.domain.text import casefold_words

MOST_EARLIER = 4
"""Earlier statements with which a new one is compared."""
LEAST_LIKENESS = 0.15
"""The least likeness of two turns' vectors and words; a speaker's turns share a name."""
PER_TOPIC = 0.2
PER_WORD = 0.1
"""What a shared topic and a shared word add to the likeness of the vectors."""


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn's id, what it states, and who says so."""

    id: str
    statement: Statement
    speaker: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A new turn and the earlier ones of its speaker with which it is compared."""

    new: ToldTurn
    earlier: tuple[ToldTurn, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model says of a new statement and an earlier one; nothing in it is trusted.

    `quote` are words of the new statement that show it, `ended` those of the earlier one
    that hold no longer.
    """

    relation: Relation
    quote: str
    ended: str


def choose_earlier(
    new: Statement, candidates: Iterable[ToldTurn]
) -> tuple[ToldTurn, ...]:
    """Return the earlier statements most like a new one that it may change or confirm.

    One that says the same is no question for a model.
    """
    likeness: dict[ToldTurn, float] = {}
    for candidate in candidates:
        if _is_comparable(candidate.statement, new):
            likeness[candidate] = _compute_likeness(candidate.statement, new)
    near = [one for one in likeness if likeness[one] >= LEAST_LIKENESS]
    near.sort(key=lambda one: (-likeness[one], one.id))
    return tuple(near[:MOST_EARLIER])


def _is_comparable(earlier: Statement, new: Statement) -> bool:
    if not is_earlier(earlier, new) or _bars(earlier, new):
        return False
    cosine = float(earlier.vector @ new.vector)
    return not mean_the_same(earlier.text, new.text, cosine, same_day=False)


def is_earlier(one: Statement, other: Statement) -> bool:
    """Return whether a statement of the same speaker was told before another one."""
    if one.time != other.time:
        return one.time < other.time
    is_same_talk = one.conversation == other.conversation
    return is_same_talk and one.position < other.position


def is_believed(
    judgement: Judgement, earlier: Statement, new: Statement
) -> bool:
    """Return whether a judgement agrees with the words of both statements."""
    if not _is_quoted(judgement.quote, new.text) or _bars(earlier, new):
        return False
    if judgement.relation is Relation.SUPERSEDES:
        return _may_supersede(judgement.ended, earlier, new)
    if judgement.relation is Relation.CONFIRMS:
        return not _contradict(earlier.text, new.text)
    return False


def _bars(earlier: Statement, new: Statement) -> bool:
    """Return whether the rules know that a statement changes and confirms nothing.

    It tells of a wish, of other persons, or of what never came. No model overrules that.
    """
    return is_guarded(earlier.cues, new.cues) or changes_others(earlier, new)


def _compute_likeness(earlier: Statement, new: Statement) -> float:
    topics = earlier.cues.topics & new.cues.topics
    words = count_shared(new.cues.particulars, earlier.cues.particulars)
    cosine = float(earlier.vector @ new.vector)
    return cosine + PER_TOPIC * bool(topics) + PER_WORD * min(words, 2)


def _may_supersede(ended: str, earlier: Statement, new: Statement) -> bool:
    if not _is_quoted(ended, earlier.text):
        return False
    if tell_difference(earlier.text, new.text, same_day=False) is None:
        return False
    # Of a part, only the rules can tell at a question which part it is: by its topic.
    return _is_whole(ended, earlier.text) or bool(
        earlier.cues.topics & new.cues.topics
    )


def _is_quoted(quote: str, text: str) -> bool:
    """Return whether a text has these words, and they carry meaning."""
    plain = casefold_words(quote)
    return (
        bool(plain)
        and plain in casefold_words(text)
        and _tells(read_particulars(quote))
    )


def _tells(part: Particulars) -> bool:
    return bool(part.telling or part.numbers or part.dates)


def _is_whole(ended: str, text: str) -> bool:
    """Return whether a quotation has a part of every clause that carries meaning."""
    quoted = read_particulars(ended)
    for clause in split_clauses(text):
        part = read_particulars(clause)
        if _tells(part) and not _share(part, quoted):
            return False
    return True


def _share(one: Particulars, other: Particulars) -> bool:
    """Return whether two texts share a word, a number or a date."""
    if count_shared(one, other):
        return True
    numbers = set(one.numbers) & set(other.numbers)
    return bool(numbers or set(one.dates) & set(other.dates))


def _contradict(earlier: str, new: str) -> bool:
    """Return whether two texts name different numbers, dates or names."""
    first = read_particulars(_drop_first_word(earlier))
    second = read_particulars(_drop_first_word(new))
    return (
        _are_apart(first.numbers, second.numbers)
        or _are_apart(first.dates, second.dates)
        or _are_apart(_list_names(first), _list_names(second))
    )


def _drop_first_word(text: str) -> str:
    """Return a text without its first word, whose capital letter shows no name."""
    return text.partition(" ")[2]


def _list_names(part: Particulars) -> list[str]:
    return sorted(collect_stems(word for word in part.telling if word.named))


def _are_apart(one: Sequence[str], other: Sequence[str]) -> bool:
    return bool(one and other) and set(one).isdisjoint(other)
