"""Lambda functions as real processes: the Runtime API served to `awslambdaric`, one invocation at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from threading import Condition, Lock, Thread
from typing import IO, Any, Self

from tests.support.loopback import (
    ACCOUNT,
    LOOPBACK,
    REGION,
    LoopbackHandler,
    LoopbackServer,
)

API = "/2018-06-01/runtime"
PAYLOAD_LIMIT = 6 * 1024 * 1024  # of a synchronous request and of its answer
SECRET = "rehearsal-secret-access-key"  # distinct, so that tests can look for it in logs
INIT_LIMIT = 60.0  # generous: a loaded laptop is slower than Lambda; tests that measure init say so themselves  # noqa: E501


class FunctionError(Exception):
    """The function answered with an error, crashed or ran out of time; what Lambda calls FunctionError."""

    def __init__(
        self, error_type: str, message: str, trace: list[str] | None = None
    ) -> None:
        super().__init__(f"{error_type}: {message}")
        self.error_type = error_type
        self.message = message
        self.trace = trace or []


@dataclass
class Invocation:
    """One event on its way through a function."""

    event: bytes
    deadline_ms: int
    client_context: Mapping[str, Any] | None = None
    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def headers(self, arn: str) -> dict[str, str]:
        headers = {
            "Lambda-Runtime-Aws-Request-Id": self.id,
            "Lambda-Runtime-Deadline-Ms": str(self.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": arn,
            "Lambda-Runtime-Trace-Id": "Root=1-00000000-000000000000000000000000;Sampled=0",
        }
        if self.client_context is not None:
            headers["Lambda-Runtime-Client-Context"] = json.dumps(
                self.client_context
            )
        return headers


class RuntimeApi(LoopbackServer):
    """The Runtime API for one process: hands out an event at a time and takes its outcome."""

    def __init__(self, function_arn: str) -> None:
        self.function_arn = function_arn
        self._changed = Condition()
        self._waiting: Invocation | None = None
        self._current: Invocation | None = None
        self._outcome: Callable[[], Any] | None = None
        self._init_error: FunctionError | None = None
        self._asked = False
        self._closed = False
        super().__init__(_RuntimeHandler)

    def call(self, invocation: Invocation, timeout: float) -> Any:
        """Queue the event, wait for its outcome; TimeoutError when none has come in time."""
        with self._changed:
            self._waiting, self._outcome = invocation, None
            self._changed.notify_all()
            if not self._changed.wait_for(self._settled, timeout):
                raise TimeoutError
            outcome = self._outcome or _raiser(
                self._init_error
                or FunctionError("Runtime.ExitError", "closed")
            )
        return outcome()

    def wait_until_ready(self, timeout: float) -> None:
        """Return once the runtime has imported the handler and asks for work."""
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._asked or self._settled(), timeout
            ):
                raise FunctionError(
                    "Sandbox.Timedout",
                    f"not ready after {timeout:.0f} seconds",
                )
            if self._init_error:
                raise self._init_error

    def fail(self, error: FunctionError) -> None:
        """What the process can no longer say for itself: it crashed."""
        with self._changed:
            self._init_error = self._init_error or error
            self._changed.notify_all()

    @property
    def failed(self) -> bool:
        """Whether the process ended or is about to: its handler could not be imported."""
        return self._init_error is not None

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        super().close()

    def _settled(self) -> bool:
        return (
            self._outcome is not None
            or self._init_error is not None
            or self._closed
        )

    def next_invocation(self) -> Invocation | None:
        """Block until there is an event; None once the server closes."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._waiting is not None or self._closed
            )
            self._current, self._waiting = self._waiting, None
            return self._current

    def settle(self, invocation_id: str, outcome: Callable[[], Any]) -> bool:
        """Take the outcome of the invocation in flight; any other id is a protocol error."""
        with self._changed:
            if self._current is None or self._current.id != invocation_id:
                return False
            self._current, self._outcome = None, outcome
            self._changed.notify_all()
            return True


def _raiser(error: FunctionError) -> Callable[[], Any]:
    def outcome() -> Any:
        raise error

    return outcome


def _reported(body: bytes) -> FunctionError:
    report = json.loads(body or b"{}")
    return FunctionError(
        report.get("errorType", ""),
        report.get("errorMessage", ""),
        report.get("stackTrace"),
    )


def _response(body: bytes) -> Callable[[], Any]:
    if len(body) > PAYLOAD_LIMIT:
        text = f"Response of {len(body)} bytes exceeds the maximum of {PAYLOAD_LIMIT} bytes"
        return _raiser(FunctionError("Function.ResponseSizeTooLarge", text))
    return lambda: json.loads(body) if body else None


class _RuntimeHandler(LoopbackHandler):
    """The four endpoints that a runtime client uses."""

    @property
    def api(self) -> RuntimeApi:
        owner: RuntimeApi = self.server.owner  # type: ignore[attr-defined]  # set by LoopbackServer
        return owner

    def get(self) -> None:
        if self.path != f"{API}/invocation/next":
            return self.answer_json(404, {"errorMessage": self.path})
        invocation = self.api.next_invocation()
        if invocation is None:
            return self.answer_json(500, {"errorMessage": "closing"})
        return self.answer(
            200, invocation.event, invocation.headers(self.api.function_arn)
        )

    def post(self) -> None:
        body = self.body()
        if self.path == f"{API}/init/error":
            self.api.fail(_reported(body))
            return self.answer_json(202, {"status": "OK"})
        _, _, rest = self.path.partition(f"{API}/invocation/")
        invocation_id, _, verb = rest.partition("/")
        outcome = (
            _response(body) if verb == "response" else _raiser(_reported(body))
        )
        known = self.api.settle(invocation_id, outcome)
        return self.answer_json(
            202 if known else 400,
            {"status": "OK" if known else "InvalidRequestID"},
        )


