"""A model provider on loopback: OpenAI's chat and embeddings protocol, with scripted replies and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.support.loopback import LoopbackHandler, LoopbackServer

CHAT, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"

Request = dict[str, Any]
Reply = Callable[[Request], str | dict[str, Any]]
Key = Callable[[Request], str | None]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: a status, a broken body, a wait, or vectors of another length."""

    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    dimensions: int | None = None
    path: str | None = (
        None  # only requests to this path; None: whichever comes first
    )

    @property
    def answers(self) -> bool:
        """Whether the fault is the whole answer; else the real one follows, late or in other dimensions."""
        return self.body is not None or self.status != 200

    @property
    def payload(self) -> bytes:
        error = {
            "message": f"scripted fault {self.status}",
            "type": "server_error",
            "param": None,
            "code": None,
        }
        return (
            self.body
            if self.body is not None
            else json.dumps({"error": error}).encode()
        )


NO_RETRY = {
    "x-should-retry": "false"
}  # the client library obeys it, so the fault reaches the function
SERVER_ERROR = Fault(500, NO_RETRY)
MALFORMED = Fault(200, body=b'{"id": "chatcmpl-1", "choices": [{"ind')


def rate_limited(seconds: float) -> Fault:
    return Fault(429, {"Retry-After": f"{seconds:g}"})


def delayed(seconds: float) -> Fault:
    return Fault(200, delay=seconds)


def wrong_dimensions(dimensions: int) -> Fault:
    return Fault(200, dimensions=dimensions, path=EMBEDDINGS)


@dataclass(frozen=True)
class Received:
    """One request as it came in; `fault` is what it was answered with, where that was scripted."""

    path: str
    headers: Mapping[str, str]
    body: Request
    fault: Fault | None


