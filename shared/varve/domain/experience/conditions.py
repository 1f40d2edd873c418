"""The condition of a derived lesson: a sentence of its episodes' corrections.

Names, dates and ids are left out, because they hold for one episode alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from varve.domain.experience.history import PastEpisode
from varve.domain.experience.words import content_words
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold
from varve.domain.statements.texts.particulars import is_date_word

MIN_TELLING_WORDS = 2
"""Words of a condition that another of the agreeing episodes must have."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_ENDING = ".,;:!?"
_MARKS = _ENDING + "()[]\"'“”‘’¿¡"
_GLUE = frozenset({
    "a", "about", "after", "an", "and", "at", "before", "by", "called", "for", "from", "in", "of",
    "on", "or", "since", "the", "to", "until", "version", "with",
    "con", "de", "del", "desde", "el", "en", "hasta", "la", "para", "por", "y",
})  # fmt: skip
"""Words that a name, date or id leaves behind without a sense."""
_SAYING = frozenset({
    "said", "says", "that", "thinks", "thought", "told", "us", "wrote", "dice", "dijo", "que",
})  # fmt: skip
"""Words after a name that tell who knew it."""
_POSSESSIVE = ("'s", "’s")


def choose_condition(
    agreeing: Sequence[PastEpisode], telling: Mapping[str, float]
) -> str:
    """Return the sentence that says best when the episodes' answer holds; "" for none.

    The sentences are those of the corrections, or of the situations if no episode was
    corrected. `telling` has a weight for each stem that tells the episodes apart from
    others. A sentence needs `MIN_TELLING_WORDS` of them.
    """
    corrections = [past.correction for past in agreeing if past.correction]
    situations = [past.situation for past in agreeing]
    named = _names_in([*corrections, *situations])
    ranked: list[tuple[float, int, str]] = []
    for sentence in _split(corrections or situations):
        general = leave_out_particulars(sentence, named)
        told = content_words(general) & telling.keys()
        if len(told) >= MIN_TELLING_WORDS:
            weight = sum(telling[stem] for stem in told)
            ranked.append((-weight, len(general), general))
    return min(ranked)[2] if ranked else ""


def leave_out_particulars(
    sentence: str, named: frozenset[str] = frozenset()
) -> str:
    """Return a sentence without names, dates, ids and its last mark.

    `named` are words, folded, that are names also where a sentence begins with them.
    """
    kept: list[str] = []
    left_out = ""
    for place, word in enumerate(sentence.split()):
        left_out = _find_particular(word, place, named, left_out)
        if not left_out:
            kept.append(word)
            continue
        while kept and _holds_nothing(kept[-1], left_out == "date"):
            kept.pop()
        if kept and word[-1] in ",;:":
            before = kept.pop()
            kept.append(before.rstrip(_ENDING) + word[-1])
    return _begin_small(" ".join(kept).strip(f"{_ENDING} "))


def _holds_nothing(word: str, before_date: bool) -> bool:
    """Return whether a word has no sense without the name, date or id after it."""
    bare = _bare(word)
    return bare in _GLUE or (before_date and bare.isdigit())


def _split(texts: Iterable[str]) -> list[str]:
    """Return the distinct sentences of all texts, in their order."""
    found: dict[str, None] = {}
    for text in texts:
        found.update(dict.fromkeys(_SENTENCE.split(text)))
    return [sentence for sentence in found if sentence.strip()]


def _names_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that some sentence writes as a name after its beginning."""
    found: set[str] = set()
    for sentence in _split(texts):
        for word in sentence.split()[1:]:
            if _is_named(word):
                found.add(_stem_of_name(word))
    return frozenset(found)


def _find_particular(
    word: str, place: int, named: frozenset[str], before: str
) -> str:
    """Return what a word is: "date", "id", "name", or "" if it may stay.

    `before` is what the word before it was. A day belongs to its month, and "said" to the
    name of who said it.
    """
    bare = _bare(word)
    if before == "name" and bare in _SAYING:
        return "name"
    is_day = before == "date" and bare.isdigit()
    if is_day or is_date_word(bare):
        return "date"
    if _is_id(word.strip(_MARKS)):
        return "id"
    return "name" if _is_name_at(word, place, named) else ""


def _is_name_at(word: str, place: int, named: frozenset[str]) -> bool:
    """Return whether a word is a name; a sentence begins with a capital letter anyway."""
    if place > 0 or word[0] in "¿¡“\"'":
        return _is_named(word)
    return _bare(word).endswith(_POSSESSIVE) or _stem_of_name(word) in named


def _is_id(bare: str) -> bool:
    """Return whether a word is an id, a version, a time, a path or a long number."""
    digits = sum(character.isdigit() for character in bare)
    has_letters = any(character.isalpha() for character in bare)
    is_mixed = digits > 0 and has_letters
    if digits >= 4 or is_mixed:
        return True
    is_joined = any(mark in bare for mark in "@/_#:.")
    return is_joined and bool(bare.strip("#/."))


def _is_named(word: str) -> bool:
    """Return whether a word is written as a name; an acronym such as TLS is none."""
    bare = word.strip(_MARKS)
    if not bare or not bare[0].isupper() or fold(bare) in STOP_WORDS:
        return False
    return len(bare) == 1 or not bare.removesuffix("s").isupper()


def _stem_of_name(word: str) -> str:
    bare = word.strip(_MARKS)
    for ending in _POSSESSIVE:
        bare = bare.removesuffix(ending)
    return fold(bare)


def _bare(word: str) -> str:
    return fold(word.strip(_MARKS))


def _begin_small(sentence: str) -> str:
    """Return a sentence as it stands after "when"."""
    first, _, rest = sentence.partition(" ")
    if first[1:].islower() or len(first) == 1:
        first = first.lower()
    return f"{first} {rest}".strip()
