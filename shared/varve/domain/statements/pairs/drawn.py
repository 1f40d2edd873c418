"""Which facts say nothing beside the words they were drawn from, so that a text has one of both."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import dropwhile

from varve.domain.extractive import is_brief, sentences
from varve.domain.language.stems import stem_all
from varve.domain.language.timemarks import leave_out_times
from varve.domain.record import MemoryType
from varve.domain.statements.texts.cues import STRONG, Cues, read_cues
from varve.domain.statements.texts.particulars import (
    Particulars,
    TellingWord,
    collect_stems,
    read_particulars,
)
from varve.domain.statements.texts.parts import split_parts
from varve.domain.summary import Source

MAX_RESTATED = 3
"""So many plain words a fact may have of its own, as in "moved to Porto and lives there"."""
MIN_LEFT_OUT = 2
"""A fact that leaves out so many telling words of a turn says less; one may be its verb."""
_SPEAKER = re.compile(r"[^\s:][^:\n]{0,79}: (?=\S)")
_RESOLVED_DATE = re.compile(r"\s*\([^()]*\d{4}-\d{2}[^()]*\)")
"""The date or month that a fact has in place of its words' "last week" or "next month"."""
_OWN_TIME = re.compile(r"\((?:[^()]*\D)?\d{4}(?:-\d{2}){0,2}\)")
"""The day, month or year that a fact has, as in "got married (2019)"."""
_CLAUSES = re.compile(r"[,;:]\s+|\s(?:and|but|y|pero)\s", re.IGNORECASE)
_DETAILS = ("numbers", "symbols", "dates", "qualifiers")


def tell_once(sources: Iterable[Source]) -> list[Source]:
    """Return the sources without the facts that another source of their message says.

    A turn keeps all its words, for they are what was said and may say more. Words that a
    summary takes for too short leave the fact.
    """
    every = list(sources)
    told: set[str] = set()
    for own in _group_by_message(every).values():
        facts = [one for one in own if one.memory_type is MemoryType.FACT]
        told.update(fact.id for fact in facts if _is_told(fact, own))
    return [one for one in every if one.id not in told]


def _group_by_message(
    sources: Iterable[Source],
) -> dict[tuple[str | None, str], list[Source]]:
    found: dict[tuple[str | None, str], list[Source]] = {}
    for one in sources:
        for message in one.messages:
            found.setdefault(message, []).append(one)
    return found


def _is_told(fact: Source, sources: Iterable[Source]) -> bool:
    return any(_tells(one, fact) for one in sources if one.text != fact.text)


def _tells(source: Source, fact: Source) -> bool:
    """Return whether a turn or another fact of a fact's message says all of it."""
    if source.memory_type is MemoryType.FACT:
        return contains(source.text, fact.text)
    found = _SPEAKER.match(source.text)
    if found is None:
        return _say(None, source.text, fact.text)
    speaker = found[0].removesuffix(": ")
    said = source.text[found.end() :]
    return _say(speaker, said, fact.text) or _draw_of_any(
        speaker, said, fact.text
    )


def _say(speaker: str | None, said: str, fact: str) -> bool:
    """Return whether a part of a speaker's words says all of a fact."""
    parts = [one for one in split_parts(said) if not is_brief(one)]
    return any(tell_fact(speaker, one, fact) for one in parts)


def _draw_of_any(speaker: str, said: str, fact: str) -> bool:
    """Return whether the rules draw a fact from one of a speaker's sentences.

    It may be of several parts: "I no longer work at Acme, I'm at Initech now".
    """
    whole = [one for one in sentences(said) if not is_brief(one)]
    return any(_draw(speaker, one, fact) for one in whole)


def tell_fact(speaker: str | None, part: str, fact: str) -> bool:
    """Return whether a speaker's words say all of a fact.

    They do if a clause has the fact's words, or if the fact has all of theirs and no name
    or figure more. Their verb may have a synonym in it. They do too if the rules draw the
    fact from them.
    """
    head = f"{speaker}: " if speaker else ""
    clauses = [head + clause for clause in (part, *_CLAUSES.split(part))]
    is_said = any(
        contains(clause, fact) or _restates(clause, fact) for clause in clauses
    )
    return is_said or (speaker is not None and _draw(speaker, part, fact))


def _draw(speaker: str, part: str, fact: str) -> bool:
    """Return whether the rules draw a fact from a speaker's words, apart from its date."""
    from varve.domain.rules import (  # a search reads no facts and needs no rules
        draw_facts,
    )

    drawn = {leave_out_date(one) for one in draw_facts(speaker, part)}
    return leave_out_date(fact) in drawn


