"""The model provider's client: built on first use, and its errors in our words, in one place."""

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

KEY_SETTING = "OPENAI_API_KEY (or the workspace's models.key)"
URL_SETTING = "OPENAI_BASE_URL (or the workspace's models.baseUrl)"

_RETRYABLE = frozenset({408, 409, 425, 429})
_UNAUTHORIZED = frozenset({401, 403})
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Provider:
    """An endpoint that speaks OpenAI's protocol.

    `setting` names the setting that chose the model, for messages; `timeout` is in seconds, for
    connecting and for each wait for data. A request is tried `max_retries` times more where that can help;
    the client waits as long as Retry-After says, up to two minutes, and gives up at once on longer ones.
    `reread` reads the key anew, for a secret may be rotated while a process lives.
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
        """The client. Raises Misconfigured: no usable key or URL."""
        # Imported here: up to a second that nobody should pay who never calls a model.
        import openai

        client = openai.OpenAI(
            api_key=_checked(self.api_key, self.setting),
            base_url=self._checked_url(),
            timeout=self.timeout,
            max_retries=self.max_retries,
        )
        # Left to the garbage collector, its sockets may go before it: open, and with a warning.
        weakref.finalize(self, client.close).atexit = False
        return client

    def _checked_url(self) -> str:
        url = self.base_url.strip()
        try:
            parts = urlsplit(url)
            usable = (
                parts.scheme in {"http", "https"}
                and bool(parts.hostname)
                and parts.port != 0
            )
        except ValueError:  # half an IPv6 address, a port that is no number
            usable = False
        if not usable:
            raise Misconfigured(
                f"{URL_SETTING}: must be a URL that begins with https:// or http://"
            )
        return url

    def ask(self, subject: str, request: "Callable[[openai.OpenAI], T]") -> T:
        """What a request to the client gives; made again where the key is refused and has been rotated.

        `subject` says what is asked for. Raises Retryable, Rejected and Misconfigured in place of the
        client's errors.
        """
        import openai

        client = self.client
        used = client.api_key
        with self._errors(subject):
            try:
                return request(client)
            except openai.AuthenticationError as error:
                refused = error
            if self.reread is not None:
                client.api_key = _checked(self.reread(), self.setting)
            if client.api_key == used:
                raise refused
            return request(client)

    @contextmanager
    def _errors(self, subject: str) -> Iterator[None]:
        """The cause is cut off: providers quote keys and content in theirs."""
        import openai

        try:
            yield
        except openai.OpenAIError as error:
            raise self._translated(error, subject) from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise Retryable(
                f"{subject}: {self.host} answered with something other than JSON"
            ) from None

    @property
    def host(self) -> str:
        """Where requests go, without path or credentials."""
        return urlsplit(self.base_url.strip()).hostname or "the provider"

    def _translated(self, error: "openai.OpenAIError", subject: str) -> VarveError:
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._of_status(error, subject)
        if isinstance(
            error, openai.APIError
        ):  # timeouts, lost connections, answers of another shape
            return Retryable(
                f"{subject}: no answer from {self.host} ({type(error).__name__})"
            )
        return Misconfigured(
            f"{subject}: the client refused its settings ({type(error).__name__})"
        )

    def _of_status(self, error: "openai.APIStatusError", subject: str) -> VarveError:
        status, said = error.status_code, _described(error)
        if status in _RETRYABLE or status >= 500:
            return Retryable(f"{subject}: {self.host} answered {said}")
        if status in _UNAUTHORIZED and not _moderated(error):
            return Misconfigured(
                f"{KEY_SETTING}: {self.host} refused the key with {said}"
            )
        if status == 402:
            return Misconfigured(
                f"{KEY_SETTING}: the account at {self.host} cannot pay, {said}"
            )
        if status == 404 or error.code == "model_not_found":
            return Misconfigured(
                f"{self.setting}: {self.host} answered {said} for model {self.model!r}; "
                f"check the model's name and {URL_SETTING}"
            )
        return Rejected(subject, f"{self.host} refused the request with {said}")


def _checked(key: str | None, setting: str) -> str:
    key = (key or "").strip()
    if not key:
        raise Misconfigured(
            f"{KEY_SETTING}: is not set, and {setting} names a model that needs one"
        )
    if not (key.isascii() and key.isprintable()):
        raise Misconfigured(f"{KEY_SETTING}: holds characters that no key has")
    return key


def _described(error: "openai.APIStatusError") -> str:
    """The status and, where it is a bare identifier, the provider's code; never its message."""
    code = error.code or ""
    return f"HTTP {error.status_code}" + (f" ({code})" if _CODE.fullmatch(code) else "")


def _moderated(error: "openai.APIStatusError") -> bool:
    """OpenRouter says 403 also for input that a model's moderation flags, and then gives reasons."""
    body: Any = error.body
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return isinstance(metadata, dict) and "reasons" in metadata
