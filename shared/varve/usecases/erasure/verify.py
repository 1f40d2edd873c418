"""Verify: read every object of an agent, in every form it has, and look for what has been forgotten.

What is looked for is collected before it is erased, lives in memory alone, and is never written.
"""

import re
from collections.abc import Iterator
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
from varve.usecases.erasure.sweep import fetch

MAX_NEEDLES = 2_000
WORD_CHARACTERS, TEXT_CHARACTERS = 6, 80
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
"""Words of the formats themselves, which prove nothing; others may stand within them."""


@dataclass(frozen=True, slots=True)
class Needles:
    """What must not be found: beginnings of texts, ids, and words that nobody else has used; folded.

    `lay_in` are the timeline's objects that held the messages: read by name, whatever a listing shows.
    """

    texts: frozenset[str] = frozenset()
    lay_in: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(slots=True)
class Verification:
    """What was read and where something was found; the keys are for the caller, not for the receipt."""

    objects: int = 0
    bytes: int = 0
    needles: int = 0
    found_in: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        """Nothing was found, and no store keeps anything that could not be read."""
        return not self.found_in and not self.unclean

    def figures(self) -> dict[str, Any]:
        """As JSON values without a key or a word."""
        return {
            "proved": self.proved,
            "objects": self.objects,
            "bytes": self.bytes,
            "needles": self.needles,
            "hits": len(self.found_in),
            "storesWithRemains": len(self.unclean),
        }


def needles(selector: Selector, subject: Subject, known: str = "") -> Needles:
    """What of the subject nobody else has said: at most `MAX_NEEDLES`, ids and texts before words.

    `known` is what the store says whoever speaks: the agent's names, the workspace's settings.
    """
    said = (_said(line.value) for line in subject.others)
    others = _folded(" ".join([_FORMATS, known, *said, *subject.kept]))
    kept_conversations = {line.conversation_id for line in subject.others}
    ids = (
        {selector.user or ""}
        | {line.id for line in subject.lines}
        | {r.id for r in subject.facts_and_turns}
    )
    ids |= {line.conversation_id for line in subject.lines} - kept_conversations
    contents = [line.message.text for line in subject.lines] + [
        r.words for r in subject.facts_and_turns
    ]
    texts = {
        _folded(p[:TEXT_CHARACTERS]) for content in contents for p in passages(content)
    }
    names = " ".join(line.message.name or "" for line in subject.lines)
    found = _WORD.findall(_folded(" ".join([*contents, names])))
    words = {word for word in found if not _DIGITS.fullmatch(word)}
    ordered = [
        *sorted(map(_folded, ids)),
        *sorted(texts),
        *sorted(words, key=lambda w: (-len(w), w)),
    ]
    own = [
        needle for needle in ordered if _is_distinct(needle) and needle not in others
    ]
    return Needles(
        frozenset(own[:MAX_NEEDLES]), frozenset(line.key for line in subject.lines)
    )


def verify(
    scope: Scope, wanted: Needles, *, objects: Objects, stores: StoreInspector
) -> Verification:
    """Read all that there is of the agent and of its workspace, and look for the needles."""
    result = Verification(needles=len(wanted))
    for key, stored in fetch(sorted({*_keys(scope, objects), *wanted.lay_in}), objects):
        result.objects += 1
        result.bytes += len(stored.data)
        forms = (_own(scope, key), *stores.forms(stored.data))
        if any(_holds(form, wanted) for form in forms):
            result.found_in.append(key)
    for grain in (*Grain, *Store):
        inspected = stores.inspect(scope, grain)
        if any(_holds(text, wanted) for text in inspected.texts):
            result.found_in.append(f"vectordb/{scope}/{grain}")
        if inspected.hidden_rows or inspected.stray_files:
            result.unclean.append(f"vectordb/{scope}/{grain}")
    return result


def _keys(scope: Scope, objects: Objects) -> Iterator[str]:
    """Every object that can hold something of the agent's; areas that came later are found by listing."""
    for area in objects.folders(""):
        if area == "ledger":
            yield from (
                info.key for info in objects.list(area) if _is_of(scope, info.key)
            )
        else:
            shared = area in ("workspaces", "audit")
            folder = f"{area}/{scope.workspace}" if shared else f"{area}/{scope}"
            yield from (info.key for info in objects.list(folder))


def _own(scope: Scope, key: str) -> str:
    """The key, without the name of another agent, which the workspace has given and nobody has said."""
    parts = key.split("/")
    if (
        parts[0] == "audit"
        and len(parts) > 3
        and parts[3].removesuffix(".json") != scope.agent
    ):
        del parts[3]
    return "/".join(parts)


def _is_of(scope: Scope, key: str) -> bool:
    """Whether workspace and agent stand in a row in the key, wherever its part of the ledger has them."""
    parts = key.removesuffix(".json").split("/")
    return (scope.workspace, scope.agent) in pairwise(parts)


def _is_distinct(needle: str) -> bool:
    """Long enough that random bytes, in base64 too, do not hold it by chance."""
    return len(needle) >= WORD_CHARACTERS or (len(needle) >= 4 and not needle.isalnum())


def _holds(text: str, wanted: Needles) -> bool:
    folded = _folded(text)
    return any(needle in folded for needle in wanted.texts)


def _folded(text: str) -> str:
    return text.casefold()


def _said(value: Any) -> str:
    """Every string in a JSON value."""
    if isinstance(value, dict):
        return " ".join(map(_said, value.values()))
    if isinstance(value, list):
        return " ".join(map(_said, value))
    return value if isinstance(value, str) else ""
