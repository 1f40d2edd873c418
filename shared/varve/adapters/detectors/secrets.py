"""Detection of keys, tokens and passwords.

The patterns come from detect-secrets, and from the pages of providers that it does not know.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from functools import cache

from varve.adapters.detectors.separators import plain_separators
from varve.adapters.detectors.token_shapes import token_shapes
from varve.domain.allowance import Allowance
from varve.domain.personal import Detection, Kind
from varve.domain.text import Span

# Every token is a run of 20 such characters. Texts without one do not need detect-secrets,
# whose import takes longer than all patterns.
_LONG_RUN = re.compile(r"[\w/+=.:-]{20}")
# Every other secret needs one of these words. Searching for each of them in case-folded text
# takes less time than one pattern.
_WORDS = (
    "private key", "putty", "passw", "passphrase", "passcode", "passe", "pass:", "pass=",
    "pass is", "--pass", "sshpass", "pwd", "secret", "token", "api key", "api-key", "api_key",
    "apikey", "contrase", "clave", "credencial", "kennwort", "zugangscode", "senha",
    "wachtwoord", "hasło", "парол", "密码", "密碼", "パスワード", "lösenord", "parola", "://",
    "-u ", "-u=", "--user", "basic ", "mysql",
)  # fmt: skip

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<label>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=label)-----|\Z)",
    re.DOTALL,
)

# Prefixes from the providers' documentation. Each token is too long to be a word.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"github_pat_[A-Za-z0-9_]{40,}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28}"  # Google
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}"
    r"|(?:sk|rk)_(?:test|live)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9]{20,}"  # Stripe
    r"|xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]+|xox[a-z]-[A-Za-z0-9-]{20,}"  # Slack
    r"|gsk_[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|lin_api_[A-Za-z0-9]{30,}"
    r"|age-secret-key-1[a-z0-9]{50,}"
    r")(?![A-Za-z0-9])",
    re.IGNORECASE,
)

# OpenAI, Anthropic, OpenRouter. A token is read once, whether or not it is a key: with
# the letters in one pattern, a text of "sk-sk-sk-" takes time with the square of its length.
_SK_TOKEN = re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]++", re.IGNORECASE)
_SK_LETTERS = re.compile(r"[A-Za-z0-9]{20}", re.IGNORECASE)
_OPENAI_MARK = "T3BlbkFJ"

_NAMED = (
    r"(?:pass(?:word|wort|phrase|wd|code)?|pwd|secret(?:[ _-]?(?:access[ _-]?)?key)?"
    r"|(?:auth|access|bearer|refresh|session)?[ _-]?token|api[ _-]?key|client[ _-]?secret|contrase[nñ]a"
    r"|clave(?: de (?:acceso|api))?|credencial|kennwort|zugangscode|senha|palavra[ -]passe"
    r"|mot de passe|wachtwoord|hasło|парол[ья]|密码|密碼|パスワード|lösenord|parola d['’]ordine)"
)
_FOR_WHAT = (
    r"(?: (?:for|of|to|at|in|on|del?|en|para|d[aeo]s?|du|von|vom|für|van|voor|от|к)(?: \w+){1,3}?"
    r"| (?:new|nueva|nova|nouveau|neu|wifi|wi-fi|wlan|router)){0,2}?"
)
_IS = (
    r"(?:[ \"'`*]{0,3}(?::=|[:=])"
    r"|[ \"'`]{1,3}(?:is (?:now|still)|(?:(?:has|was|been) )*changed to|is|was|es ahora|ahora es|sigue siendo"
    r"|(?:ha cambiado|cambió) a|es|era|ist|lautet|war|é|è|est|—|–|-)(?= )|は|是|为)"
    r"[ \"'`«“„*]{0,3}"
)
# In a sentence of several languages, or in a settings file.
_ASSIGNED = re.compile(
    rf"(?:(?<![A-Za-z])|(?<=PG)|(?<=DB)){_NAMED}{_FOR_WHAT}{_IS}(?P<value>[^\s\"'`,;<>()\[\]{{}}«»“”]{{6,200}})",
    re.IGNORECASE,
)
# "I changed the password of the router to …"
_CHANGED = re.compile(
    r"(?<![^\W_])(?:chang|reset|set|updat|cambi|pus|actualic)\w{0,6}(?: \w+){0,3}? "
    rf"{_NAMED}{_FOR_WHAT} (?:to|a|por) [\"'`«“„*]{{0,3}}(?P<value>[^\s\"'`,;<>()\[\]{{}}«»“”]{{6,200}})",
    re.IGNORECASE,
)
# As an option of a command: curl -u name:value, sshpass -p value, mysql -pvalue.
_OPTION = re.compile(
    r"(?<!\S)(?:(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:"
    r"|--pass(?:word|wd)?[ =][\"']?|sshpass -p ?[\"']?)(?P<value>[^\s\"'`]{4,200})"
)
_MYSQL = re.compile(
    r"\bmysql\w{0,8}[^\n]{0,80}? -p(?P<value>[^\s\"'`]{6,200})"
)
_BASIC = re.compile(
    r"\bBasic +(?P<value>[A-Za-z0-9+/]{8,400}={0,2})", re.IGNORECASE
)
# Like detect-secrets, but also for passwords with signs, and to the end of a token.
_IN_URL = re.compile(r"://[^\s/:@]*:(?P<value>[^\s/@]{3,})@")
# A token of one part matches without `rest`, so that it is read once.
_JWT = re.compile(r"eyJ[\w=-]++(?P<rest>\.eyJ[\w=-]++\.[\w.+/=-]*[\w=])?")
_NPMRC = re.compile(r"/:_authToken=\s*(?P<value>npm_.+|[A-Fa-f0-9-]{36})")
_BEARER = re.compile(r"\bBearer\s+(?P<value>[A-Za-z0-9._~+/=-]{20,})")


class SecretDetector:
    """The Detector port for secrets."""

    def find(
        self, text: str, allowance: Allowance | None = None
    ) -> Sequence[Detection]:
        """Return all secrets in the text, including overlapping ones.

        Out of time, it returns the findings so far.
        """
        allowance = allowance or Allowance()
        text = plain_separators(text)
        found = []
        for step in _steps(text):
            for start, end in allowance.within_time(step):
                if _stands_alone(text, start, end):
                    secret = text[start:end]
                    found.append(Detection(Kind.SECRET, start, end, secret))
        return found


def _steps(text: str) -> Iterator[Iterator[Span]]:
    """Yield the parts of the search, each of which reads the text a few times."""
    folded = text.casefold()
    if any(word in folded for word in _WORDS):
        yield _match_spans(_PRIVATE_KEY, text, 0)
        yield _find_in_urls(text)
        yield _find_credentials(text)
        for pattern in (_ASSIGNED, _CHANGED, _OPTION, _MYSQL):
            yield _find_passwords(pattern, text)
    if _LONG_RUN.search(text):
        yield _find_tokens(text)
        yield _find_shapes(text)
        yield _match_spans(_BEARER, text, "value")
        yield _match_spans(_NPMRC, text, "value")
        yield _find_listed(text)
        yield _find_json_web_tokens(text)


def _find_in_urls(text: str) -> Iterator[Span]:
    for match in _IN_URL.finditer(text):
        if not _PLACEHOLDER.match(match["value"]):
            yield match.span("value")


def _find_credentials(text: str) -> Iterator[Span]:
    for match in _BASIC.finditer(text):
        if _is_credentials(match["value"]):
            yield match.span("value")


def _find_tokens(text: str) -> Iterator[Span]:
    """Yield the secrets that their own form tells."""
    for match in _PREFIXED.finditer(text):
        if _is_random(match[0]):
            yield match.span()
    for match in _SK_TOKEN.finditer(text):
        if _is_sk_key(match[0]):
            yield match.span()


def _find_listed(text: str) -> Iterator[Span]:
    """Yield what the patterns of detect-secrets match."""
    for pattern, group in load_patterns():
        yield from _match_spans(pattern, text, group)


def _find_json_web_tokens(text: str) -> Iterator[Span]:
    for match in _JWT.finditer(text):
        if match["rest"] and _is_jwt(match[0]):
            yield match.span()


def _match_spans(
    pattern: re.Pattern[str], text: str, group: int | str
) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if match[group]:
            yield match.span(group)


def _find_shapes(text: str) -> Iterator[Span]:
    for shape in token_shapes():
        for start, end in shape.spans(text):
            if _is_random(text[start:end]):
                yield start, end


def _find_passwords(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Yield the values that follow a name or an option of passwords."""
    for match in pattern.finditer(text):
        value = match["value"].rstrip(".?:")
        if _is_password(value):
            start = match.start("value")
            yield start, start + len(value)


