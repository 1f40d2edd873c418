"""The echo guard: removes recalled memory from a message, so that memory never learns its own output.

Our block may be quoted, indented, numbered, set in bold, escaped for HTML or JSON, put on one
line, spelled with look-alikes, or cut off at either end. The message's own words around it stay.
"""

import re
from collections.abc import Iterator

from varve.domain.block import (
    BRIEF_NOTICE,
    EXPERIENCE_KNOWN,
    EXPERIENCE_TAG,
    EXPERIENCE_UNKNOWN,
    NOTICE,
    RECAP_TAG,
    TAG,
    EntryType,
)
from varve.domain.lookalikes import cut_alike, fold, read_lines
from varve.domain.text import Span

INJECTED_TAGS = (
    TAG,
    "memory",
    "memories",
    "relevant_memories",
    "learned_patterns",
    "research_log",
    RECAP_TAG,
)
"""Tags that wrap remembered text in a prompt: ours, and those of the frameworks we plug into."""

_SIGNS = re.compile(r"[<>&\\\[]")
"""Each tag, entry and long notice of recalled memory has one of these; most messages have none."""
_WRAPPING = " \t\n\"'`>*|\\{}[]()"
_EXPERIENCE_BEGINS = "|".join(
    map(re.escape, (EXPERIENCE_KNOWN, EXPERIENCE_UNKNOWN))
)
_FOREIGN_OPENING = re.compile(
    # A person's own `<experience>`, as of a curriculum vitae, stays.
    rf"<({'|'.join(INJECTED_TAGS[1:])})(?:\s[^<>]*)?>"
    rf"|<({EXPERIENCE_TAG})>(?=\s*(?:{_EXPERIENCE_BEGINS}))",
    re.I,
)
_FOREIGN_CLOSING = {
    tag: re.compile(rf"</{tag}\s*>", re.I)
    for tag in (*INJECTED_TAGS[1:], EXPERIENCE_TAG)
}

# Bounded: each spelling of "<" without a closing tag costs a search of the whole text.
_AMP = r"&(?:amp;){0,9}"
_LT = rf"\\?(?:<|{_AMP}(?:lt|#0{{0,9}}60|#x0{{0,9}}3c);|\\u003c|\\x3c)"
_GT = rf"\\?(?:>|{_AMP}(?:gt|#0{{0,9}}62|#x0{{0,9}}3e);|\\u003e|\\x3e)"
# Possessive: a megabyte of blanks must not be tried twice.
_QUOTING = r"(?:[ \t>|*]|&(?:amp;)*gt;)*+"
_LEADING = (
    r"(?:[ \t>|*_+•·‣◦▪–—]|&(?:amp;)*gt;"
    r"|\d{1,3}[.)](?=[ \t*_\[-])|-(?=[ \t*_\[]))*+"
)
"""Quotes, bullets, numbers and bold in front of an entry."""
_CUT_HEAD = r"(?:\s+[head]{1,4}(?:=[\w\"'\\&;]{0,80})?)?(?=\s*(?:\Z|\n\s*\n))"
_OPENING = re.compile(
    rf"(?:^{_QUOTING})?(?P<lt>{_LT})\s*{TAG}(?:(?:\s[^<>]{{0,300}}?)?{_GT}|{_CUT_HEAD})",
    re.I | re.M,
)
_CLOSING = rf"\s*\\?/\s*{TAG}\s*{_GT}"
_CUT_TAG = (
    rf"{_LT}\\?/?(?:{'|'.join(TAG[:end] for end in range(2, len(TAG) + 1))})"
)

_ID = rf"(?:{'|'.join(EntryType)})-"
_DATE = r"\d{4}(?:-[WQ]?\d{1,2}){0,2}"
_CUT_CLOSING = (
    rf"(?:{_LT}|\\?&(?:amp;)*(?:a|am|amp|l|lt|g|gt)?|\\(?:u|u0|u00|u003|x|x3)?)"
    rf"\\?/?(?:{'|'.join(TAG[:end] for end in range(len(TAG) + 1))})(?:[\\&][a-z0-9;&]{{0,9}})?"
)
_CUT_ENTRY = r"-?[ \t]*(?:\[[\dWQ-]*(?: [a-z]*(?:-[\w.-]*)?)?)?"
_OURS = re.compile(
    rf"{_LEADING}(?:-?[ \t]*\[{_DATE} {_ID}[\w.-]+\].*|{_CUT_ENTRY}|{_CUT_CLOSING})\s*",
    re.I,
)
_NOTICES = f"{re.escape(NOTICE)}|{re.escape(BRIEF_NOTICE)}"
_HEADED = re.compile(
    rf"(?:^{_LEADING})?\[{_DATE} {_ID}(?:[0-9a-f]{{24}}|[\w.-]+\])",
    re.I | re.M,
)
_STRAYS = re.compile(
    rf"^{_LEADING}(?:-?[ \t]*\[{_DATE} {_ID}[0-9a-f]{{24}}\]|{_NOTICES}).*\n?"
    rf"|(?:^{_QUOTING})?{_LT}{_CLOSING}|{_CUT_TAG}\s*\Z|\A\S{{0,24}}?{TAG}\s*{_GT}",
    re.I | re.M,
)
_LONE_CLOSING = re.compile(rf"(?:^{_QUOTING})?{_LT}{_CLOSING}", re.I | re.M)
_QUOTE = r"""(?:\\*["']|&(?:amp;){0,9}(?:quot|#34|#39|#x27);)"""
_CUT_BEGINNING = re.compile(
    # The end of the opening tag, then of an entry's date and id.
    rf"[\w-]{{0,16}}\s?(?:head=|ead=|ad=|d=|=)?{_QUOTE}?[0-9a-f]{{0,16}}{_QUOTE}?\s?{_GT}"
    rf"|{_LEADING}\[?[\dWQ-]{{0,10}} ?(?:[a-z]{{0,8}}-)?[0-9a-f.]{{0,24}}\](?:\s|\*|_|$)",
    re.I,
)
_QUOTE_SIGNS = re.compile(r"^(?:[>|*\s]|&(?:amp;)*gt;)+")
_MAX_CUT_LINES = 4
"""The tag, the notice and an entry may each be cut; more lines are no rest of a cut."""
_CUT_NUMBER = re.compile(rf"{_LEADING}(?:\d{{1,3}}[.)]?)?\s*")
_BLANK = re.compile(rf"{_QUOTING}\s*")


