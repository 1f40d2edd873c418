"""The needles of a proof: what must not be found after an erasure.

They are collected before the erasure. In plain words they stay in memory and are never
written; a run that finds none of them needs no more. Until then their traces are kept.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from varve.domain.analytics import TABLES
from varve.domain.erasure import Selector
from varve.domain.record import Record
from varve.domain.text import passages
from varve.domain.traces import Traces, build_traces
from varve.usecases.erasure.statements import texts_of_row
from varve.usecases.erasure.subject import Subject
from varve.usecases.erasure.sweep import TimelineLine

MAX_NEEDLES = 2_000
WORD_CHARACTERS = 6
"""The shortest word that is searched for."""
TEXT_CHARACTERS = 80
"""How much of a text's beginning is searched for."""
_SHORTEST_MARKED = 4
"""The shortest needle that has a character other than letters and digits."""
_BOUNDED = 10
"""A needle with fewer characters and with digits or marks must not stand within a word."""
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(rf"[^\W_]{{{WORD_CHARACTERS},}}")
_DIGITS = re.compile(r"[0-9a-f]+")
_FORMATS = """
account agents allergies assistant assumptions begins binary birthday caused columnencoding columns
complete compression confidence config content context continuation contradicted conversationid
conversations corrections createdat creator current custom daily decisions default deleted deletion
dictionary double embedding employer encoded encodings english episodes erased eventtime evidence
experience expired expiry extraction extractor failure filter fingerprints finishedat folding
forgottenat format fragments graphs halffloat identifiers identity impacts importance indices integer
invalid invertedindexdetails lancepk languages latest learned learnt ledger length lessons location
manifest memories memory messageids messages metadata monthly needles nullable number numerics objects
operators original outcome pagelayout params parquet partitions passes payloads people period plain
position posting predicate preferences preferred prefix preserve primary profileentries profiles
pronouns properties proved quarterly questions reason receipts records regime remembered remove replaces
rereads resolution schema signals simple sources spoken stated string subject success summaries summary
supercat target tasktype timeline timestamp tokenizer tokens tombstones topics transactions
tripleoperations unenforced updatedat userid values varint vectordb verification versions weekly
wordllama working workspaces yearly
"""
"""Words of the file formats themselves: finding one of them, or a part, proves nothing."""
_PUBLISHED = " ".join(
    [
        "schemaversion publishedat",
        *TABLES,
        *(" ".join(one.names) for one in TABLES.values()),
    ]
)
"""Words of the files that `publish` writes."""


@dataclass(frozen=True, slots=True)
class Needles:
    """What must not be found, casefolded: ids, beginnings of texts, and words.

    No other user's data contains them. `erased_keys` are the timeline objects that held the
    messages; they are read by key, even if a listing omits them.
    """

    texts: frozenset[str] = frozenset()
    erased_keys: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.texts)

    def stand_in(self, text: str) -> bool:
        """Return whether one of them stands in the text."""
        folded = fold(text)
        return any(_stands_in(needle, folded) for needle in self.texts)


def collect_needles(
    selector: Selector, subject: Subject, known: str = ""
) -> Needles:
    """Return what only the subject has said: at most `MAX_NEEDLES`, ids and texts first.

    `known` are words that the store holds in any case: the agent's names, the workspace's
    settings.
    """
    contents = subject.texts
    candidates = [
        *sorted(fold(id_) for id_ in _ids_of(selector, subject)),
        *sorted(_beginnings(contents)),
        *_words(contents, subject.lines),
    ]
    others = _words_of_others(subject, known)
    own: list[str] = []
    for candidate in candidates:
        if _is_distinct(candidate) and candidate not in others:
            own.append(candidate)
    keys = frozenset(line.key for line in subject.lines)
    return Needles(frozenset(own[:MAX_NEEDLES]), keys)


def _ids_of(selector: Selector, subject: Subject) -> set[str]:
    """Return the ids of the user, its messages, its records, and its conversations."""
    conversations = {line.conversation_id for line in subject.lines}
    conversations -= {line.conversation_id for line in subject.others}
    ids = {selector.user or ""} | conversations
    ids.update(line.id for line in subject.lines)
    ids.update(record.id for record in subject.facts_and_turns)
    return ids


def _beginnings(contents: Iterable[str]) -> set[str]:
    """Return the beginning of each passage, folded."""
    found: set[str] = set()
    for content in contents:
        for passage in passages(content):
            found.add(fold(passage[:TEXT_CHARACTERS]))
    return found


def _words(
    contents: Iterable[str], lines: Iterable[TimelineLine]
) -> list[str]:
    """Return the long words of texts and speakers' names, folded, longest first."""
    names = " ".join(line.message.name or "" for line in lines)
    text = fold(" ".join([*contents, names]))
    words = {
        word for word in _WORD.findall(text) if not _DIGITS.fullmatch(word)
    }
    return sorted(words, key=lambda word: (-len(word), word))


def _words_of_others(subject: Subject, known: str) -> str:
    """Return the text in which a needle must not occur, folded."""
    return fold(" ".join(_texts_of_others(subject, known)))


def _texts_of_others(subject: Subject, known: str) -> list[str]:
    said = [join_strings(line.value) for line in subject.others]
    return [_FORMATS, _PUBLISHED, known, *said, *subject.kept]


def trace(
    key: str, selector: Selector, subject: Subject, known: str = ""
) -> Traces:
    """Return the needles' traces, to be kept until a run has found none of them."""
    ids = [
        id_ for id_ in _ids_of(selector, subject) if _is_distinct(fold(id_))
    ]
    names = [line.message.name or "" for line in subject.lines]
    formats = {*_FORMATS.split(), *_PUBLISHED.split()}
    texts = [
        text
        for text in subject.texts
        if not formats.issuperset(fold(text).split())
    ]
    others = _texts_of_others(subject, known)
    return build_traces(key, ids, [*texts, *names], others)


def find_repeating(lessons: Iterable[Record], wanted: Needles) -> list[Record]:
    """Return the lessons in whose words a needle stands."""
    return [
        row for row in lessons if any(map(wanted.stand_in, texts_of_row(row)))
    ]


def _is_distinct(needle: str) -> bool:
    """Return whether it is too long to occur by chance in random bytes or base64.

    Parts of dates and times have no letter, so only a long number without marks counts.
    """
    if len(needle) >= WORD_CHARACTERS:
        return needle.isalnum() or _LETTER.search(needle) is not None
    is_marked = len(needle) >= _SHORTEST_MARKED and not needle.isalnum()
    return is_marked and _LETTER.search(needle) is not None


def _stands_in(needle: str, folded: str) -> bool:
    if needle not in folded:
        return False
    if len(needle) >= _BOUNDED or needle.isalpha():
        return True
    bounded = rf"(?<![^\W_]){re.escape(needle)}(?![^\W_])"
    return re.search(bounded, folded) is not None


def fold(text: str) -> str:
    """Return the text in the form in which needles are compared."""
    return text.casefold()


def join_strings(value: Any) -> str:
    """Return every string in a JSON value, separated by spaces."""
    if isinstance(value, dict):
        return " ".join(map(join_strings, value.values()))
    if isinstance(value, list):
        return " ".join(map(join_strings, value))
    return value if isinstance(value, str) else ""
