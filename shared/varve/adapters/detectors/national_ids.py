"""National identity numbers that a checksum or a strict form tells from other numbers."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

BEFORE = 48
"""Characters before a number that are searched for a word that names it."""


@dataclass(frozen=True, slots=True)
class NationalId:
    """One country's identity number: its form and its check.

    A form that other numbers share needs a word of `named` before it.
    """

    form: re.Pattern[str]
    is_valid: Callable[[str], bool]
    named: re.Pattern[str] | None = None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each such number in the text."""
        for match in self.form.finditer(text):
            if self._is_named(text, match.start()) and self.is_valid(match[0]):
                yield match.span()

    def _is_named(self, text: str, start: int) -> bool:
        if self.named is None:
            return True
        return self.named.search(text, max(0, start - BEFORE), start) is not None


@cache
def national_ids() -> tuple[NationalId, ...]:
    """Return the numbers of the United States, Spain, the United Kingdom and 11 others.

    The checks come from python-stdnum, except for British National Insurance numbers,
    which have no checksum. Their form is that of HMRC's National Insurance Manual,
    NIM39110.
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

    nino_letters = r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
    nino = _form(nino_letters + r" ?\d{2} ?\d{2} ?\d{2} ?[A-D]")
    ssn_words = r"\bssn\b|social security|seguro social|seguridad social"
    spanish_letter = r"[A-HJ-NP-TV-Za-hj-np-tv-z]"
    dni_form = _form(rf"\d{{2}}\.?\d{{3}}\.?\d{{3}}[- ]?{spanish_letter}")
    nie_form = _form(rf"[XYZxyz][- ]?\d{{7}}[- ]?{spanish_letter}")
    nir_form = _form(r"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}")
    fiscale_form = _form(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]")
    nhs_form = _form(r"\d{3} ?\d{3} ?\d{4}")
    cpf_form = _form(r"\d{3}\.\d{3}\.\d{3}-\d{2}")
    bsn_form = _form(r"\d{4}\.?\d{2}\.?\d{3}")
    idnr_form = _form(r"\d{2} ?\d{3} ?\d{3} ?\d{3}")
    nif_form = _form(r"\d{3} ?\d{3} ?\d{3}")
    sin_form = _form(r"\d{3}[ -]?\d{3}[ -]?\d{3}")
    aadhaar_form = _form(r"\d{4} ?\d{4} ?\d{4}")
    eleven_digits = _form(r"\d{11}")
    ssn_or_itin = _any_of(ssn.is_valid, itin.is_valid)
    plain_ssn = _form(r"\d{3} ?\d{2} ?\d{4}")
    return (
        NationalId(_form(r"\d{3}-\d{2}-\d{4}"), ssn_or_itin),
        NationalId(plain_ssn, _compacted(ssn.is_valid), _words(ssn_words)),
        NationalId(dni_form, _compacted(dni.is_valid)),
        NationalId(nie_form, _compacted(nie.is_valid)),
        NationalId(nino, lambda _: True),
        NationalId(nhs_form, nhs.is_valid, _words(r"\bnhs\b")),
        NationalId(cpf_form, cpf.is_valid),
        NationalId(eleven_digits, cpf.is_valid, _words(r"\bcpf\b")),
        NationalId(bsn_form, bsn.is_valid, _words(r"\bbsn\b|burgerservice")),
        NationalId(nir_form, nir.is_valid),
        NationalId(fiscale_form, codicefiscale.is_valid),
        NationalId(_form(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d"), curp.is_valid),
        NationalId(_form(r"\d{6}[-+]\d{4}"), personnummer.is_valid),
        NationalId(eleven_digits, pesel.is_valid, _words(r"\bpesel\b")),
        NationalId(idnr_form, idnr.is_valid, _words(r"steuer|\bidnr|tax id")),
        NationalId(nif_form, nif.is_valid, _words(r"\bnif\b|contribuinte")),
        NationalId(sin_form, sin.is_valid, _words(r"\bsin\b|social insurance")),
        NationalId(aadhaar_form, aadhaar.is_valid, _words(r"aadha+r")),
    )


def _form(pattern: str) -> re.Pattern[str]:
    """Compile a form that must stand alone, without letters or digits joined to it."""
    return re.compile(rf"(?<![\w.-])(?<!\d[ /,])(?:{pattern})(?![\w-]|[.,/]\d)")


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _compacted(is_valid: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return the check for a number that may contain dots, dashes and spaces."""
    return lambda number: is_valid(re.sub(r"[\s.-]", "", number).upper())


def _any_of(*checks: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda number: any(check(number) for check in checks)
