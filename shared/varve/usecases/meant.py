"""The limits of a search: names, parts of names, and topics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from varve.domain.entities import fold_of_user
from varve.domain.known_names import KnownNames
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold, written_words
from varve.domain.names import normalized
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest
from varve.domain.triple import Triple

MAX_CANDIDATES = 10
"""The most names that a hint lists."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The phrases that results must have, or the entities that `about` may mean."""

    mentions: tuple[tuple[str, ...], ...] = ()
    candidates: tuple[str, ...] = ()


def find_meant(
    request: SearchRequest, triples: Callable[[], Sequence[Triple]]
) -> Meant:
    """Return what `about`, `people` and `topics` ask for.

    The triples are read only for `about`, whose name may be an alias or a first name.
    """
    groups = [
        tuple(group) for group in (request.people, request.topics) if group
    ]
    if request.about is None:
        return Meant(tuple(groups))
    known = KnownNames(fold_of_user(triples(), request.user_id))
    found = known.find(request.about)
    if len(found) > 1:
        return Meant(candidates=tuple(found))
    phrases = [request.about]
    for entity in found:
        phrases += known.all_names(entity)
    return Meant((tuple(dict.fromkeys(phrases)), *groups))


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
    for word in written_words(text):
        if not word[0].isupper() or fold(word) in STOP_WORDS:
            continue
        name = word.removesuffix("'s").removesuffix("’s")
        candidates = known.find(name)
        is_whole = any(f" {one}" in asked for one in candidates)
        if len(candidates) > 1 and not is_whole:
            return _ask_which_of(name, candidates)
    return None


def _ask_which_of(name: str, candidates: Sequence[str]) -> str:
    names = ", ".join(candidates[:MAX_CANDIDATES])
    return f"{name!r} may mean {names}; name one of them in about."
