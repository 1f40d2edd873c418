"""Keys, tokens and passwords, by the patterns of detect-secrets and of the providers it does not know yet."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from varve.domain.personal import Detection, Kind

# Nothing shorter, and nothing without one of these words, is a secret to any pattern below. Looking
# here first spares most texts the import of detect-secrets, which takes longer than all patterns. Looked
# for in text without case, which takes a third of what ignoring case does.
_WORTH_READING = re.compile(
    r"[\w/+=.:-]{20}|private key|putty|passw|passphrase|pwd|secret|token|api.?key|contrase|clave|credencial"
)

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<label>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=label)-----|\Z)",
    re.DOTALL,
)

# Prefixes from the providers' own documentation; each token is long enough to be no word.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]*[A-Za-z0-9]{20}[A-Za-z0-9_-]*"  # OpenAI, Anthropic, OpenRouter
    r"|github_pat_[A-Za-z0-9_]{40,}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28}"  # Google
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|dop_v1_[a-f0-9]{64}|shpat_[a-f0-9]{32}"
    r"|(?:sk|rk)_(?:test|live)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9]{20,}"  # Stripe
    r"|xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]+|xox[a-z]-[A-Za-z0-9-]{20,}"  # Slack
    r"|gsk_[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|lin_api_[A-Za-z0-9]{30,}"
    r"|age-secret-key-1[a-z0-9]{50,}"
    r")(?![A-Za-z0-9])",
    re.IGNORECASE,
)

_NAMED = (
    r"(?:pass(?:word|phrase|wd|code)?|pwd|secret(?:[ _-]?(?:access[ _-]?)?key)?"
    r"|(?:auth|access|bearer|refresh|session)?[ _-]?token|api[ _-]?key|client[ _-]?secret|contrase[nñ]a"
    r"|clave(?: de (?:acceso|api))?|credencial)"
)
_FOR_WHAT = r"(?: (?:for|of|to|del?|para)(?: \w+){1,3}?)?"
_IS = r"(?:[ \"'`*]{0,3}(?::=|[:=])|[ \"'`]{1,3}(?:is now|is|was|es ahora|es|era)(?= ))[ \"'`]{0,3}"
# In a sentence as in a file of settings, English or Spanish.
_ASSIGNED = re.compile(
    rf"(?<![A-Za-z]){_NAMED}{_FOR_WHAT}{_IS}(?P<value>[^\s\"'`,;<>()\[\]{{}}]{{6,200}})",
    re.IGNORECASE,
)
# As detect-secrets has it, but for passwords with signs in them, and up to a token's very end.
_IN_URL = re.compile(r"://[^\s/:@]*:(?P<value>[^\s/@]{3,})@")
_JWT = re.compile(r"eyJ[\w=-]+\.eyJ[\w=-]+\.[\w.+/=-]*[\w=]")
_BEARER = re.compile(r"\bBearer\s+(?P<value>[A-Za-z0-9._~+/=-]{20,})")


class SecretDetector:
    """The Detector port for what gives access; every finding's kind is secret."""

    def find(self, text: str) -> Sequence[Detection]:
        """The secrets in the text, overlapping ones each for itself."""
        if _WORTH_READING.search(text.casefold()) is None:
            return ()
        return [
            Detection(Kind.SECRET, start, end, text[start:end])
            for start, end in _spans(text)
            if _stands_alone(text, start, end)
        ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _PRIVATE_KEY.finditer(text))
    yield from (
        match.span() for match in _PREFIXED.finditer(text) if _is_random(match[0])
    )
    yield from (match.span("value") for match in _IN_URL.finditer(text))
    yield from (match.span("value") for match in _BEARER.finditer(text))
    for match in _ASSIGNED.finditer(text):
        value = match["value"].rstrip(".?:")
        if _is_guarded(value):
            yield match.start("value"), match.start("value") + len(value)
    for pattern, group in _plugins():
        yield from (
            match.span(group) for match in pattern.finditer(text) if match[group]
        )
    yield from (match.span() for match in _JWT.finditer(text) if _is_jwt(match[0]))


_NO_VALUE = re.compile(
    r"[$.]env|environ|getenv|process\.|^\$|^%|://|\*\*\*|xxx|…|\.{3}|^v?\d[\d.]*$",
    re.IGNORECASE,
)


def _is_random(token: str) -> bool:
    """Whether a prefixed token has the digits that chance would give it; "sk-learn-…" has words."""
    return sum(character.isdigit() for character in token) >= 2


def _is_guarded(value: str) -> bool:
    """Whether what follows "password is" looks like one, and not like the rest of a sentence or of code."""
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    signs = any(
        not character.isalnum() and character not in ".-_/" for character in value
    )
    return letters and (digits or signs) and not _NO_VALUE.search(value)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the passage is no slice of a longer run of letters and digits, such as an image in Base64."""
    before, after = text[start - 1 : start], text[end : end + 1]
    joined = (before.isalnum() and text[start].isalnum()) or (
        after.isalnum() and text[end - 1].isalnum()
    )
    return end > start and not joined


@cache
def _plugins() -> tuple[tuple[re.Pattern[str], int], ...]:
    """The patterns of detect-secrets whose tokens have a form of their own, and the group that is secret.

    Not its entropy detectors, to which every commit's hash is a secret, nor those whose form is that of
    other identifiers (Artifactory, IBM, SoftLayer, Twilio's account ids, Mailchimp).
    """
    # Imported here: it brings requests along, which nobody should pay for whose text holds no secret.
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        discord,
        github_token,
        gitlab_token,
        npm,
        openai,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
    )  # fmt: skip

    whole = (
        azure_storage_key.AzureStorageKeyDetector, discord.DiscordBotTokenDetector,
        github_token.GitHubTokenDetector, gitlab_token.GitLabTokenDetector, openai.OpenAIDetector,
        pypi_token.PypiTokenDetector, sendgrid.SendGridDetector, slack.SlackDetector,
        square_oauth.SquareOAuthDetector, stripe.StripeDetector, telegram_token.TelegramBotTokenDetector,
    )  # fmt: skip
    grouped = (aws.AWSKeyDetector, npm.NpmDetector)
    return (
        *((pattern, 0) for detector in whole for pattern in detector.denylist),
        *(
            (pattern, min(1, pattern.groups))
            for detector in grouped
            for pattern in detector.denylist
        ),
    )


def _is_jwt(token: str) -> bool:
    from detect_secrets.plugins.jwt import JwtTokenDetector

    return bool(JwtTokenDetector.is_formally_valid(token))
