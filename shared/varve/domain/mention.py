"""Which of the graph's entities a prompt speaks of, found by their own names and aliases."""

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


def mentioned(
    prompt: str, triples: Iterable[Triple], given: Iterable[str] = ()
) -> set[str]:
    """The ids of the entities that the prompt names, or that are named in `given`, aliases resolved."""
    names: dict[str, set[str]] = {}
    for triple in triples:
        for name in (triple.source_id, triple.target_id):
            names.setdefault(_key(name), set()).add(name)
        if triple.label in ALIASES:
            names[_key(triple.target_id)].add(triple.source_id)
    wanted = {phrase for text in (prompt, *given) for phrase in _phrases(text)}
    return {
        entity
        for name in wanted & names.keys()
        if _is_name(name)
        for entity in names[name]
    }


def in_words(triple: Triple) -> str:
    """`Dana lives in: Lisbon`, names as they were written last."""
    said = _statement(triple)
    return f"{said.subject} {triple.label.replace('_', ' ')}: {said.object}"


def _statement(triple: Triple) -> TripleOperation:
    """The newest statement for it; the evidence may also hold the one that ended it."""
    own = (o for o in reversed(triple.evidence) if o.op is not Op.DELETE)
    return next(
        (o for o in own if normalized(o.object) == triple.target_id), triple.evidence[0]
    )


def _phrases(text: str) -> Iterator[str]:
    words = _words(text)
    for start in range(len(words)):
        for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1):
            yield " ".join(words[start:end])


def _key(name: str) -> str:
    return " ".join(_words(name))


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _WORD.findall(re.sub(r"'s\b", "", folded))


def _is_name(name: str) -> bool:
    """Whether it can name something: neither a role, nor made of words that are in every prompt."""
    return name not in _ROLES and bool(telling_stems(name))
