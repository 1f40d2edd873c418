"""The client of a model provider, and the translation of its errors."""

import json
import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from varve.domain.errors import Misconfigured, Rejected, Retryable, VarveError

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

KEY_SETTING = (
    "OPENAI_API_KEY, OPENROUTER_API_KEY or the workspace's models.key"
)
URL_SETTING = "OPENAI_BASE_URL (or the workspace's models.baseUrl)"

_RETRYABLE = frozenset({408, 409, 425, 429})
_UNAUTHORIZED = frozenset({401, 403})
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Provider:
    """An endpoint that speaks OpenAI's protocol.

    `setting` is the setting that chose the model, for messages. `timeout` is in seconds,
    for connecting and for each wait for data. The client retries up to `max_retries` times
    if that can help. It obeys Retry-After up to two minutes, and fails on longer waits.
    `reread` returns the current key, because a secret may be rotated during a process.
    """

    model: str
    setting: str
    base_url: str
    api_key: str | None = field(repr=False)
    timeout: float = 60.0
    max_retries: int = 2
    reread: Callable[[], str] | None = None

    @cached_property
    def client(self) -> "openai.OpenAI":
        """The client, built on first use.

        Raises Misconfigured: the key or the URL is missing or invalid.
        """
        # Imported here: it takes up to a second, which only callers of a model should pay.
        import openai

        client = openai.OpenAI(
            api_key=_require_key(self.api_key, self.setting),
            base_url=self._require_url(),
            timeout=self.timeout,
            max_retries=self.max_retries,
        )
        # The garbage collector could finalize the sockets first, with a warning.
        weakref.finalize(self, client.close).atexit = False
        return client

    def _require_url(self) -> str:
        url = self.base_url.strip()
        if not _is_http_url(url):
            raise Misconfigured(
                f"{URL_SETTING}: must be a URL that begins with https:// or http://"
            )
        return url

    def ask(self, subject: str, request: "Callable[[openai.OpenAI], T]") -> T:
        """Send a request and return its result; repeat it if the key was rotated.

        `subject` names the request in messages. Raises Retryable, Rejected and
        Misconfigured in place of the client's errors.
        """
        import openai

        client = self.client
        used = client.api_key
        with self._translate_errors(subject):
            try:
                return request(client)
            except openai.AuthenticationError as error:
                refused = error
            if self.reread is not None:
                client.api_key = _require_key(self.reread(), self.setting)
            if client.api_key == used:
                raise refused
            return request(client)

    @contextmanager
    def _translate_errors(self, subject: str) -> Iterator[None]:
        """Replace the client's errors, without their cause.

        Providers quote keys and content in their messages.
        """
        import openai

        try:
            yield
        except openai.OpenAIError as error:
            raise self._translate(error, subject) from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise Retryable(
                f"{subject}: {self.host} answered with something other than JSON"
            ) from None

    @property
    def host(self) -> str:
        """The host that requests go to, without path or credentials."""
        return urlsplit(self.base_url.strip()).hostname or "the provider"

    def _translate(
        self, error: "openai.OpenAIError", subject: str
    ) -> VarveError:
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._translate_status(error, subject)
        if isinstance(error, openai.APIError):
            # A timeout, a lost connection, or an answer of another shape.
            return Retryable(
                f"{subject}: no answer from {self.host} ({type(error).__name__})"
            )
        return Misconfigured(
            f"{subject}: the client refused its settings ({type(error).__name__})"
        )

    def _translate_status(
        self, error: "openai.APIStatusError", subject: str
    ) -> VarveError:
        status = error.status_code
        said = _describe_status(error)
        if status in _RETRYABLE or status >= 500:
            return Retryable(f"{subject}: {self.host} answered {said}")
        if status in _UNAUTHORIZED and not _is_moderation(error):
            return Misconfigured(
                f"{KEY_SETTING}: {self.host} refused the key with {said}"
            )
        if status == 402:
            return Misconfigured(
                f"{KEY_SETTING}: the account at {self.host} cannot pay, {said}"
            )
        if status == 404 or error.code == "model_not_found":
            return Misconfigured(
                f"{self.setting}: {self.host} answered {said} for model "
                f"{self.model!r}; check the model's name and {URL_SETTING}"
            )
        return Rejected(
            subject, f"{self.host} refused the request with {said}"
        )


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # half an IPv6 address, or a port that is not a number
        return False
    if parts.scheme not in {"http", "https"} or port == 0:
        return False
    return bool(parts.hostname)


def _require_key(key: str | None, setting: str) -> str:
    key = (key or "").strip()
    if not key:
        raise Misconfigured(
            f"{KEY_SETTING}: is not set, and {setting} names a model that needs one"
        )
    if not (key.isascii() and key.isprintable()):
        raise Misconfigured(f"{KEY_SETTING}: holds characters that no key has")
    return key


def _describe_status(error: "openai.APIStatusError") -> str:
    """Return the status, and the provider's code if it is a bare identifier.

    The provider's message is left out, because it may quote content.
    """
    code = error.code or ""
    if not _CODE.fullmatch(code):
        return f"HTTP {error.status_code}"
    return f"HTTP {error.status_code} ({code})"


def _is_moderation(error: "openai.APIStatusError") -> bool:
    """Tell whether a model's moderation flagged the input.

    OpenRouter answers 403 for that too, and then gives reasons.
    """
    body: Any = error.body
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return isinstance(metadata, dict) and "reasons" in metadata
