"""Words that a writer passes on as another person's: "Mom wrote:" and what stands below it."""

import re
from collections.abc import Iterator

from varve.domain.statements.forgetting.reported_requests import says_of_others

_COLON = re.compile(r":(?=\s)")
_BREAK = re.compile(r"[.!?…:](?=\s)")
_MOST_BEFORE = 120
"""So many characters before a colon may introduce another's words."""
_QUOTE = re.compile(
    r"\s*(?:\"[^\"]{1,2000}\"|“[^”]{1,2000}”|«[^»]{1,2000}»|‘.{1,2000}?’(?!\w)|'.{1,2000}?'(?!\w))[.!?…]*(?:\s+|$)"
)
"""A quotation; a longer one counts as none, so that a line is read once."""
_SENTENCE_END = re.compile(r"[.!?…][\"”»')]*(?:\s|$)")


def leave_out_reported(text: str) -> str:
    """Return a text without what follows "Mom wrote:".

    On the same line that is the quotation, else the sentence: without a quotation mark the
    next one may be the writer's own. Below it, it is all up to the next empty line.
    """
    if ":" not in text:
        return text
    return "\n".join(_keep_own(text.split("\n")))


def _keep_own(lines: list[str]) -> Iterator[str]:
    is_reported = has_words = False
    for line in lines:
        if is_reported and (line.strip() or not has_words):
            has_words = has_words or bool(line.strip())
            continue
        own = _cut_reported(line)
        yield own
        is_reported, has_words = _introduces(own.rstrip()), False


def _introduces(line: str) -> bool:
    if not line.endswith(":"):
        return False
    return says_of_others(_get_introduction(line, 0, len(line) - 1))


def _cut_reported(line: str) -> str:
    """Return the line without the sentences behind "Mom wrote: "."""
    start = 0
    kept = ""
    for colon in _COLON.finditer(line):
        at = colon.start()
        if at < start or not says_of_others(
            _get_introduction(line, start, at)
        ):
            continue
        kept += line[start:at] + ". "
        ended = _QUOTE.match(line, colon.end()) or _SENTENCE_END.search(
            line, colon.end()
        )
        start = ended.end() if ended else len(line)
    return kept + line[start:]


def _get_introduction(line: str, start: int, colon: int) -> str:
    """Return the words between a colon and the last colon or end of a sentence before it."""
    before = line[max(start, colon - _MOST_BEFORE) : colon]
    return _BREAK.split(before)[-1]