def prompt(request: Request) -> str:
    """All the text of a chat request's messages."""
    return "\n".join(
        _text(message.get("content"))
        for message in request.get("messages", [])
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def same_prompt(request: Request) -> str | None:
    """The default key of a conversation: a retry asks the same again. Embeddings have no conversation."""
    return (
        hashlib.sha256(prompt(request).encode()).hexdigest()
        if "messages" in request
        else None
    )


class ModelServer(LoopbackServer):
    """`with ModelServer(reply) as model:` then `OPENAI_BASE_URL=model.base_url`."""

    def __init__(
        self,
        reply: Reply | None = None,
        *,
        compare: Reply | None = None,
        supports_json_schema: bool = True,
        api_key: str = "test-key",
    ):
        self.reply: Reply = reply or (lambda _: {})
        self.compare: Reply = compare or (lambda _: {"verdicts": []})
        self.supports_json_schema = supports_json_schema
        self.api_key = api_key
        self.dimensions = 768  # of the embedding model itself, where a request asks for no other
        self.requests: list[Received] = []
        self._faults: deque[Fault] = deque()
        self._first: tuple[Key, Fault] | None = None
        self._failed: set[str] = set()
        self._ids: Iterator[int] = count(1)
        self._lock = threading.Lock()
        super().__init__(_ModelHandler)

    def answer(self, request: Request) -> str | dict[str, Any]:
        """Answer by `compare` whether statements change earlier ones, else by `reply`."""
        is_comparison = "<new>\n" in prompt(request)
        return (self.compare if is_comparison else self.reply)(request)

    @property
    def comparisons(self) -> list[Received]:
        return [one for one in self.chats if "<new>\n" in prompt(one.body)]

    @property
    def base_url(self) -> str:
        return f"http://{self.address}/v1"

    @property
    def chats(self) -> list[Received]:
        return [request for request in self.requests if request.path == CHAT]

    @property
    def embeddings(self) -> list[Received]:
        return [
            request for request in self.requests if request.path == EMBEDDINGS
        ]

    @property
    def environment(self) -> dict[str, str]:
        """What a function needs to speak to this server."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": self.api_key,
        }

    def fail_next(self, *faults: Fault) -> None:
        """The next requests get these answers, one each, in order."""
        self._faults.extend(faults)

    def fail_first_of_each(
        self, key: Key = same_prompt, fault: Fault = SERVER_ERROR
    ) -> None:
        """The first request of every conversation fails; where `key` gives None a request is exempt."""
        self._first, self._failed = (key, fault), set()

    def heal(self) -> None:
        self._faults.clear()
        self._first = None

    def take(
        self, path: str, headers: Mapping[str, str], body: Request
    ) -> Fault | None:
        """Log the request and say which fault it meets."""
        with self._lock:
            fault = self._next_fault(path) or self._first_fault(body)
            self.requests.append(Received(path, headers, body, fault))
            return fault

    def _next_fault(self, path: str) -> Fault | None:
        for fault in self._faults:
            if fault.path in (None, path):
                self._faults.remove(fault)
                return fault
        return None

    def _first_fault(self, body: Request) -> Fault | None:
        if self._first is None:
            return None
        key, fault = self._first
        conversation = key(body)
        if conversation is None or conversation in self._failed:
            return None
        self._failed.add(conversation)
        return fault

    def next_id(self) -> int:
        return next(self._ids)


class _ModelHandler(LoopbackHandler):
    """Answers the two endpoints; anything a real provider refuses is refused in the provider's words."""

    @property
    def model(self) -> ModelServer:
        owner: ModelServer = self.server.owner  # type: ignore[attr-defined]  # set by LoopbackServer
        return owner

    def post(self) -> None:
        body = json.loads(self.body())
        fault = self.model.take(self.path, dict(self.headers.items()), body)
        if fault and fault.delay:
            time.sleep(fault.delay)
        if fault and fault.answers:
            return self.answer(fault.status, fault.payload, fault.headers)
        refusal = self._refusal(body)
        if refusal:
            return self.answer_json(refusal[0], _error(refusal[1]))
        if self.path == CHAT:
            return self.answer_json(200, self._completion(body))
        return self.answer_json(
            200, _embeddings(body, self._dimensions(body, fault))
        )

    def _refusal(self, body: Request) -> tuple[int, str] | None:
        if self.headers.get("Authorization") != f"Bearer {self.model.api_key}":
            return 401, "Incorrect API key provided"
        if self.path not in (CHAT, EMBEDDINGS):
            return 404, f"Invalid URL (POST {self.path})"
        if not body.get("model"):
            return 400, "you must provide a model parameter"
        if body.get("stream"):
            return 400, "streaming is not served here"
        if not self.model.supports_json_schema and _wants_schema(body):
            return (
                400,
                "response_format type 'json_schema' is not supported by this model",
            )
        return None

    def _dimensions(self, body: Request, fault: Fault | None) -> int:
        return (
            (fault and fault.dimensions)
            or body.get("dimensions")
            or self.model.dimensions
        )

    def _completion(self, body: Request) -> dict[str, Any]:
        reply = self.model.answer(body)
        content = reply if isinstance(reply, str) else json.dumps(reply)
        message = {"role": "assistant", "content": content, "refusal": None}
        return {
            "id": f"chatcmpl-{self.model.next_id()}",
            "object": "chat.completion",
            "created": 1_772_000_000,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": _usage(_words(prompt(body)), _words(content)),
        }


def _wants_schema(body: Request) -> bool:
    return bool(
        (body.get("response_format") or {}).get("type") == "json_schema"
    )


def _error(message: str) -> dict[str, Any]:
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
    }


def _usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    total = prompt_tokens + completion_tokens
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": total,
    }


def _words(text: str) -> int:
    return len(text.split())


def _embeddings(body: Request, dimensions: int) -> dict[str, Any]:
    inputs = (
        [body["input"]] if isinstance(body["input"], str) else body["input"]
    )
    encode = _as_base64 if body.get("encoding_format") == "base64" else list
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": encode(embed(text, dimensions)),
        }
        for index, text in enumerate(inputs)
    ]
    tokens = sum(_words(text) for text in inputs)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {
        "object": "list",
        "data": data,
        "model": body["model"],
        "usage": usage,
    }


def _as_base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def embed(text: str, dimensions: int) -> list[float]:
    """A bag of hashed words as a unit vector: texts that share words are near, in every run alike."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        for at in range(0, 16, 4):
            position, sign = divmod(
                int.from_bytes(digest[at : at + 4], "big"), 2
            )
            vector[position % dimensions] += 1.0 if sign else -1.0
    norm = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / norm for value in vector]
