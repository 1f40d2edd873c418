"""E-mail addresses, phones, cards, IBANs, national ids and IP addresses, each by form and check."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from varve.adapters.detectors.national_ids import BEFORE, NationalId, national_ids
from varve.domain.errors import Misconfigured
from varve.domain.personal import Detection, Kind

_NUMBERS = re.compile(r"\d(?:[^\d\n]{0,3}\d){5}")
"""Without six digits near each other there is no phone, card, IBAN or national id to import a library for."""

# An image or an archive, in which any form may turn up by chance.
_BASE64 = re.compile(r"data:[\w.+/-]+;base64,[A-Za-z0-9+/=\s]+|[A-Za-z0-9+/=_-]{120,}")

_EMAIL = re.compile(
    r"(?<![\w.+%@/-])(?:mailto:)?(?P<address>[^\W_](?:[\w.+%'-]{0,62}[\w+-])?"
    r"@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24})(?![\w@]|[-.][\w-]|:[\w~/.])"
)
_EMAIL_IN_WORDS = re.compile(
    r"(?<![\w.+-])(?P<address>[\w.+-]{1,64}\s?[\[(]\s?(?:at|arroba)\s?[\])]\s?[\w-]{1,63}"
    r"(?:(?:\s?[\[(]\s?(?:dot|punto)\s?[\])]\s?|\.)[\w-]{2,63}){1,4})(?![\w@])",
    re.IGNORECASE,
)
_FILES = frozenset(
    {
        "bmp", "css", "csv", "gif", "go", "html", "ico", "jpeg", "jpg", "js", "json", "jsx", "md", "mp3",
        "mp4", "pdf", "png", "py", "rs", "svg", "toml", "ts", "tsx", "txt", "webp", "yaml", "yml",
    }
)  # fmt: skip

_IBAN = re.compile(r"(?<!\w)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}")

_CARD = re.compile(
    r"(?<![\w.,#-])(?<!\d )(?:\d{13,19}|\d{4}(?:[ -]\d{4}){3}|3\d{3}[ -]\d{6}[ -]\d{4,5})(?![\w-]|[.,]\d| \d)"
)
# The issuers' ranges of ISO/IEC 7812: Visa, Mastercard, American Express, Diners, Discover, Maestro.
_ISSUED = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d|62\d\d|35\d\d)\d{12}|(?:50|5[6-9]|6[37])\d{14}"
)
_NO_CARD = re.compile(
    r"\b(?:order|pedido|tracking|seguimiento|invoice|factura|serial|imei|sku|timestamp|epoch|id|ref(?:erenc\w+)?|ticket|isbn|ean|gtin)"
    r"\b[^.!?\n]{0,16}$|#$",
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
    r"|flight|vuelo|lot|lote|version)\b[^.!?\n]{0,24}$",
    re.IGNORECASE,
)

PHONELESS = "is no region with phones of its own"


class PersonalDetector:
    """The Detector port for personal data; `regions` are ISO 3166 codes of the phones written without "+"."""

    def __init__(self, regions: Sequence[str]) -> None:
        self._regions = tuple(regions)

    def find(self, text: str) -> Sequence[Detection]:
        """The personal data in the text, overlapping findings each for itself.

        Raises Misconfigured: a region that has no phones.
        """
        found = [*_emails(text), *_addresses(text)]
        if _NUMBERS.search(text):
            found += [
                *_ibans(text),
                *_cards(text),
                *self._ids(text),
                *self._phones(text),
            ]
        if not found:
            return ()
        images = [match.span() for match in _BASE64.finditer(text)]
        return [
            f
            for f in found
            if not any(start <= f.start and f.end <= end for start, end in images)
        ]

    def _ids(self, text: str) -> Iterator[Detection]:
        for national_id in self._national_ids:
            for start, end in national_id.spans(text):
                yield Detection(
                    Kind.NATIONAL_ID,
                    start,
                    end,
                    re.sub(r"[^\w]", "", text[start:end]).upper(),
                )

    @cached_property
    def _national_ids(self) -> tuple[NationalId, ...]:
        return national_ids()

    def _phones(self, text: str) -> Iterator[Detection]:
        # Only what is written or spoken of as a phone's number is given to phonenumbers, whose own search
        # through a text takes seconds for a megabyte.
        for match in _PHONE.finditer(text):
            if (found := self._phone(text, *match.span())) is not None:
                yield found

    def _phone(self, text: str, start: int, end: int) -> Detection | None:
        before = text[max(0, start - BEFORE) : start]
        if _JOINED_BEFORE.search(before.removesuffix("tel:")) or _JOINED_AFTER.match(
            text, end
        ):
            return None
        if text[start] != "+" and (
            not _PHONE_WORDS.search(before) or _NO_PHONE.search(before)
        ):
            return None
        import phonenumbers

        # A plus says enough: the numbers that a country has not given out yet are meant as phones as well.
        with_plus = (None, phonenumbers.Leniency.POSSIBLE)
        national = [
            (region, phonenumbers.Leniency.VALID) for region in self._checked_regions
        ]
        for region, leniency in [with_plus] if text[start] == "+" else national:
            for match in phonenumbers.PhoneNumberMatcher(
                text[start:end], region, leniency
            ):
                canonical = phonenumbers.format_number(
                    match.number, phonenumbers.PhoneNumberFormat.E164
                )
                return Detection(
                    Kind.PHONE, start + match.start, start + match.end, canonical
                )
        return None

    @cached_property
    def _checked_regions(self) -> tuple[str, ...]:
        for region in phoneless(self._regions):
            raise Misconfigured(f"config.json: privacy.regions: {region!r} {PHONELESS}")
        return self._regions


def phoneless(regions: Sequence[str]) -> list[str]:
    """Those of the regions of which no phones are known."""
    import phonenumbers

    return [
        region for region in regions if region not in phonenumbers.SUPPORTED_REGIONS
    ]


def _emails(text: str) -> Iterator[Detection]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            address = match["address"]
            if address.rpartition(".")[2].lower() not in _FILES and ".." not in address:
                yield Detection(Kind.EMAIL, *match.span("address"), address.casefold())
    for match in _EMAIL_IN_WORDS.finditer(text):
        plain = re.sub(
            r"\s?[\[(]\s?(?:at|arroba)\s?[\])]\s?",
            "@",
            match["address"],
            flags=re.IGNORECASE,
        )
        plain = re.sub(
            r"\s?[\[(]\s?(?:dot|punto)\s?[\])]\s?", ".", plain, flags=re.IGNORECASE
        )
        yield Detection(Kind.EMAIL, *match.span("address"), plain.casefold())


def _ibans(text: str) -> Iterator[Detection]:
    from stdnum import iban

    for match in _IBAN.finditer(text):
        # The words after an IBAN may look like more of it: the longest part that checks is the number.
        for end in range(match.end(), match.start() + 14, -1):
            if not text[end : end + 1].isalnum() and text[end - 1].isalnum():
                number = re.sub(r"[ -]", "", text[match.start() : end]).upper()
                if iban.is_valid(number):
                    yield Detection(Kind.IBAN, match.start(), end, number)
                    break


def _cards(text: str) -> Iterator[Detection]:
    from stdnum import luhn

    for match in _CARD.finditer(text):
        number = re.sub(r"[ -]", "", match[0])
        before = text[max(0, match.start() - BEFORE) : match.start()]
        if (
            _ISSUED.fullmatch(number)
            and luhn.is_valid(number)
            and not _NO_CARD.search(before)
        ):
            yield Detection(Kind.CARD, *match.span(), number)


def _addresses(text: str) -> Iterator[Detection]:
    """Addresses of machines; not networks, masks, loopback, or versions of four parts."""
    for pattern in (_IPV4, _IPV6):
        for match in pattern.finditer(text):
            end = match.end() if match["net"] is None else match.start("net") - 1
            address = _ip(text[match.start() : end])
            before = text[max(0, match.start() - 16) : match.start()]
            if (
                address
                and not _is_network(address, match["net"])
                and not _VERSION.search(before)
            ):
                yield Detection(Kind.IP, match.start(), end, str(address))


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    nobodys = (
        address.is_loopback
        or address.is_unspecified
        or address.is_multicast
        or text.startswith("255.")
    )
    return None if nobodys else address


def _is_network(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, bits: str | None
) -> bool:
    return bits is not None and int(bits) < address.max_prefixlen
