"""A writer's own words, cut into sentences: without code, logs and quotations."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from varve.domain.language.abbreviations import build_abbreviation, split_at
from varve.domain.language.spelling import restore_accents, restore_apostrophes
from varve.domain.rules.capitals import restore_capitals

MAX_SENTENCE = 600
"""The longest sentence in characters that is read; a longer one was pasted."""

QUOTED = "\ufffc"
"""Replaces a quotation, so that the words around it stay apart."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence on one line without its final mark, and whether it asks."""

    text: str
    asks: bool


_CODE = re.compile(r"(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`([^`\n]{1,200})`")
_QUOTE = re.compile(
    r'"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|«([^«»\n]{1,2000})»'
)
_SINGLE_QUOTE = re.compile(r"(?<![\w'])'([^'\n]{1,500})'(?![\w'])")
_PASTED = re.compile(
    r"""^(?: \s*> | \t | \x20{4} | \s*[{}\[\]<|] | \s*[$#%]\x20*\S.*(?:--|\|) | \s*-{3,}
        | \s*\[?\d{4}-\d\d-\d\d[T ]\d\d: | \s*\[?\d\d:\d\d:\d\d
        | \s*(?-i:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|CRITICAL)\b[\]:\s-]
        | \s*Traceback\b | \s*File\x20" | \s*at\x20[\w.$]+\(
        | \s*(?-i:[A-Za-z][\w.]{0,60}(?:Error|Exception))\b
        | \s*(?:from|to|cc|subject|date|sent|de|para|asunto|fecha):\x20 )""",
    re.VERBOSE | re.IGNORECASE,
)
_TAG = r"¿(?:no|sí|verdad|cierto|correcto|a que no)\s*\?"
"""Asks whether the words before it are so: they belong to its question."""
BREAK = re.compile(
    r"(?<=[.!?…])['\")\]*_]*\s+|(?<=\?)(?=[¿¡])"
    rf"|,?\s+(?=¿)(?!{_TAG})|\s*[;•]\s+|\s*\([^()\n]{{0,200}}\)"
)
_MARK = re.compile(r"[.!?…;•¿¡(]")
"""Each break has one of these, which no line's last character is, but for "¿"."""
_ABBREVIATION = build_abbreviation(
    r"e\.g|i\.e|p\.\s?ej|nº?|ref|dpto|apto|c"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|ene|abr|ago|dic"
)
_WHITE = re.compile(r"[^\S\n]+")
_SOFT_WRAP = re.compile(r"(?<=[\w,])\n(?=[a-zà-ÿ])")


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the writer's own sentences in order, with plain white space and apostrophes."""
    for line in _own_words(text).split("\n"):
        for piece in _pieces(line):
            body = piece.strip()
            if body and len(piece) <= MAX_SENTENCE:
                yield _sentence(body)


def _sentence(piece: str) -> Sentence:
    body = piece.rstrip("\"')]*_ ")
    unmarked = body.rstrip(".!?… ").lstrip("¿¡*_-–—• ")
    return Sentence(unmarked, asks="?" in body)


def _own_words(text: str) -> str:
    plain = (
        unicodedata.normalize("NFC", text)
        .replace("’", "'")
        .replace("\r\n", "\n")
    )
    without_blocks = _CODE.sub("\n", plain)
    uncoded = _INLINE_CODE.sub(_keep_short, without_blocks)
    written = [line for line in uncoded.split("\n") if not _PASTED.match(line)]
    without_quotes = _QUOTE.sub(_keep_short, "\n".join(written))
    unquoted = _SINGLE_QUOTE.sub(_keep_short, without_quotes)
    spaced = _WHITE.sub(" ", unquoted)
    unwrapped = _SOFT_WRAP.sub(" ", spaced)
    spelt = restore_accents(restore_apostrophes(unwrapped))
    return restore_capitals(spelt)


def _keep_short(quoted: re.Match[str]) -> str:
    """Return a quoted name or code, which is the writer's word; replace a quoted sentence."""
    inner = next(group for group in quoted.groups() if group is not None)
    return inner if len(inner.split()) <= 2 else QUOTED


def may_break(line: str) -> bool:
    """Return False only if the line has no break, in a tenth of the time of looking for one."""
    return line.endswith("¿") or bool(_MARK.search(line, 0, len(line) - 1))


def _pieces(line: str) -> Iterator[str]:
    """Yield the line's sentences; an abbreviation ends none."""
    if not may_break(line):
        yield line
        return
    yield from split_at(line, BREAK, _ABBREVIATION)


def cut(
    text: str, between: re.Pattern[str], together: re.Pattern[str]
) -> Iterator[str]:
    """Yield the parts of a sentence; what lies within a match of `together` is not cut."""
    start = 0
    kept = together.search(text)
    for found in between.finditer(text):
        if kept and kept.start() < found.start() < kept.end():
            continue
        yield text[start : found.start()]
        start = found.end()
    yield text[start:]


def repeat_subjects(text: str, shared: Iterable[re.Pattern[str]]) -> str:
    """Return the text with a subject for each of two states: "I'm vegan, I'm allergic"."""
    for pattern in shared:
        text = pattern.sub(r"\g<first>, \g<who>", text)
    return text