def leaves_out(fact: str, turn: str) -> bool:
    """Return whether a fact leaves out what else its turn says, apart from times.

    "Ana is my neighbour, she plays the violin" says more than "Dana's neighbour is Ana".
    So does "my sister Ana is a vegan" than "Dana's sister is called Ana", which names her only.
    """
    said = _SPEAKER.sub("", turn, count=1)
    words = read_particulars(leave_out_times(said))
    missing = _list_missing(words, read_particulars(fact))
    if _gives_name(fact) and not _gives_name(said):
        return bool(missing)
    return len(missing) >= MIN_LEFT_OUT


def _gives_name(text: str) -> bool:
    return "naming" in read_cues(text).topics


def has_own_time(fact: str) -> bool:
    """Return whether a fact has a day, month or year, which may be before its words were said."""
    return _OWN_TIME.search(fact) is not None


def has_date(fact: str) -> bool:
    """Return whether a fact has the date that its words gave as "last week", or the month."""
    return _RESOLVED_DATE.search(fact) is not None


def leave_out_date(fact: str) -> str:
    """Return a fact without the date that its words gave as "last week"."""
    return _RESOLVED_DATE.sub("", fact)


def contains(text: str, fact: str) -> bool:
    """Return whether a text says all of a fact, in any order.

    The words for giving a name, as in "Dana's cousin is called Ana", say nothing more.
    """
    words, told = read_particulars(text), read_particulars(fact)
    said, stated = read_cues(text), read_cues(fact)
    names = "naming" in stated.topics
    if names:
        told = replace(told, qualifiers=frozenset())
    if not _has_details(words, told) or not _name_persons(said, stated):
        return False
    missing = _list_missing(told, words)
    ends = said.has("ending") and stated.has("ending")
    if ends or names:
        return len(missing) <= 1 and _are_plain(missing)
    return not missing


def _name_persons(said: Cues, stated: Cues) -> bool:
    """Return whether both tell of persons such as "my sister", or neither does."""
    return _names_relation(said) is _names_relation(stated)


def _names_relation(cues: Cues) -> bool:
    return any(" " in person for person in cues.persons)


def _restates(text: str, fact: str) -> bool:
    """Return whether a fact says all of a text, and only plain words more."""
    if has_date(fact):
        fact = leave_out_date(fact)
        text = leave_out_times(text)
    words, told = read_particulars(text), read_particulars(fact)
    said, stated = read_cues(text), read_cues(fact)
    if words.bound or not _has_details(told, words):
        return False
    missing = _list_missing(words, told)
    added = _list_missing(told, words)
    if len(added) > MAX_RESTATED or not _are_plain(added):
        return False
    if not _name_persons(said, stated):
        return False
    if not missing:
        return True
    return _is_verb(missing, words, told, said) and _share_cue(said, stated)


def _has_details(one: Particulars, other: Particulars) -> bool:
    """Return whether the first sentence has the numbers, dates and negations of the other."""
    if one.denials != other.denials:
        return False
    return all(
        set(getattr(one, kind)).issuperset(getattr(other, kind))
        for kind in _DETAILS
    )


def _list_missing(one: Particulars, other: Particulars) -> list[TellingWord]:
    """Return the telling words of the first sentence that the other has in no form."""
    known = collect_stems(other.telling)
    return [word for word in one.telling if not word.stems & known]


def _are_plain(words: Sequence[TellingWord]) -> bool:
    return not any(word.named for word in words)


def _is_verb(
    missing: Sequence[TellingWord],
    words: Particulars,
    told: Particulars,
    said: Cues,
) -> bool:
    """Return whether only the first word after the subject is missing, of several.

    The subject is the speaker's name, or a relation with its name, as "my sister Jule".
    """
    subject = stem_all(" ".join(said.persons).split())
    subject |= collect_stems(word for word in told.telling if word.named)
    own = list(
        dropwhile(
            lambda word: not word.stems.isdisjoint(subject), words.telling
        )
    )
    return len(own) > 1 and list(missing) == own[:1]


def _share_cue(said: Cues, stated: Cues) -> bool:
    """Return whether both tell of one topic, or of a change or an end.

    That both name "my sister" is none.
    """
    persons = read_cues(" ".join(said.persons)).topics
    topics = (said.topics & stated.topics) - persons
    return bool(topics or said.found & stated.found & STRONG)