def without_injected(text: str) -> str:
    """Return the text without blocks of recalled memory; empty if only quotes and brackets are left.

    An unclosed block of a foreign tag stays. One of our tag goes: only Varve writes it.
    """
    if not _SIGNS.search(fold(text)):
        return text.strip()
    left = _without_foreign(without_own_blocks(text)).strip()
    if left == text.strip() or read_lines(left).strip(_WRAPPING):
        return left
    return ""


def without_own_blocks(text: str) -> str:
    """Return the text without our blocks, and without lines and tags that only they have."""
    return cut_alike(text, (_whole_blocks, _beheaded_blocks, _strays))


def _whole_blocks(text: str) -> Iterator[Span]:
    """Yield the blocks that have an opening tag."""
    at = 0
    never_closed: set[str] = set()
    for opening in _OPENING.finditer(text):
        if opening.start() >= at:
            at = _end(text, opening, never_closed)
            yield opening.start(), at


def _strays(text: str) -> Iterator[Span]:
    return (match.span() for match in _STRAYS.finditer(text))


def _beheaded_blocks(text: str) -> Iterator[Span]:
    """Yield the blocks that lost their beginning, up to their closing tag.

    Lines without a closing tag after them are strays.
    """
    floor = 0
    for closing in _LONE_CLOSING.finditer(text):
        entry = _HEADED.search(text, floor, closing.start())
        first = entry.start() if entry else closing.start()
        yield _beginning(text, floor, first), closing.end()
        floor = closing.end()


def _beginning(text: str, floor: int, first: int) -> int:
    """Return where a block begins whose first whole entry or closing tag is at `first`.

    Before it may stand what the cut left of the tag, the notice or an entry.
    """
    start = first
    for _ in range(_MAX_CUT_LINES):
        line = max(floor, text.rfind("\n", floor, max(floor, start - 1)) + 1)
        passage = text[line:start]
        if not passage or not _is_cut_passage(passage, is_first=line == 0):
            return start
        start = line
    return start


def _is_cut_passage(passage: str, *, is_first: bool) -> bool:
    """Tell whether a passage before the first whole entry is the rest of a cut line.

    The words of an entry have no mark. Only at the text's beginning they count as cut, if
    they begin in the middle of a sentence and announce nothing.
    """
    bare = passage.strip("*_ \t\r\n")
    if not bare.strip("->|"):
        return passage.count("\n") <= 1
    if _CUT_BEGINNING.match(bare) or _ends_notice(bare):
        return True
    announces = bare.endswith((":", "?", "!", ","))
    return is_first and not announces and not bare[0].isupper()


def _ends_notice(bare: str) -> bool:
    """Tell whether a line is the notice's end, which the first entry may follow."""
    rest = _QUOTE_SIGNS.sub("", bare).removesuffix("-").rstrip("\\n ")
    return NOTICE.casefold().endswith(rest.casefold())


def _without_foreign(text: str) -> str:
    kept: list[str] = []
    at = 0
    never_closed: set[str] = set()
    for opening in _FOREIGN_OPENING.finditer(text):
        tag = (opening[1] or opening[2]).lower()
        if opening.start() < at or tag in never_closed:
            continue
        closing = _FOREIGN_CLOSING[tag].search(text, opening.end())
        if closing is None:
            never_closed.add(tag)
            continue
        kept.append(text[at : opening.start()])
        at = closing.end()
    return "".join([*kept, text[at:]])


def _end(text: str, opening: re.Match[str], never_closed: set[str]) -> int:
    """Return where a block ends: after its closing tag, escaped as the opening, else with its lines."""
    lt = opening["lt"].lower()
    if lt not in never_closed:
        found = re.compile(re.escape(lt) + _CLOSING, re.I).search(
            text, opening.end()
        )
        if found:
            return found.end()
        never_closed.add(lt)
    return _cut_off(text, opening.end())


def _cut_off(text: str, start: int) -> int:
    """Return the end of a block without a closing tag: at the latest the next blank line.

    If lines before that have the form of ours, the block ends after the last of them.
    """
    at = _line_end(text, start)
    ours = None
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end]
        if _BLANK.fullmatch(line):
            only_quotes_left = line.strip() and end == len(text)
            return ours or (end if only_quotes_left else at)
        if _is_ours(line, is_last=end == len(text)):
            ours = end
        at = end
    return ours or at


def _is_ours(line: str, *, is_last: bool) -> bool:
    """Tell whether a line is an entry, the notice or a part of one."""
    if is_last and _CUT_NUMBER.fullmatch(line):
        return True
    return _OURS.fullmatch(line) is not None or _in_notice(line)


def _line_end(text: str, start: int) -> int:
    """Return where the next line begins, or the text's end."""
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline + 1


def _in_notice(line: str) -> bool:
    """Return whether a line is the notice, or its beginning."""
    bare = line.lstrip(" \t>|*").rstrip()
    own = bare.replace("&gt;", "").strip()
    begins = NOTICE.startswith(own) or BRIEF_NOTICE.startswith(own)
    return bool(bare) and begins
