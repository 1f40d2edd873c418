"""What still holds of a message that states several values, some of which have ended."""

import re
from collections.abc import Collection
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.tellings import find_language
from varve.domain.search.row import MessageKey
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import join_phrases
from varve.domain.statements.texts.particulars import (
    list_any_matter,
    read_particulars,
    read_stems,
)
from varve.domain.statements.texts.parts import leave_out_parts, split_parts
from varve.domain.statements.texts.sentences import tell_triple
from varve.domain.statements.texts.several import is_general_word


def tell_held(
    text: str,
    speaker: str | None,
    messages: Collection[MessageKey],
    told: ToldValues,
) -> str | None:
    """Return a text with the values that hold in the place of those that ended beside them.

    "I'm allergic to latex and kiwi" is told as "I am allergic to latex". None: it stays, as
    none of its values ended, or it tells more of them than the values.
    """
    if not _compile_joint().search(text):
        return None
    held, ended = told.find_ended_beside(messages)
    if not held or not ended:
        return None
    language = find_language([text], installed_languages())
    sentences = [
        tell_triple(
            one.subject, one.predicate, one.object, speaker, language=language
        )
        for one in held
    ]
    said = " ".join(dict.fromkeys(sentences))
    gone = [read_stems(value) for value in ended]
    known = read_stems(said).union(*gone, list_any_matter())
    rest: list[str] = []
    for part in split_parts(text):
        if not any(one <= read_stems(part) for one in gone):
            rest.append(leave_out_parts(part, frozenset()))
        elif _tells_more(part, known):
            return None
        else:
            rest.append(said)
    return " ".join(dict.fromkeys(rest))


@cache
def _compile_joint() -> re.Pattern[str]:
    """Return the pattern of what joins several values: a comma, "and", "o"."""
    words = join_phrases(lambda language: language.times.joins.get("or", ()))
    return re.compile(rf"[,;]|(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def _tells_more(part: str, known: set[str]) -> bool:
    """Return whether a part has a word of something else than the known values."""
    return any(
        word.stems.isdisjoint(known)
        and not any(map(is_general_word, word.stems))
        for word in read_particulars(part).telling
    )
