"""Whose a statement is: of the one who is asked about, or of another person of theirs."""

import re
from collections.abc import Iterator

from varve.domain.language.names import PARTICLES
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.language.stems import stem_all, stems
from varve.domain.language.tokens import words
from varve.domain.statements.pairs.likeness import telling_words
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import collect_stems

_OF = rf"(?P<whose>(?: (?:{PARTICLES}) \w+){{1,2}})"
"""An owner behind a person: "de Ana", "de piso de Ana"."""
_OWNED = re.compile(r"(?P<whose>.+?)'s (?P<whom>.+)")


def leave_out_others(query: str, text: str) -> str:
    """Return a text without the persons who are only those of whom a query names.

    "Where Ana lives" is not asked of "Ana's sister", nor "el teléfono de Ana" of "la
    hermana de Ana". What is left of a text with such persons is folded. A query of names
    alone leaves all.
    """
    asked = stem_all(telling_words(query))
    left = fold_apostrophes(text)
    owners: set[str] = set()
    gone: list[str] = []
    for phrase, whose, whom in _list_persons(left, read_cues(text)):
        owners.update(words(whose))
        is_other = asked.isdisjoint(stem_all(words(whom)))
        if is_other and not asked.isdisjoint(stem_all(words(whose))):
            gone.append(phrase)
    if not gone or asked <= stem_all(owners):
        return text
    for phrase in gone:
        left = left.replace(phrase, " ")
    return left


def _list_persons(folded: str, cues: Cues) -> Iterator[tuple[str, str, str]]:
    """Yield the phrase for a person of another one, with the owner's name and the person."""
    for person in cues.persons:
        owned = _OWNED.fullmatch(person)
        if owned:
            first_name = _find_name_before(person, folded, cues)
            phrase = f"{first_name}{person}"
            yield phrase, f"{first_name}{owned['whose']}", owned["whom"]
            continue
        behind = re.search(rf"(?<!\w){re.escape(person)}{_OF}", folded)
        if behind:
            yield behind[0], behind["whose"], person


def _find_name_before(phrase: str, folded: str, cues: Cues) -> str:
    """Return the name right before a phrase, with a space, or "": "Ana" of "Ruiz's boss"."""
    found = re.search(rf"(?<!\w)(\w+) {re.escape(phrase)}", folded)
    telling = cues.particulars.telling
    names = collect_stems(word for word in telling if word.named)
    if found is None or names.isdisjoint(stems(found[1])):
        return ""
    return f"{found[1]} "
