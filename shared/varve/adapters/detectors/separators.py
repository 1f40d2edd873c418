"""Separators and digits in one spelling, so that a number is found in each of them."""

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DASHES = "\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d"
_FULL_WIDTH = dict(zip(range(0xFF01, 0xFF5F), range(0x21, 0x7F), strict=True))
_PLAIN = (
    _FULL_WIDTH
    | dict.fromkeys(map(ord, _SPACES), " ")
    | dict.fromkeys(map(ord, _DASHES), "-")
)


def plain_separators(text: str) -> str:
    """Return the text with spaces, dashes and full-width characters as in ASCII.

    Each character stays one character, so that a place in the result is the same place in
    the text. The full-width forms are those of Unicode's block FF00.
    """
    return text if text.isascii() else text.translate(_PLAIN)
