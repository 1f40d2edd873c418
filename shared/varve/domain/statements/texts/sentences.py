"""Triples and attributes of a profile as sentences, such as "I live in Porto.".

A language with `[tellings]` has its own sentences. What it does not tell is told in English.
"""

import re

from varve.domain.language.languages import Language, installed_language
from varve.domain.names import normalized

_PREPOSITIONS = frozenset(
    [
        "about",
        "after",
        "against",
        "as",
        "at",
        "between",
        "by",
        "for",
        "from",
        "in",
        "into",
        "of",
        "on",
        "over",
        "to",
        "under",
        "with",
    ]
)
_PREDICATE_OF_KEY = {
    "location": "lives_in",
    "employer": "works_at",
    "role": "works_as",
    "allergies": "allergic_to",
    "languages": "speaks",
    "preferences": "prefers",
    "preferred_name": "goes_by",
}
"""The predicate that says what a profile's key does; of another key it is the key."""
_IRREGULAR = {
    "is": "am",
    "was": "was",
    "has": "have",
    "does": "do",
    "goes": "go",
}
_BASES = (
    (re.compile(r"ies$"), "y"),
    (re.compile(r"(ch|sh|ss|x|zz|o)es$"), r"\1"),
    (re.compile(r"s$"), ""),
)
"""The endings of verbs in the third person, with those of the first."""


def tell_attribute(
    key: str,
    value: str,
    *,
    ends: bool = False,
    language: Language | None = None,
) -> str:
    """Return an attribute of a profile as its owner says it: "I live in Porto."."""
    predicate = _PREDICATE_OF_KEY.get(key, key)
    said = _tell_in(language, None, predicate, value, ends=ends)
    if said is not None:
        return said
    if predicate == key:
        return _tell_noun("My", _split(key), value, ends=ends)
    return tell_triple("I", predicate, value, "I", ends=ends)


def tell_triple(
    subject: str,
    predicate: str,
    value: str,
    speaker: str | None,
    *,
    ends: bool = False,
    language: Language | None = None,
) -> str:
    """Return a triple as a sentence of a speaker, who says "I" of themselves.

    A predicate is a verb ("lives in"), what its subject is ("allergic to"), or what it
    has ("birthday"). With `ends` the sentence says that it no longer holds.
    """
    is_own = normalized(subject) == normalized(speaker or "")
    who = None if is_own else subject
    said = _tell_in(language, who, predicate, value, ends=ends)
    if said is not None:
        return said
    words = _split(predicate)
    if _is_verb(words):
        return _tell_verb("I" if is_own else subject, words, value, ends=ends)
    if words[-1] in _PREPOSITIONS:
        doer = "I" if is_own else subject
        return _tell_verb(doer, ["is", *words], value, ends=ends)
    owner = "My" if is_own else f"{subject}'s"
    return _tell_noun(owner, words, value, ends=ends)


def _tell_in(
    language: Language | None,
    who: str | None,
    predicate: str,
    value: str,
    *,
    ends: bool,
) -> str | None:
    """Return a language's own sentence, else one of English; None: neither has one."""
    for one in (language, installed_language("en")):
        said = one and one.tellings.tell(who, predicate, value, ends=ends)
        if said:
            return _end([said])
    return None


def _split(name: str) -> list[str]:
    return name.replace("_", " ").split() or [name]


def _is_verb(words: list[str]) -> bool:
    """Return whether a predicate begins with a verb of the third person."""
    first = words[0]
    is_noun = first.endswith(("ss", "us"))
    if first.endswith("ies") and len(words) == 1:
        is_noun = True
    return first in _IRREGULAR or (first.endswith("s") and not is_noun)


def _tell_verb(who: str, words: list[str], value: str, *, ends: bool) -> str:
    verb = _to_first_person(words[0]) if who == "I" else words[0]
    rest = [*words[1:], value]
    if not ends:
        return _end([who, verb, *rest])
    if words[0] == "is":
        return _end([who, verb, "no longer", *rest])
    return _end([who, "no longer", verb, *rest])


def _tell_noun(owner: str, words: list[str], value: str, *, ends: bool) -> str:
    noun = words[-1]
    is_plural = noun.endswith("s") and not noun.endswith(("ss", "us"))
    verb = "are" if is_plural else "is"
    return _end([owner, *words, verb, *["no longer"] * ends, value])


def _to_first_person(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    for ending, base in _BASES:
        if ending.search(verb):
            return ending.sub(base, verb)
    return verb


def _end(words: list[str]) -> str:
    text = " ".join(word for word in words if word)
    return text if text.endswith((".", "!", "?")) else f"{text}."