# The value of an example in place of a password.
_PLACEHOLDER = re.compile(
    r"(?:pass(?:word|wd|wort)?|pw|pwd|secret|change-?me|your\S*|example)$|[$%<{*]",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"[$.]env|environ|getenv|process\.|^\$|^%|://|\*\*\*|xxx|…|\.{3}|^v?\d[\d.]*$",
    re.IGNORECASE,
)


def _is_credentials(encoded: str) -> bool:
    """Tell whether a text is Base64 of `name:password` (RFC 7617, section 2)."""
    try:
        decoded = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


def _is_random(token: str) -> bool:
    """Tell whether a token has at least two digits, which "sk-learn-…" does not."""
    return sum(character.isdigit() for character in token) >= 2


def _is_sk_key(token: str) -> bool:
    """Tell whether a token that begins with "sk-" is a key."""
    if not _SK_LETTERS.search(token):
        return False
    return _OPENAI_MARK in token or _is_random(token)


def _is_password(value: str) -> bool:
    """Tell whether a value looks like a password, not like a sentence or code."""
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    signs = any(map(_is_sign, value))
    return letters and (digits or signs) and not _NO_VALUE.search(value)


def _is_sign(character: str) -> bool:
    return not character.isalnum() and character not in ".-_/"


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Tell whether no letter or digit continues the passage on either side.

    A slice of a longer run, such as an image in Base64, is no secret.
    """
    if end <= start:
        return False
    return not _is_joined(text, start) and not _is_joined(text, end)


def _is_joined(text: str, place: int) -> bool:
    """Tell whether letters or digits stand on both sides of a place in the text."""
    before = text[place - 1 : place]
    after = text[place : place + 1]
    return before.isalnum() and after.isalnum()


@cache
def load_patterns() -> list[tuple[re.Pattern[str], int]]:
    """Return the patterns of detect-secrets, each with the group that is secret.

    Left out are its entropy detectors, which report every commit hash, and detectors whose
    form is that of other identifiers (Artifactory, IBM, SoftLayer, Twilio's account ids,
    Mailchimp). Its patterns for OpenAI, npm and JSON Web Tokens take time with the square
    of the text's length; this module has its own.
    """
    # Imported here: it imports requests, which texts without secrets should not pay for.
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        discord,
        github_token,
        gitlab_token,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
    )

    detectors = (
        azure_storage_key.AzureStorageKeyDetector,
        discord.DiscordBotTokenDetector,
        github_token.GitHubTokenDetector,
        gitlab_token.GitLabTokenDetector,
        pypi_token.PypiTokenDetector,
        sendgrid.SendGridDetector,
        slack.SlackDetector,
        square_oauth.SquareOAuthDetector,
        stripe.StripeDetector,
        telegram_token.TelegramBotTokenDetector,
    )
    patterns: list[tuple[re.Pattern[str], int]] = []
    for detector in detectors:
        patterns += [(pattern, 0) for pattern in detector.denylist]
    for pattern in aws.AWSKeyDetector.denylist:
        patterns.append((pattern, min(1, pattern.groups)))
    return patterns


def _is_jwt(token: str) -> bool:
    from detect_secrets.plugins.jwt import JwtTokenDetector

    try:
        return bool(JwtTokenDetector.is_formally_valid(token))
    except (
        RecursionError
    ):  # JSON nested too deep for a claim that a server would read
        return False