class LambdaProcess:
    """One execution environment: `python -m awslambdaric HANDLER`, started and restarted when needed."""

    def __init__(
        self,
        handler: str,
        *,
        python: Path,
        cwd: Path,
        environment: Mapping[str, str],
        timeout: float = 60.0,
        name: str = "Function",
        memory_mb: int = 1024,
    ) -> None:
        self.handler, self.python, self.cwd, self.timeout, self.name = (
            handler,
            python,
            cwd,
            timeout,
            name,
        )
        self.environment = {
            **_lambda_environment(name, handler, cwd, memory_mb),
            **environment,
        }
        if not self.environment["AWS_SESSION_TOKEN"]:  # lasting keys
            del self.environment["AWS_SESSION_TOKEN"]
        self._arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
        self._scratch = TemporaryDirectory(
            prefix=f"lambda-{name}-", ignore_cleanup_errors=True
        )
        self._log = Path(self._scratch.name, "log")
        self._log.touch()
        self._one_at_a_time = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._api: RuntimeApi | None = None
        self.starts = 0

    def start(self) -> Self:
        """Start the process unless it lives, and wait until its handler is imported."""
        if not self.alive:
            self._clear()
            self._launch().wait_until_ready(INIT_LIMIT)
        return self

    def invoke(
        self,
        event: Any,
        client_context: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The handler's answer; FunctionError when it raised, crashed or ran longer than its timeout."""
        payload = json.dumps(event).encode()
        if len(payload) > PAYLOAD_LIMIT:
            raise ValueError(
                f"request of {len(payload)} bytes is over Lambda's {PAYLOAD_LIMIT}"
            )
        with self._one_at_a_time:
            self.start()
            return self._call(payload, client_context, timeout or self.timeout)

    def kill(self) -> None:
        """What a lost host does: SIGKILL, no farewell; the next invocation starts afresh."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        self._clear()
        self._scratch.cleanup()

    @property
    def alive(self) -> bool:
        gone = self._process is None or self._process.poll() is not None
        return not gone and self._api is not None and not self._api.failed

    @property
    def logs(self) -> str:
        """Everything that any start of the process wrote to stdout and stderr, up to now."""
        return (
            self._log.read_text(errors="replace") if self._log.exists() else ""
        )

    def _call(
        self,
        payload: bytes,
        client_context: Mapping[str, Any] | None,
        timeout: float,
    ) -> Any:
        assert self._api is not None
        deadline = int((time.time() + timeout) * 1000)
        try:
            return self._api.call(
                Invocation(payload, deadline, client_context), timeout
            )
        except TimeoutError:
            self.kill()
            raise FunctionError(
                "Sandbox.Timedout",
                f"Task timed out after {timeout:.2f} seconds",
            ) from None

    def _launch(self) -> RuntimeApi:
        self._api = RuntimeApi(self._arn)
        environment = {
            **self.environment,
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
        }
        with self._log.open("ab") as log:
            self._process = _spawn(
                [str(self.python), "-m", "awslambdaric", self.handler],
                self.cwd,
                environment,
                log,
            )
        self.starts += 1
        Thread(
            target=_watch, args=(self._process, self._api), daemon=True
        ).start()
        return self._api

    def _clear(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        if self._api is not None:
            self._api.close()
        self._process = self._api = None


def _spawn(
    command: list[str],
    cwd: Path,
    environment: Mapping[str, str],
    log: IO[bytes],
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
    )


def _watch(process: subprocess.Popen[bytes], api: RuntimeApi) -> None:
    status = process.wait()
    api.fail(
        FunctionError(
            "Runtime.ExitError", f"Runtime exited with status {status}"
        )
    )


def _lambda_environment(
    name: str, handler: str, cwd: Path, memory_mb: int
) -> dict[str, str]:
    """What Lambda sets itself, nothing of the developer's, and a closed door to all but loopback."""
    return {
        "_HANDLER": handler,
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory_mb),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "rehearsal",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_EXECUTION_ENV": "AWS_Lambda_Image",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "REHEARSALACCESSKEY",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_SESSION_TOKEN": "rehearsal-session-token",
        "AWS_EC2_METADATA_DISABLED": "true",
        "LAMBDA_TASK_ROOT": str(cwd),
        "LANG": "en_US.UTF-8",
        "PATH": os.defpath,
        "PYTHONPATH": str(cwd),
        "PYTHONDONTWRITEBYTECODE": "1",  # the image is read-only and was compiled when it was built
        "TZ": ":UTC",
        "HTTP_PROXY": f"http://{LOOPBACK}:9",
        "HTTPS_PROXY": f"http://{LOOPBACK}:9",
        "NO_PROXY": LOOPBACK,
    }


class LambdaPool:
    """A function with room for several invocations at once: each runs in a process of its own."""

    def __init__(self, processes: list[LambdaProcess]) -> None:
        self.processes = processes
        self._idle: Queue[LambdaProcess] = Queue()
        for process in processes:
            self._idle.put(process)

    def invoke(
        self,
        event: Any,
        client_context: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Any:
        process = self._idle.get()
        try:
            return process.invoke(event, client_context, timeout)
        finally:
            self._idle.put(process)

    def start(self) -> Self:
        for process in self.processes:
            process.start()
        return self

    def stop(self) -> None:
        for process in self.processes:
            process.stop()

    @property
    def logs(self) -> str:
        return "".join(process.logs for process in self.processes)
