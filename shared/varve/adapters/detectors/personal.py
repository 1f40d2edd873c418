"""Detection of personal data: each kind has a form and a check.

The kinds are e-mail addresses, phones, cards, IBANs, national ids and IP addresses.
"""

import ipaddress
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from varve.adapters.detectors.national_ids import (
    BEFORE,
    NationalId,
    national_ids,
)
from varve.adapters.detectors.separators import plain_separators
from varve.domain.allowance import Allowance
from varve.domain.errors import Misconfigured
from varve.domain.personal import Detection, Kind

_NUMBERS = re.compile(r"\d(?:[^\d\n]{0,3}\d){5}")
"""A phone, card, IBAN or national id has at least six digits near each other.

Texts without them do not need the libraries that check these.
"""

# An image or an archive, in which any form may occur by chance.
_BASE64 = re.compile(
    r"data:[\w.+/-]+;base64,[A-Za-z0-9+/=\s]+|[A-Za-z0-9+/=_-]{120,}"
)

_EMAIL = re.compile(
    r"(?<![\w.+%@/-])(?:mailto:)?(?P<address>[^\W_](?:[\w.+%'-]{0,62}[\w+-])?"
    r"@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24})(?![\w@]|[-.][\w-]|:[\w~/.])"
)
_EMAIL_IN_WORDS = re.compile(
    r"(?<![\w.+-])(?P<address>[\w.+-]{1,64}\s?[\[(]\s?(?:at|arroba)\s?[\])]\s?[\w-]{1,63}"
    r"(?:(?:\s?[\[(]\s?(?:dot|punto)\s?[\])]\s?|\.)[\w-]{2,63}){1,4})(?![\w@])",
    re.IGNORECASE,
)
_AT_WORD = re.compile(r"\s?[\[(]\s?(?:at|arroba)\s?[\])]\s?", re.IGNORECASE)
_DOT_WORD = re.compile(r"\s?[\[(]\s?(?:dot|punto)\s?[\])]\s?", re.IGNORECASE)
_LOGIN = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh)\b[^\n.;|]*$")
"""A command whose `name@host` is an account on a machine."""
_FILES = frozenset(
    {
        "bmp", "css", "csv", "gif", "go", "html", "ico", "jpeg", "jpg", "js", "json",
        "jsx", "md", "mp3", "mp4", "pdf", "png", "py", "rs", "svg", "toml", "ts", "tsx",
        "txt", "webp", "yaml", "yml",
    }
)  # fmt: skip

_IBAN = re.compile(r"(?<!\w)[A-Za-z]{2}\d{2}(?:[ .-]?[A-Za-z0-9]){11,30}")

_CARD = re.compile(
    r"(?<![\w.,#-])(?<!\d )(?:\d{13,19}|\d{4}(?:[ .-]\d{4}){3}|3\d{3}[ .-]\d{6}[ .-]\d{4,5})"
    r"(?![\w-]|[.,]\d| \d)"
)
# The issuers' ranges of ISO/IEC 7812: Visa, Mastercard, American Express, Diners,
# Discover, Maestro.
_ISSUED = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d|62\d\d|35\d\d)\d{12}|(?:50|5[6-9]|6[37])\d{14}"
)
_NO_CARD = re.compile(
    r"\b(?:order|pedido|tracking|seguimiento|invoice|factura|serial|imei|sku|timestamp"
    r"|epoch|id|ref(?:erenc\w+)?|ticket|isbn|ean|gtin)\b[^.!?\n]{0,16}$|#$",
    re.IGNORECASE,
)

_IPV4 = re.compile(
    r"(?<![\w.+-])(?:\d{1,3}\.){3}\d{1,3}(?:/(?P<net>\d{1,2}))?(?![\w-]|\.\d)"
)
_IPV6 = re.compile(
    r"(?<![\w:.])(?=[\da-fA-F:]*\d)[\da-fA-F]{0,4}(?::[\da-fA-F]{0,4}){2,7}(?:/(?P<net>\d{1,3}))?(?![\w:])"
)
_VERSION = re.compile(
    r"(?:\bv|\b(?:versi[oó]n|release|build|firmware|driver|rev|chapter|section|cap[ií]tulo|secci[oó]n)\w*|§)"
    r"[\s.:]{0,3}$",
    re.IGNORECASE,
)

