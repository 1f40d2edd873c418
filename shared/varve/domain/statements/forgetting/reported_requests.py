"""Requests that a speaker only reports or dictates: "she told me: forget my number"."""

import re
from collections.abc import Iterator
from functools import cache

from varve.domain.extractive import sentences
from varve.domain.language.courtesies import is_courtesy
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.language.tokens import words
from varve.domain.language.verbs import is_verb_form
from varve.domain.statements.forgetting.requests import may_ask
from varve.domain.statements.texts.cues import Cues, join_phrases, read_cues

_TAILS = re.compile(r"[,;:] +(?=\w)")
_NOT_MEANT = frozenset({"reported", "supposed"})
"""What a text with such words before a request says is no request of its speaker's."""
_MOST_BEHIND = 4
"""So many words may stand between a verb of saying and a colon."""
_MOST_NAMED = 3
"""So many words before a colon may name another person who speaks."""
_QUOTED = re.compile(
    r"\"[^\"]{3,}\"|“[^”]{3,}”|«[^»]{3,}»|‘[^’]{3,}’|(?<!\w)'[^']{3,}'(?!\w)"
)
_LAST_COMMA = re.compile(r"[,;][\"”»’']?\s+(?=[^,;]*$)")


def list_told(text: str) -> Iterator[str]:
    """Yield the sentences of a text that its speaker says, not those that are only reported."""
    introduced = False
    for sentence in sentences(_leave_out_quoted(text)):
        if not introduced and not is_told_by_other(sentence):
            yield sentence
        introduced = sentence.endswith(":") and introduces_others(
            sentence[:-1], ":"
        )


def list_tails(sentence: str) -> list[str]:
    """Return what follows each comma of a sentence, as far as the speaker may mean it.

    "I got a new SIM, please forget my number" asks; "he said, forget my number" does not.
    """
    found: list[str] = []
    for comma in _TAILS.finditer(sentence):
        tail = sentence[comma.end() :]
        before = sentence[: comma.start()]
        if may_ask(tail) and not introduces_others(before, comma[0].strip()):
            found.append(tail)
    return found


def _leave_out_quoted(text: str) -> str:
    """Return a text without the requests that it quotes; a text that is one quote, whole."""
    left = _QUOTED.sub(
        lambda found: " " if may_ask(found[0]) else found[0], text
    )
    is_quote = _asks_kindly().fullmatch(fold_apostrophes(left)) is not None
    return text if is_quote or is_courtesy(left) else left


def introduces_others(before: str, mark: str) -> bool:
    """Return whether what follows a text and a mark is not what its speaker means.

    Words behind a colon are another person's after "she told me" or "my boss", and a text
    to write after "translate". Behind a comma they are after "she told me" alone.
    """
    cues = read_cues(before)
    if not cues.found.isdisjoint(_NOT_MEANT):
        return True
    folded = fold_apostrophes(before)
    if _repeats().search(folded):
        return False
    if mark != ":":
        return _says_last().search(folded) is not None
    if _dictates().match(folded) or _names_other(cues, folded):
        return True
    return _ends_with_saying(folded)


def says_of_others(before: str) -> bool:
    """Return whether a text before a colon ends with another person's saying: "Mom wrote"."""
    folded = fold_apostrophes(before)
    is_own = _repeats().search(folded) or _says_oneself().search(folded)
    return not is_own and _ends_with_saying(folded)


def _ends_with_saying(folded: str) -> bool:
    said = _says_near().search(folded)
    # "She told me it leaked: forget my number" goes on by itself.
    return said is not None and not any(
        map(is_verb_form, words(said["behind"]))
    )


def is_told_by_other(sentence: str) -> bool:
    """Return whether a sentence ends with who said it: "forget my number, he said"."""
    comma = _LAST_COMMA.search(sentence)
    if comma is None:
        return False
    behind = sentence[comma.end() :]
    folded = fold_apostrophes(behind).rstrip(".!?… ")
    if _repeats().search(folded) or _as_told().match(folded):
        return False
    if _says_last().fullmatch(folded):
        return True
    said = _says_first().fullmatch(folded)
    return said is not None and bool(read_cues(said["who"]).persons)


def _names_other(cues: Cues, folded: str) -> bool:
    is_short = len(folded.split()) <= _MOST_NAMED
    return is_short and bool(cues.persons) and not cues.has("own")


@cache
def _asks_kindly() -> re.Pattern[str]:
    """Return words that only go with a request: "please", "thanks"."""
    polite = join_phrases(lambda language: language.forgetting.polite)
    trailing = join_phrases(lambda language: language.forgetting.trailing)
    return re.compile(rf"\W*(?:(?:{polite}|{trailing})\b\W*)*")


@cache
def _says() -> str:
    return join_phrases(lambda language: language.forgetting.says)


@cache
def _says_oneself() -> re.Pattern[str]:
    patterns = join_phrases(lambda language: language.forgetting.says_oneself)
    return re.compile(rf"(?<!\w)(?:{patterns})(?!\w)")


@cache
def _recipients() -> str:
    return join_phrases(lambda language: language.forgetting.recipients)


@cache
def _says_near() -> re.Pattern[str]:
    """Return a verb of saying with few words behind it."""
    behind = rf"(?P<behind>(?:\W+\w+){{0,{_MOST_BEHIND}}}\W*)$"
    return re.compile(rf"(?<!\w)(?:{_says()}){behind}")


@cache
def _says_last() -> re.Pattern[str]:
    """Return some words that end with a verb of saying and at most its recipient."""
    return re.compile(
        rf"(?:\w+ ){{0,3}}(?<!\w)(?:{_says()})(?: (?:{_recipients()}))?\W*$"
    )


@cache
def _says_first() -> re.Pattern[str]:
    """Return a verb of saying before who speaks: "said my boss", "me dijo mi jefe"."""
    return re.compile(rf"(?:\w+ )?(?:{_says()}) (?P<who>(?:\w+ ){{0,2}}\w+)")


@cache
def _dictates() -> re.Pattern[str]:
    polite = join_phrases(lambda language: language.forgetting.polite)
    verbs = join_phrases(lambda language: language.forgetting.dictates)
    return re.compile(rf"\W*(?:(?:{polite})\b[,.!:]* )*(?:{verbs})(?!\w)")


@cache
def _repeats() -> re.Pattern[str]:
    patterns = join_phrases(lambda language: language.forgetting.repeats)
    return re.compile(rf"(?<!\w)(?:{patterns})")


@cache
def _as_told() -> re.Pattern[str]:
    beginnings = join_phrases(lambda language: language.forgetting.as_told)
    return re.compile(rf"(?:{beginnings})(?!\w)")
