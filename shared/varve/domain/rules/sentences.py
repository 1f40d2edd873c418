"""A writer's own words, cut into sentences: without code, logs and quotations."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

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
_QUOTE = re.compile(r'"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|«([^«»\n]{1,2000})»')
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
_BREAK = re.compile(
    r"(?<=[.!?…])['\")\]*_]*\s+|(?<=\?)(?=[¿¡])|,?\s+(?=¿)|\s*[;•]\s+|\s*\([^()\n]{0,200}\)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:(?i:dr|mr|mrs|ms|prof|sr|sra|srta|st|ste|av|avda|vs|approx|e\.g|i\.e|p\.\s?ej|nº?|no|núm"
    r"|nr|fig"
    r"|art|ref|tel|ext|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|ene|abr|ago|dic|dpto|apto|c)"
    r"|[^\W\d_])\.$"
)
_WHITE = re.compile(r"[^\S\n]+")
_SOFT_WRAP = re.compile(r"(?<=[\w,])\n(?=[a-zà-ÿ])")


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the writer's own sentences in order, with plain white space and apostrophes."""
    for line in _own_words(text).split("\n"):
        for piece in _pieces(line):
            if piece.strip() and len(piece) <= MAX_SENTENCE:
                yield _sentence(piece.strip())


def _sentence(piece: str) -> Sentence:
    body = piece.rstrip("\"')]*_ ")
    return Sentence(body.rstrip(".!?… ").lstrip("¿¡*_-–—• "), asks="?" in body)


def _own_words(text: str) -> str:
    plain = unicodedata.normalize("NFC", text).replace("’", "'").replace("\r\n", "\n")
    uncoded = _INLINE_CODE.sub(_short_or_gone, _CODE.sub("\n", plain))
    own = "\n".join(line for line in uncoded.split("\n") if not _PASTED.match(line))
    unquoted = _SINGLE_QUOTE.sub(_short_or_gone, _QUOTE.sub(_short_or_gone, own))
    return _SOFT_WRAP.sub(" ", _WHITE.sub(" ", unquoted))


def _short_or_gone(quoted: re.Match[str]) -> str:
    """Return a quoted name or code, which is the writer's word; replace a quoted sentence."""
    inner = next(group for group in quoted.groups() if group is not None)
    return inner if len(inner.split()) <= 2 else QUOTED


def _pieces(line: str) -> Iterator[str]:
    """Yield the line's sentences; an abbreviation ends none."""
    start = 0
    for found in _BREAK.finditer(line):
        if not _ABBREVIATION.search(
            line[max(start, found.start() - 12) : found.start()]
        ):
            yield line[start : found.start()]
            start = found.end()
    yield line[start:]