_PHONE = re.compile(
    r"(?:\+|\(|(?<![\d.,]))\d(?:[ ()./-]{0,3}\d){6,15}(?: ?(?:ext|x)\.? ?\d{1,5})?"
)
# Written with the area code set apart, as few other numbers are.
_NORTH_AMERICAN = re.compile(
    r"(?:\([2-9]\d\d\) ?|[2-9]\d\d([.-]))[2-9]\d\d(?(1)\1|[.-])\d{4}(?!\d|[.,-]\d)"
)
_JOINED_BEFORE = re.compile(r"[\w#/=$€£:-]$|\d[.,]$")
_JOINED_AFTER = re.compile(r"[\w/%€$]|[.,-]\d")
_PHONE_WORDS = re.compile(
    r"\b(?:tel|tel[eé]fonos?|tfno|telf|phones?|cell|mobile|m[oó]vil|celular|fijo|call(?:ed|ing|s)?|ring|rang|dial"
    r"|text(?:ed|s)?|sms|fax|whats ?app|signal|telegram|reach(?:ed)?|ll[aá]m\w+|m[aá]rc\w+"
    r"|contact(?:o|ar|ame|me)?|hotline|extension|landline|number|n[uú]mero)\b",
    re.IGNORECASE,
)
_NO_PHONE = re.compile(
    r"\b(?:order|pedido|tracking|seguimiento|invoice|factura|serial|serie|imei|sku|part|case|caso|ticket|account"
    r"|cuenta|policy|p[oó]liza|confirmation|reserva\w*|reference|referencia|ref|isbn|model|modelo|expediente"
    r"|flight|vuelo|lot|lote|version)\b(?: (?:no|nr|n[uú]m)\.)?[^.!?\n]{0,24}$",
    re.IGNORECASE,
)

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

PHONELESS = "is no region with phones of its own"


class PersonalDetector:
    """The Detector port for personal data.

    `regions` are the ISO 3166 codes of countries whose phones are written without "+".
    """

    def __init__(self, regions: Sequence[str]) -> None:
        self._regions = tuple(regions)

    def find(
        self, text: str, allowance: Allowance | None = None
    ) -> Sequence[Detection]:
        """Return all personal data in the text, including overlapping findings.

        Out of time, it returns the findings so far. Raises Misconfigured: a region has no
        phones.
        """
        allowance = allowance or Allowance()
        text = plain_separators(text)
        found = [
            *_find_emails(text, allowance),
            *_find_ip_addresses(text, allowance),
        ]
        if _NUMBERS.search(text):
            found += _find_ibans(text, allowance)
            found += _find_cards(text, allowance)
            found += self._find_national_ids(text, allowance)
            found += self._find_phones(text, allowance)
        if not found:
            return ()
        images = [match.span() for match in _BASE64.finditer(text)]
        return [
            finding for finding in found if not _is_inside(finding, images)
        ]

    def _find_national_ids(
        self, text: str, allowance: Allowance
    ) -> Iterator[Detection]:
        for national_id in self._national_ids:
            for start, end in allowance.within_time(national_id.spans(text)):
                canonical = re.sub(r"[^\w]", "", text[start:end]).upper()
                yield Detection(Kind.NATIONAL_ID, start, end, canonical)

    @cached_property
    def _national_ids(self) -> tuple[NationalId, ...]:
        return national_ids()

    def _find_phones(
        self, text: str, allowance: Allowance
    ) -> Iterator[Detection]:
        # phonenumbers' own search takes seconds for a megabyte of text. So it only gets
        # passages that are written or spoken of as phones.
        for match in allowance.within_time(_PHONE.finditer(text)):
            start, end = match.span()
            if not _may_be_phone(text, start, end):
                continue
            if allowance.take_check():
                yield from self._check_phone(text, start, end)
            else:
                digits = re.sub(r"\D", "", match[0])
                yield Detection(Kind.PHONE, start, end, digits)

    def _check_phone(
        self, text: str, start: int, end: int
    ) -> Iterator[Detection]:
        """Yield the phone in a passage, if phonenumbers finds one."""
        import phonenumbers

        number = text[start:end]
        regions: Sequence[str | None] = self._checked_regions
        leniency = phonenumbers.Leniency.VALID
        if number.startswith("+"):
            # A plus is proof enough, also for numbers that no country has assigned yet.
            regions = (None,)
            leniency = phonenumbers.Leniency.POSSIBLE
        for region in regions:
            matches = phonenumbers.PhoneNumberMatcher(number, region, leniency)
            for match in matches:
                canonical = phonenumbers.format_number(
                    match.number, phonenumbers.PhoneNumberFormat.E164
                )
                found_at = (start + match.start, start + match.end)
                yield Detection(Kind.PHONE, *found_at, canonical)
                return

    @cached_property
    def _checked_regions(self) -> tuple[str, ...]:
        for region in phoneless(self._regions):
            raise Misconfigured(
                f"config.json: privacy.regions: {region!r} {PHONELESS}"
            )
        return self._regions


