"""The echo guard: removes recalled memory from a message, so that memory never learns its own output.

Our block may be quoted, indented, escaped for HTML or JSON, put on one line or cut off. The message's
own words around it stay.
"""

import re

from varve.domain.block import NOTICE, TAG, EntryType

INJECTED_TAGS = (
    TAG,
    "memory",
    "memories",
    "relevant_memories",
    "learned_patterns",
    "research_log",
)
"""Tags that wrap remembered text in a prompt: ours, and those of the frameworks we plug into."""

_WRAPPING = " \t\n\"'`>*|\\{}[]()"
_FOREIGN_OPENING = re.compile(rf"<({'|'.join(INJECTED_TAGS[1:])})(?:\s[^<>]*)?>", re.I)
_FOREIGN_CLOSING = {tag: re.compile(rf"</{tag}\s*>", re.I) for tag in INJECTED_TAGS[1:]}

# Bounded: each spelling of "<" without a closing tag costs a search of the whole text.
_AMP = r"&(?:amp;){0,9}"
_LT = rf"\\?(?:<|{_AMP}(?:lt|#0{{0,9}}60|#x0{{0,9}}3c);|\\u003c|\\x3c)"
_GT = rf"\\?(?:>|{_AMP}(?:gt|#0{{0,9}}62|#x0{{0,9}}3e);|\\u003e|\\x3e)"
_QUOTING = r"(?:[ \t>|*]|&(?:amp;)*gt;)*+"  # possessive: a megabyte of blanks must not be tried twice
_CUT_HEAD = r"(?:\s+[head]{1,4}(?:=[\w\"'\\&;]{0,80})?)?(?=\s*(?:\Z|\n\s*\n))"
_OPENING = re.compile(
    rf"(?:^{_QUOTING})?(?P<lt>{_LT})\s*{TAG}(?:(?:\s[^<>]{{0,300}}?)?{_GT}|{_CUT_HEAD})",
    re.I | re.M,
)
_CLOSING = rf"\s*\\?/\s*{TAG}\s*{_GT}"
_CUT_TAG = rf"{_LT}\\?/?(?:{'|'.join(TAG[:end] for end in range(2, len(TAG) + 1))})"

_ID = rf"(?:{'|'.join(EntryType)})-"
_DATE = r"\d{4}(?:-[WQ]?\d{1,2}){0,2}"
_CUT_CLOSING = (
    rf"(?:{_LT}|\\?&(?:amp;)*(?:a|am|amp|l|lt|g|gt)?|\\(?:u|u0|u00|u003|x|x3)?)"
    rf"\\?/?(?:{'|'.join(TAG[:end] for end in range(len(TAG) + 1))})(?:[\\&][a-z0-9;&]{{0,9}})?"
)
_CUT_ENTRY = r"-?[ \t]*(?:\[[\dWQ-]*(?: [a-z]*(?:-[\w.-]*)?)?)?"
_OURS = re.compile(
    rf"{_QUOTING}(?:-?[ \t]*\[{_DATE} {_ID}[\w.-]+\].*|{_CUT_ENTRY}|{_CUT_CLOSING})\s*",
    re.I,
)
_STRAYS = re.compile(
    rf"^{_QUOTING}(?:-?[ \t]*\[{_DATE} {_ID}[0-9a-f]{{24}}\]|{re.escape(NOTICE)}).*\n?"
    rf"|(?:^{_QUOTING})?{_LT}{_CLOSING}|{_CUT_TAG}\s*\Z",
    re.I | re.M,
)
_BLANK = re.compile(rf"{_QUOTING}\s*")


def without_injected(text: str) -> str:
    """Return the text without blocks of recalled memory; empty if only quotes and brackets are left.

    An unclosed block of a foreign tag stays. One of our tag goes: only Varve writes it.
    """
    left = _without_foreign(without_own_blocks(text)).strip()
    unchanged = left == text.strip()
    return left if unchanged or left.strip(_WRAPPING) else ""


def without_own_blocks(text: str) -> str:
    """Return the text without our blocks, and without lines and tags that only they have."""
    kept: list[str] = []
    at = 0
    never_closed: set[str] = set()
    for opening in _OPENING.finditer(text):
        if opening.start() >= at:
            kept.append(text[at : opening.start()])
            at = _end(text, opening, never_closed)
    return _STRAYS.sub("", "".join([*kept, text[at:]]))


def _without_foreign(text: str) -> str:
    kept: list[str] = []
    at = 0
    never_closed: set[str] = set()
    for opening in _FOREIGN_OPENING.finditer(text):
        tag = opening[1].lower()
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
        found = re.compile(re.escape(lt) + _CLOSING, re.I).search(text, opening.end())
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
        if _OURS.fullmatch(line) or _in_notice(line):
            ours = end
        at = end
    return ours or at


def _line_end(text: str, start: int) -> int:
    """Return where the next line begins, or the text's end."""
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline + 1


def _in_notice(line: str) -> bool:
    """Return whether a line is the notice, or its beginning."""
    bare = line.lstrip(" \t>|*").rstrip()
    return bool(bare) and NOTICE.startswith(bare.replace("&gt;", "").strip())
