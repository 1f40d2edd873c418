"""The limits of a search: names, parts of names, and topics."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from varve.domain.entities import fold_of_user
from varve.domain.known_names import KnownNames
from varve.domain.language.named_words import split_words
from varve.domain.language.names import NAME
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold, written_words
from varve.domain.names import normalized
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest
from varve.domain.search.question import asks_for_everything, find_whom
from varve.domain.triple import Triple

MAX_CANDIDATES = 10
"""The most names that a hint lists."""
_NAME = re.compile(NAME)


@dataclass(frozen=True, slots=True)
class Meant:
    """The phrases that results must have, or the entities that `about` may mean.

    `everything`: the question asks for all that has the phrases. `whom` is the name in the
    question that they are, `about` the name that the request gives, and `bearers` the
    entities that the name may mean, as people write them, as are `candidates`.
    """

    mentions: tuple[tuple[str, ...], ...] = ()
    candidates: tuple[str, ...] = ()
    everything: bool = False
    whom: str = ""
    about: str = ""
    bearers: tuple[str, ...] = ()


def find_meant(
    request: SearchRequest, triples: Callable[[], Sequence[Triple]]
) -> Meant:
    """Return what `about`, `people` and `topics` ask for, or the name in the question.

    The triples are read only for a name, which may be an alias or a first name.
    """
    groups = [
        tuple(group) for group in (request.people, request.topics) if group
    ]
    everything = bool(request.text) and asks_for_everything(request.text)
    if request.about is None:
        whom = find_whom(request.text) if request.text and not groups else ""
        if whom:
            return _find_everything(whom, request, triples)
        return Meant(tuple(groups), everything=everything)
    known = KnownNames(fold_of_user(triples(), request.user_id))
    found = known.find(request.about)
    if len(found) > 1:
        return Meant(candidates=tuple(known.spell(found)))
    phrases = _list_phrases(request.about, found, known)
    return Meant(
        (phrases, *groups),
        everything=everything,
        about=request.about,
        bearers=tuple(known.spell(found)),
    )


def _find_everything(
    whom: str, request: SearchRequest, triples: Callable[[], Sequence[Triple]]
) -> Meant:
    """Return the phrases of the one of whom a question asks everything.

    Words that are no name, and that no entity has, limit nothing. A name that several
    have means all of them.
    """
    known = KnownNames(fold_of_user(triples(), request.user_id))
    found = known.find(whom)
    if not found and not _NAME.fullmatch(whom):
        return Meant()
    is_clear = len(found) == 1
    return Meant(
        (_list_phrases(whom, found if is_clear else (), known),),
        everything=True,
        whom=whom,
        bearers=tuple(known.spell(found)),
    )


def _list_phrases(
    name: str, entities: Sequence[str], known: KnownNames
) -> tuple[str, ...]:
    """Return the name and the other names of its entities."""
    phrases = [name]
    for entity in entities:
        phrases += known.all_names(entity)
    # The name as written is enough: "will" is a word of grammar, and "Will" is none.
    others = [one for one in phrases if one != normalized(name)]
    return tuple(dict.fromkeys([name, *others]))


def explain_bearers(meant: Meant, texts: Iterable[str]) -> str | None:
    """Say whom the name in a request or its question may mean; None: one alone has it.

    Texts that were found may name persons of whom the graph has no triple.
    """
    asked = meant.whom or meant.about
    if not asked:
        return None
    bearers = {normalized(one): one for one in meant.bearers}
    begin = f"{normalized(asked)} "
    for text in texts:
        for found in _NAME.finditer(text):
            name = normalized(found[0])
            if name.startswith(begin):
                bearers.setdefault(name, found[0])
    bearers.pop(begin.strip(), None)
    if len(bearers) < 2:
        return None
    return _ask_which_of(asked, [bearers[name] for name in sorted(bearers)])


def ask_which(
    request: SearchRequest, candidates: Sequence[str]
) -> SearchResponse:
    """Return an empty answer whose hint lists the candidates."""
    searched: dict[str, Any] = {
        "grains": [],
        "since": None,
        "until": None,
        "records": 0,
        "fallback": False,
        "tokens": 0,
    }
    hint = _ask_which_of(request.about or "", candidates)
    return SearchResponse.model_validate(
        {"results": [], "searched": searched, "hint": hint}
    )


def explain_ambiguous(text: str, triples: Sequence[Triple]) -> str | None:
    """Say whom a first name in a question may mean; None: every name in it is clear."""
    known = KnownNames(triples)
    asked = f" {normalized(text)} "
    forms = frozenset(split_words(text))
    for word in written_words(text):
        is_grammar = fold(word) in STOP_WORDS and word not in forms
        if is_grammar or not word[0].isupper():
            continue
        name = word.removesuffix("'s").removesuffix("’s")
        candidates = known.find(name)
        is_whole = any(f" {one}" in asked for one in candidates)
        if len(candidates) > 1 and not is_whole:
            return _ask_which_of(name, known.spell(candidates))
    return None


def _ask_which_of(name: str, candidates: Sequence[str]) -> str:
    names = ", ".join(candidates[:MAX_CANDIDATES])
    return f"{name!r} may mean {names}; name one of them in about."
