"""National identity numbers that a checksum or a strict form tells from other numbers."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

Check = Callable[[str], bool]

BEFORE = 48
"""Characters before a number that are searched for a word that names it."""


_SSN = r"\d{3}-\d{2}-\d{4}"
_PLAIN_SSN = r"\d{3}[ .]?\d{2}[ .]?\d{4}"
_SSN_WORDS = r"\bssn\b|social security|seguro social|seguridad social"
_SPANISH_LETTER = r"[A-HJ-NP-TV-Za-hj-np-tv-z]"
_DNI = rf"\d{{2}}[.-]?\d{{3}}[.-]?\d{{3}}[- ]?{_SPANISH_LETTER}"
_NIE = rf"[XYZxyz][- ]?\d{{7}}[- ]?{_SPANISH_LETTER}"
_NINO = (
    r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
    r" ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
)
_NHS = r"\d{3} ?\d{3} ?\d{4}"
_CPF = r"\d{3}\.\d{3}\.\d{3}-\d{2}"
_BSN = r"\d{4}\.?\d{2}\.?\d{3}"
_NIR = r"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"
_CODICE_FISCALE = r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]"
_CURP = r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d"
_PERSONNUMMER = r"\d{6}[-+]\d{4}"
_IDNR = r"\d{2} ?\d{3} ?\d{3} ?\d{3}"
_NIF = r"\d{3} ?\d{3} ?\d{3}"
_SIN = r"\d{3}[ -]?\d{3}[ -]?\d{3}"
_AADHAAR = r"\d{4} ?\d{4} ?\d{4}"
_ELEVEN_DIGITS = r"\d{11}"


@dataclass(frozen=True, slots=True)
class NationalId:
    """One country's identity number: its form and its check.

    A form that other numbers share needs a word of `named` before it.
    """

    form: re.Pattern[str]
    is_valid: Check
    named: re.Pattern[str] | None = None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each such number in the text."""
        for match in self.form.finditer(text):
            named = self._is_named(text, match.start())
            if named and self.is_valid(match[0]):
                yield match.span()

    def _is_named(self, text: str, start: int) -> bool:
        if self.named is None:
            return True
        begin = max(0, start - BEFORE)
        return self.named.search(text, begin, start) is not None


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

    return (
        NationalId(_form(_SSN), _any_of(ssn.is_valid, itin.is_valid)),
        NationalId(
            _form(_PLAIN_SSN),
            _ignore_separators(ssn.is_valid),
            _words(_SSN_WORDS),
        ),
        NationalId(_form(_DNI), _ignore_separators(dni.is_valid)),
        NationalId(_form(_NIE), _ignore_separators(nie.is_valid)),
        NationalId(_form(_NINO), lambda _: True),
        NationalId(_form(_NHS), nhs.is_valid, _words(r"\bnhs\b")),
        NationalId(_form(_CPF), cpf.is_valid),
        NationalId(_form(_ELEVEN_DIGITS), cpf.is_valid, _words(r"\bcpf\b")),
        NationalId(
            _form(_BSN), bsn.is_valid, _words(r"\bbsn\b|burgerservice")
        ),
        NationalId(_form(_NIR), nir.is_valid),
        NationalId(_form(_CODICE_FISCALE), codicefiscale.is_valid),
        NationalId(_form(_CURP), curp.is_valid),
        NationalId(_form(_PERSONNUMMER), personnummer.is_valid),
        NationalId(
            _form(_ELEVEN_DIGITS), pesel.is_valid, _words(r"\bpesel\b")
        ),
        NationalId(
            _form(_IDNR), idnr.is_valid, _words(r"steuer|\bidnr|tax id")
        ),
        NationalId(_form(_NIF), nif.is_valid, _words(r"\bnif\b|contribuinte")),
        NationalId(
            _form(_SIN), sin.is_valid, _words(r"\bsin\b|social insurance")
        ),
        NationalId(_form(_AADHAAR), aadhaar.is_valid, _words(r"aadha+r")),
    )


def _form(pattern: str) -> re.Pattern[str]:
    """Compile a form that must stand alone, without letters or digits joined to it."""
    return re.compile(
        rf"(?<![\w.-])(?<!\d[ /,])(?:{pattern})(?![\w-]|[.,/]\d)"
    )


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _ignore_separators(is_valid: Check) -> Check:
    """Return the check for a number that may contain dots, dashes and spaces."""
    return lambda number: is_valid(re.sub(r"[\s.-]", "", number).upper())


def _any_of(*checks: Check) -> Check:
    return lambda number: any(check(number) for check in checks)
