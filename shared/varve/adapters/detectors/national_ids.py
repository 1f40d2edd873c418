"""National identity numbers, where a checksum or a strict form tells them from other numbers."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

BEFORE = 48
"""How many characters before a number may say what it is."""


@dataclass(frozen=True, slots=True)
class NationalId:
    """A number's form, its check, and for forms that other numbers share the words that must come before."""

    form: re.Pattern[str]
    is_valid: Callable[[str], bool]
    named: re.Pattern[str] | None = None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in the text such numbers stand."""
        for match in self.form.finditer(text):
            said = self.named is None or self.named.search(
                text, max(0, match.start() - BEFORE), match.start()
            )
            if said and self.is_valid(match[0]):
                yield match.span()


@cache
def national_ids() -> tuple[NationalId, ...]:
    """Those that are known here: of the United States, Spain, the United Kingdom and twelve more countries.

    Checks come from python-stdnum. British National Insurance numbers have no checksum and are not in it;
    their form is that of HMRC's National Insurance Manual, NIM39110.
    """
    from stdnum.br import cpf
    from stdnum.ca import sin
    from stdnum.de import idnr
    from stdnum.es import dni, nie
    from stdnum.fr import nir
    from stdnum.gb import nhs
    from stdnum.in_ import aadhaar
    from stdnum.it import codicefiscale
    from stdnum.mx import curp
    from stdnum.nl import bsn
    from stdnum.pl import pesel
    from stdnum.pt import nif
    from stdnum.se import personnummer
    from stdnum.us import itin, ssn

    nino = r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
    ssn_words = r"\bssn\b|social security|seguro social|seguridad social"
    return (
        NationalId(_form(r"\d{3}-\d{2}-\d{4}"), _either(ssn.is_valid, itin.is_valid)),
        NationalId(_form(r"\d{3} ?\d{2} ?\d{4}"), _joined(ssn.is_valid), _words(ssn_words)),
        NationalId(_form(r"\d{2}\.?\d{3}\.?\d{3}[- ]?[A-HJ-NP-TV-Za-hj-np-tv-z]"), _joined(dni.is_valid)),
        NationalId(_form(r"[XYZxyz][- ]?\d{7}[- ]?[A-HJ-NP-TV-Za-hj-np-tv-z]"), _joined(nie.is_valid)),
        NationalId(_form(nino), lambda _: True),
        NationalId(_form(r"\d{3} ?\d{3} ?\d{4}"), nhs.is_valid, _words(r"\bnhs\b")),
        NationalId(_form(r"\d{3}\.\d{3}\.\d{3}-\d{2}"), cpf.is_valid),
        NationalId(_form(r"\d{11}"), cpf.is_valid, _words(r"\bcpf\b")),
        NationalId(_form(r"\d{4}\.?\d{2}\.?\d{3}"), bsn.is_valid, _words(r"\bbsn\b|burgerservice")),
        NationalId(_form(r"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"), nir.is_valid),
        NationalId(_form(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]"), codicefiscale.is_valid),
        NationalId(_form(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d"), curp.is_valid),
        NationalId(_form(r"\d{6}[-+]\d{4}"), personnummer.is_valid),
        NationalId(_form(r"\d{11}"), pesel.is_valid, _words(r"\bpesel\b")),
        NationalId(_form(r"\d{2} ?\d{3} ?\d{3} ?\d{3}"), idnr.is_valid, _words(r"steuer|\bidnr|tax id")),
        NationalId(_form(r"\d{3} ?\d{3} ?\d{3}"), nif.is_valid, _words(r"\bnif\b|contribuinte")),
        NationalId(_form(r"\d{3}[ -]?\d{3}[ -]?\d{3}"), sin.is_valid, _words(r"\bsin\b|social insurance")),
        NationalId(_form(r"\d{4} ?\d{4} ?\d{4}"), aadhaar.is_valid, _words(r"aadha+r")),
    )  # fmt: skip


def _form(pattern: str) -> re.Pattern[str]:
    """Standing alone: no letter, digit or joined-on number before or after it."""
    return re.compile(rf"(?<![\w.-])(?<!\d[ /,])(?:{pattern})(?![\w-]|[.,/]\d)")


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _joined(is_valid: Callable[[str], bool]) -> Callable[[str], bool]:
    """The check for a number that may be written with dots, dashes and spaces its own form has not."""
    return lambda number: is_valid(re.sub(r"[\s.-]", "", number).upper())


def _either(*checks: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda number: any(check(number) for check in checks)