def phoneless(regions: Sequence[str]) -> list[str]:
    """Return the regions that have no known phones."""
    from phonenumbers import SUPPORTED_REGIONS

    return [region for region in regions if region not in SUPPORTED_REGIONS]


def _may_be_phone(text: str, start: int, end: int) -> bool:
    """Tell whether the words and signs around a number allow it to be a phone."""
    before = text[max(0, start - BEFORE) : start]
    if _JOINED_BEFORE.search(before.removesuffix("tel:")):
        return False
    if _JOINED_AFTER.match(text, end):
        return False
    if text[start] == "+":
        return True
    if _NO_PHONE.search(before):
        return False
    if _NORTH_AMERICAN.match(text, start):
        return True
    return _PHONE_WORDS.search(before) is not None


def _is_inside(finding: Detection, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether one of the spans, which are disjoint and in order, holds the finding."""
    place = bisect_right(spans, finding.start, key=_start)
    return place > 0 and finding.end <= spans[place - 1][1]


def _start(span: tuple[int, int]) -> int:
    return span[0]


def _find_emails(text: str, allowance: Allowance) -> Iterator[Detection]:
    if "@" in text:
        for match in allowance.within_time(_EMAIL.finditer(text)):
            address = match["address"]
            _, _, ending = address.rpartition(".")
            if ending.lower() in _FILES or ".." in address:
                continue
            before = text[max(0, match.start() - BEFORE) : match.start()]
            if not _LOGIN.search(before):
                yield Detection(
                    Kind.EMAIL, *match.span("address"), address.casefold()
                )
    for match in allowance.within_time(_EMAIL_IN_WORDS.finditer(text)):
        address = _AT_WORD.sub("@", match["address"])
        address = _DOT_WORD.sub(".", address)
        yield Detection(Kind.EMAIL, *match.span("address"), address.casefold())


def _find_ibans(text: str, allowance: Allowance) -> Iterator[Detection]:
    for match in allowance.within_time(_IBAN.finditer(text)):
        finding = _find_iban(text, match.start(), match.end())
        if finding is not None:
            yield finding


def _find_iban(text: str, start: int, longest: int) -> Detection | None:
    """Return the longest valid IBAN from `start`, up to `longest`.

    The words after an IBAN may look like a part of it.
    """
    from stdnum import iban

    for end in range(longest, start + 14, -1):
        next_character = text[end : end + 1]
        if next_character.isalnum() or not text[end - 1].isalnum():
            continue
        number = re.sub(r"[ .-]", "", text[start:end]).upper()
        if iban.is_valid(number):
            return Detection(Kind.IBAN, start, end, number)
    return None


def _find_cards(text: str, allowance: Allowance) -> Iterator[Detection]:
    from stdnum import luhn

    for match in allowance.within_time(_CARD.finditer(text)):
        number = re.sub(r"[ .-]", "", match[0])
        if not _ISSUED.fullmatch(number) or not luhn.is_valid(number):
            continue
        start = match.start()
        before = text[max(0, start - BEFORE) : start]
        if not _NO_CARD.search(before):
            yield Detection(Kind.CARD, *match.span(), number)


def _find_ip_addresses(text: str, allowance: Allowance) -> Iterator[Detection]:
    """Yield addresses of machines.

    Networks, masks, loopback addresses and versions of four parts are left out.
    """
    for pattern in (_IPV4, _IPV6):
        for match in allowance.within_time(pattern.finditer(text)):
            start, end = match.span()
            if match["net"] is not None:
                end = match.start("net") - 1
            address = _parse_machine_address(text[start:end])
            if address is None or _is_network(address, match["net"]):
                continue
            before = text[max(0, start - 16) : start]
            if not _VERSION.search(before):
                yield Detection(Kind.IP, start, end, str(address))


def _parse_machine_address(text: str) -> IPAddress | None:
    """Return the address if it may belong to one machine."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return None
    return None if text.startswith("255.") else address


def _is_network(address: IPAddress, bits: str | None) -> bool:
    return bits is not None and int(bits) < address.max_prefixlen
