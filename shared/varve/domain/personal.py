"""Personal data and secrets in texts: their kinds, modes and placeholders."""

import hashlib
import hmac
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from varve.domain.text import Span


class Kind(StrEnum):
    """A kind of personal data or secret; the value is the word in its placeholder."""

    SECRET = "secret"
    EMAIL = "email"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_ID = "national-id"
    IP = "ip"
    PHONE = "phone"


class Mode(StrEnum):
    """What happens to personal data; secrets are redacted in every mode."""

    OFF = "off"
    REDACT = "redact"
    PSEUDONYM = "pseudonym"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Detection:
    """A passage that holds personal data, `start` <= index < `end` in characters.

    `canonical` is the same for all spellings of one value.
    """

    kind: Kind
    start: int
    end: int
    canonical: str


PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(Kind)})(?::[b-t]{{12}})?\]")
_PRECEDENCE = tuple(Kind)
_HEX_AS_CONSONANTS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def placeholder(kind: Kind) -> str:
    """Return the placeholder of any value of the kind, such as `[email]`."""
    return f"[{kind}]"


def pseudonym(kind: Kind, canonical: str, key: bytes, workspace: str) -> str:
    """Return this value's own placeholder: `[email:`, twelve consonants and `]`.

    The consonants, which form no word, encode 48 bits of HMAC-SHA256 (RFC 2104) over
    workspace, kind and value. A reader without the key cannot find the value by guessing.
    Two workspaces that share a key share no pseudonym.
    """
    message = "\0".join((workspace, kind, canonical)).encode()
    digest = hmac.new(key, message, hashlib.sha256).hexdigest()[:12]
    return f"[{kind}:{digest.translate(_HEX_AS_CONSONANTS)}]"


def replace_detections(
    text: str,
    detections: Iterable[Detection],
    replacement: Callable[[Detection], str],
) -> str:
    """Return the text with each detection replaced by `replacement(detection)`.

    Of overlapping detections the one whose kind comes first in `Kind` counts, then the
    longest. Existing placeholders are left alone, so that filtering twice gives the same
    text as filtering once.
    """
    parts: list[str] = []
    at = 0
    for detection in drop_overlaps(detections, PLACEHOLDER.finditer(text)):
        parts.append(text[at : detection.start])
        parts.append(replacement(detection))
        at = detection.end
    return "".join([*parts, text[at:]])


def drop_overlaps(
    detections: Iterable[Detection], taken: Iterable[re.Match[str]] = ()
) -> list[Detection]:
    """Return detections in the order of the text, none overlapping another or `taken`."""
    spans = sorted(match.span() for match in taken)
    chosen: list[Detection] = []
    for detection in sorted(detections, key=_rank):
        span = (detection.start, detection.end)
        place = bisect(spans, span)
        # The spans are disjoint, so that only the two neighbours can overlap.
        neighbours = spans[max(0, place - 1) : place + 1]
        if not any(_overlap(span, other) for other in neighbours):
            spans.insert(place, span)
            chosen.append(detection)
    return sorted(chosen, key=lambda detection: detection.start)


def _overlap(one: Span, other: Span) -> bool:
    start, end = one
    other_start, other_end = other
    return start < other_end and other_start < end


def _rank(detection: Detection) -> tuple[int, int, int]:
    length = detection.end - detection.start
    return (_PRECEDENCE.index(detection.kind), -length, detection.start)


def map_strings(value: object, change: Callable[[str], str]) -> object:
    """Return a JSON value with every string changed, except the names in objects."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {
            name: map_strings(item, change) for name, item in value.items()
        }
    return value


def iterate_strings(value: object) -> Iterator[str]:
    """Yield every string that `map_strings` would change."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from iterate_strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from iterate_strings(item)
