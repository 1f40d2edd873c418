"""Verify: search every object of an agent, in each of its forms, for forgotten words.

The needles to search for are collected before the erasure. They stay in memory and are
never written.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.erasure import Selector
from varve.domain.identity import Scope
from varve.domain.record import Store
from varve.domain.text import passages
from varve.ports.erasure import StoreInspector
from varve.ports.objects import Objects
from varve.usecases.erasure.subject import Subject
from varve.usecases.erasure.sweep import Line, fetch

MAX_NEEDLES = 2_000
WORD_CHARACTERS = 6
"""The shortest word that is searched for."""
TEXT_CHARACTERS = 80
"""How much of a text's beginning is searched for."""
_SHORTEST_MARKED = 4
"""The shortest needle that has a character other than letters and digits."""
_WORKSPACE_AREAS = ("workspaces", "audit")
"""Areas that are read for the whole workspace."""
_WORD = re.compile(rf"[^\W_]{{{WORD_CHARACTERS},}}")
_DIGITS = re.compile(r"[0-9a-f]+")
_FORMATS = """
account agents allergies assistant assumptions begins binary birthday caused columnencoding columns
complete compression confidence config content context continuation contradicted conversationid
conversations corrections createdat creator current custom daily decisions default deleted deletion
dictionary double embedding employer encoded encodings english episodes erased eventtime evidence
experience expired expiry extraction extractor failure filter fingerprints finishedat folding
forgottenat format fragments graphs halffloat identifiers identity impacts importance indices integer
invalid invertedindexdetails lancepk languages latest learned ledger length lessons location manifest
memories memory messageids messages metadata monthly nullable number numerics objects operators original
outcome pagelayout params parquet partitions passes payloads people period plain position posting
predicate preferences preferred prefix preserve primary profileentries profiles pronouns properties
quarterly questions receipts records regime remove replaces resolution schema signals simple sources
spoken stated string subject success summaries summary supercat target tasktype timeline timestamp
tokenizer tokens tombstones topics transactions tripleoperations unenforced updatedat userid values
varint vectordb verification versions weekly wordllama working workspaces yearly
"""
"""Words of the file formats themselves: finding one of them, or a part, proves nothing."""


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


@dataclass(slots=True)
class Verification:
    """Counts of the objects read, and the keys in which a needle was found.

    `found_in` and `unclean` are for the caller; the receipt holds counts alone.
    """

    objects: int = 0
    bytes: int = 0
    needles: int = 0
    found_in: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        """Whether nothing was found, and no store keeps data that could not be read."""
        return not self.found_in and not self.unclean

    def figures(self) -> dict[str, Any]:
        """Return it as JSON values, without keys and words."""
        return {
            "proved": self.proved,
            "objects": self.objects,
            "bytes": self.bytes,
            "needles": self.needles,
            "hits": len(self.found_in),
            "storesWithRemains": len(self.unclean),
        }


def collect_needles(selector: Selector, subject: Subject, known: str = "") -> Needles:
    """Return what only the subject has said: at most `MAX_NEEDLES`, ids and texts first.

    `known` are words that the store holds in any case: the agent's names, the workspace's
    settings.
    """
    contents = [line.message.text for line in subject.lines]
    contents += [record.words for record in subject.facts_and_turns]
    candidates = [
        *sorted(_fold(id_) for id_ in _ids_of(selector, subject)),
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
            found.add(_fold(passage[:TEXT_CHARACTERS]))
    return found


def _words(contents: Iterable[str], lines: Iterable[Line]) -> list[str]:
    """Return the long words of texts and speakers' names, folded, longest first."""
    names = " ".join(line.message.name or "" for line in lines)
    text = _fold(" ".join([*contents, names]))
    words = {word for word in _WORD.findall(text) if not _DIGITS.fullmatch(word)}
    return sorted(words, key=lambda word: (-len(word), word))


def _words_of_others(subject: Subject, known: str) -> str:
    """Return the text in which a needle must not occur, folded."""
    said = [_join_strings(line.value) for line in subject.others]
    return _fold(" ".join([_FORMATS, known, *said, *subject.kept]))


def verify(
    scope: Scope, wanted: Needles, *, objects: Objects, stores: StoreInspector
) -> Verification:
    """Search everything stored of the agent and its workspace for the needles."""
    result = Verification(needles=len(wanted))
    keys = {*_list_keys(scope, objects), *wanted.erased_keys}
    for key, stored in fetch(sorted(keys), objects):
        result.objects += 1
        result.bytes += len(stored.data)
        forms = (_searched_key(scope, key), *stores.forms(stored.data))
        if any(_holds(form, wanted) for form in forms):
            result.found_in.append(key)
    for grain in (*Grain, *Store):
        inspected = stores.inspect(scope, grain)
        if any(_holds(text, wanted) for text in inspected.texts):
            result.found_in.append(f"vectordb/{scope}/{grain}")
        if inspected.hidden_rows or inspected.stray_files:
            result.unclean.append(f"vectordb/{scope}/{grain}")
    return result


def _list_keys(scope: Scope, objects: Objects) -> Iterator[str]:
    """Yield every object that may hold data of the agent, in areas found by listing."""
    for area in objects.folders(""):
        if area == "ledger":
            for info in objects.list(area):
                if _names_agent(scope, info.key):
                    yield info.key
            continue
        folder = f"{area}/{scope}"
        if area in _WORKSPACE_AREAS:
            folder = f"{area}/{scope.workspace}"
        for info in objects.list(folder):
            yield info.key


def _searched_key(scope: Scope, key: str) -> str:
    """Return the key without the name of another agent.

    The workspace chose that name; it is not data of a user.
    """
    parts = key.split("/")
    if parts[0] == "audit" and len(parts) > 3:
        agent = parts[3].removesuffix(".json")
        if agent != scope.agent:
            del parts[3]
    return "/".join(parts)


def _names_agent(scope: Scope, key: str) -> bool:
    """Return whether workspace and agent follow each other anywhere in the key."""
    parts = key.removesuffix(".json").split("/")
    return (scope.workspace, scope.agent) in pairwise(parts)


def _is_distinct(needle: str) -> bool:
    """Return whether it is too long to occur by chance in random bytes or base64."""
    if len(needle) >= WORD_CHARACTERS:
        return True
    return len(needle) >= _SHORTEST_MARKED and not needle.isalnum()


def _holds(text: str, wanted: Needles) -> bool:
    folded = _fold(text)
    return any(needle in folded for needle in wanted.texts)


def _fold(text: str) -> str:
    return text.casefold()


def _join_strings(value: Any) -> str:
    """Return every string in a JSON value, separated by spaces."""
    if isinstance(value, dict):
        return " ".join(map(_join_strings, value.values()))
    if isinstance(value, list):
        return " ".join(map(_join_strings, value))
    return value if isinstance(value, str) else ""
