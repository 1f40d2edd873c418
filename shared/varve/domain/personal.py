"""Personal data and secrets in a text: kinds, what is to become of each, and what is put in its place."""

import hashlib
import hmac
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a passage of a text is; the value is the word that stands in its place."""

    SECRET = "secret"
    EMAIL = "email"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_ID = "national-id"
    IP = "ip"
    PHONE = "phone"


class Mode(StrEnum):
    """What becomes of personal data; secrets are redacted whatever the mode is."""

    OFF = "off"
    REDACT = "redact"
    PSEUDONYM = "pseudonym"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Finding:
    """A passage, `start` <= index < `end` in characters, and the form in which equal values are equal."""

    kind: Kind
    start: int
    end: int
    canonical: str


PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(Kind)})(?::[b-t]{{12}})?\]")
_PRECEDENCE = tuple(Kind)
_HEX_AS_CONSONANTS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def placeholder(kind: Kind) -> str:
    """What stands for any value of the kind: `[email]`."""
    return f"[{kind}]"


def pseudonym(kind: Kind, canonical: str, key: bytes, workspace: str) -> str:
    """What stands for this value alone: `[email:` and twelve consonants, which form no word, `]`.

    48 bits of HMAC-SHA256 (RFC 2104) over workspace, kind and value: without the key nobody can tell
    whose it is by trying values out, and two workspaces that share a key share no pseudonym.
    """
    message = "\0".join((workspace, kind, canonical)).encode()
    digest = hmac.new(key, message, hashlib.sha256).hexdigest()[:12]
    return f"[{kind}:{digest.translate(_HEX_AS_CONSONANTS)}]"


def replaced(
    text: str, findings: Iterable[Finding], word: Callable[[Finding], str]
) -> str:
    """The text with another word for every finding.

    Of findings that overlap the one of the kind that `Kind` names first counts, then the longest. What
    stands in place of a value already is left alone, so that filtering twice is filtering once.
    """
    parts: list[str] = []
    at = 0
    for finding in apart(findings, PLACEHOLDER.finditer(text)):
        parts += text[at : finding.start], word(finding)
        at = finding.end
    return "".join([*parts, text[at:]])


def apart(
    findings: Iterable[Finding], taken: Iterable[re.Match[str]] = ()
) -> list[Finding]:
    """Findings of which no two overlap each other or a passage that is taken, in order of the text."""
    held = sorted(match.span() for match in taken)
    chosen: list[Finding] = []
    for finding in sorted(findings, key=_rank):
        # The spans held are disjoint, so that only the neighbours can overlap.
        at = bisect(held, (finding.start, finding.end))
        if all(
            finding.end <= s or e <= finding.start
            for s, e in held[max(0, at - 1) : at + 1]
        ):
            held.insert(at, (finding.start, finding.end))
            chosen.append(finding)
    return sorted(chosen, key=lambda finding: finding.start)


def _rank(finding: Finding) -> tuple[int, int, int]:
    return (_PRECEDENCE.index(finding.kind), finding.start - finding.end, finding.start)


def strings_changed(value: object, change: Callable[[str], str]) -> object:
    """A JSON value with every string in it changed; the names in objects stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [strings_changed(item, change) for item in value]
    if isinstance(value, dict):
        return {name: strings_changed(item, change) for name, item in value.items()}
    return value


def strings_in(value: object) -> Iterator[str]:
    """Every string that `strings_changed` would change."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_in(item)
