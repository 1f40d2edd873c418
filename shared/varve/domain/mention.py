"""The graph's entities that a prompt speaks of, found by their names and aliases."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from varve.domain.names import normalized
from varve.domain.relevance import telling_stems
from varve.domain.triple import Op, Triple, TripleOperation

ALIASES = frozenset(
    {"name", "full_name", "goes_by", "nickname", "alias", "also_known_as"}
)
"""Predicates whose object is another name of their subject."""

MAX_NAME_WORDS = 6
_ROLES = frozenset({"user", "assistant", "system", "human", "agent"})
_WORD = re.compile(r"[^\W_]+(?:[-.&][^\W_]+)*")
_POSSESSIVE = re.compile(r"'s\b")


def mentioned(
    prompt: str, triples: Iterable[Triple], given: Iterable[str] = ()
) -> set[str]:
    """Return the ids of the entities that the prompt or a text of `given` names.

    An alias counts for its entity.
    """
    names = _entities_by_name(triples)
    wanted: set[str] = set()
    for text in (prompt, *given):
        wanted.update(_phrases(text))
    found: set[str] = set()
    for name in wanted & names.keys():
        if _is_name(name):
            found |= names[name]
    return found


def _entities_by_name(triples: Iterable[Triple]) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    for triple in triples:
        for name in (triple.source_id, triple.target_id):
            ids = names.setdefault(_key(name), set())
            ids.add(name)
        if triple.label in ALIASES:
            alias = _key(triple.target_id)
            names[alias].add(triple.source_id)
    return names


def in_words(triple: Triple) -> str:
    """Return `Dana lives in: Lisbon`, with the names as they were last written."""
    said = _find_statement(triple)
    predicate = triple.label.replace("_", " ")
    return f"{said.subject} {predicate}: {said.object}"


def _find_statement(triple: Triple) -> TripleOperation:
    """Return the newest statement for a triple; its evidence may also hold the one that ended it."""
    for operation in reversed(triple.evidence):
        if operation.op is Op.DELETE:
            continue
        if normalized(operation.object) == triple.target_id:
            return operation
    return triple.evidence[0]


def _phrases(text: str) -> Iterator[str]:
    """Yield every run of up to `MAX_NAME_WORDS` words."""
    words = _words(text)
    for start in range(len(words)):
        last_end = min(start + MAX_NAME_WORDS, len(words))
        for end in range(start + 1, last_end + 1):
            phrase = words[start:end]
            yield " ".join(phrase)


def _key(name: str) -> str:
    return " ".join(_words(name))


def _words(text: str) -> list[str]:
    composed = unicodedata.normalize("NFKC", text)
    folded = composed.casefold().replace("’", "'")
    bare = _POSSESSIVE.sub("", folded)
    return _WORD.findall(bare)


def _is_name(name: str) -> bool:
    """Return whether a name can mean an entity: it is no role and not only common words."""
    if name in _ROLES:
        return False
    return bool(telling_stems(name))
