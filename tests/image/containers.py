"""A private image store: the stand-in base, the project's image, its functions run under Lambda's limits."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.support.runtime_api import FunctionError, Invocation, RuntimeApi

HERE = Path(__file__).resolve().parent
DEBIAN = "trixie"  # the release whose own Python is the base image's 3.13
PACKAGES = "ca-certificates,python3,python3-pip"
WHOLE_PROCESSOR_MB = (
    1769  # Lambda gives processor time in proportion to memory
)
NOBODY = "65534"
IMAGE = "localhost/varve-image-test"
READY_SECONDS = 60

Json = Any


class Failed(Exception):
    """The image does not build, a function does not start or does not answer."""


@dataclass(frozen=True)
class Function:
    """What the template says of one function."""

    name: str
    handler: str
    memory_mb: int
    timeout: int
    variables: frozenset[str]


@dataclass(frozen=True)
class Run:
    """One cold start and one invocation."""

    init_seconds: float  # from `podman run` until the handler is imported
    answer_seconds: float  # what the first invocation took after it
    answer: Json


class Images:
    """Builds and runs below `work`, and nowhere else."""

    def __init__(self, work: Path) -> None:
        self.work = work
        driver = os.environ.get("IMAGE_TEST_STORAGE", "overlay")
        self.store = [
            "--root",
            f"{work}/store",
            "--runroot",
            f"{work}/run",
            "--storage-driver",
            driver,
        ]
        self.podman = [
            "podman",
            *self.store,
            "--runtime",
            "runc",
            "--cgroup-manager",
            "cgroupfs",
        ]
        self.tmp = (
            work / "tmp"
        )  # the functions' /tmp: one for all, so that a directory can be their store
        self.tmp.mkdir()
        self.tmp.chmod(0o1777)

    def build_base(self, dockerfile: Path) -> str:
        """Build the stand-in under the name that the Dockerfile starts from; that name."""
        text = dockerfile.read_text()
        python = _found(r"^ARG PYTHON_VERSION=(\S+)$", text)
        base = _found(r"^FROM (\S+)$", text).replace(
            "${PYTHON_VERSION}", python
        )
        context = self.work / "base"
        context.mkdir()
        shutil.copy(HERE / "lambda-entrypoint.sh", context)
        bootstrap = [
            "mmdebstrap",
            "--quiet",
            "--variant=minbase",
            f"--include={PACKAGES}",
        ]
        run([*bootstrap, DEBIAN, f"{context}/rootfs.tar"])
        self._bud(
            context,
            HERE / "base.Dockerfile",
            base,
            ["--build-arg", f"PYTHON_VERSION={python}"],
        )
        (context / "rootfs.tar").unlink()
        return base

    def build(self, dockerfile: Path) -> None:
        """Build the project's image, its Dockerfile unmodified."""
        root = dockerfile.parent
        self._bud(
            root,
            dockerfile,
            IMAGE,
            ["--ignorefile", str(root / ".dockerignore")],
        )

    def invoke(
        self, function: Function, event: Json, environment: Mapping[str, str]
    ) -> Run:
        """Start the function and invoke it once. Raises Failed, with the end of its log."""
        arn = f"arn:aws:lambda:us-east-1:123456789012:function:{function.name}"
        with RuntimeApi(arn) as api:
            started = time.monotonic()
            container = self._start(
                function,
                {**environment, "AWS_LAMBDA_RUNTIME_API": api.address},
            )
            try:
                self._wait_until_ready(api, container)
                init = time.monotonic() - started
                deadline = int((time.time() + function.timeout) * 1000)
                invocation = Invocation(json.dumps(event).encode(), deadline)
                answer = api.call(invocation, function.timeout)
                return Run(init, time.monotonic() - started - init, answer)
            except (FunctionError, TimeoutError, Failed) as error:
                raise Failed(
                    f"{function.name}: {error!r}; its log ends: {self._log(container)}"
                ) from error
            finally:
                run(
                    [*self.podman, "rm", "--force", "--time", "0", container],
                    check=False,
                )

    def _bud(
        self, context: Path, dockerfile: Path, tag: str, options: Sequence[str]
    ) -> None:
        command = [
            "buildah",
            *self.store,
            "bud",
            "--isolation",
            "chroot",
            "--network",
            "host",
            "--pull-never",
        ]
        run(
            [
                *command,
                *self._machine_mounts(),
                *options,
                "-f",
                str(dockerfile),
                "-t",
                tag,
                str(context),
            ]
        )

    def _machine_mounts(self) -> list[str]:
        """How this machine reaches its package index; mounted for the build, not left in the image."""
        pip_conf = self.work / "pip.conf"
        pip_conf.write_text(_pip_settings())
        mounts = ["--volume", f"{pip_conf}:/etc/pip.conf:ro"]
        return mounts + (
            ["--volume", "/etc/ssl/certs:/etc/ssl/certs:ro"]
            if Path("/etc/ssl/certs").is_dir()
            else []
        )

    def _start(
        self, function: Function, environment: Mapping[str, str]
    ) -> str:
        limits = [
            "--ulimit",
            "nofile=1024:1024",
            "--ulimit",
            "nproc=1024:1024",
        ]
        memory = [
            "--memory",
            f"{function.memory_mb}m",
            "--memory-swap",
            f"{function.memory_mb}m",
        ]
        processor = [
            "--cpus",
            f"{function.memory_mb / WHOLE_PROCESSOR_MB:.2f}",
            "--cgroup-parent",
            self.work.name,
        ]
        sandbox = [
            "--read-only",
            "--volume",
            f"{self.tmp}:/tmp",
            "--user",
            NOBODY,
            "--network",
            "host",
        ]
        given = [
            option
            for name, value in environment.items()
            for option in ("--env", f"{name}={value}")
        ]
        command = [
            *self.podman,
            "run",
            "--detach",
            *limits,
            *memory,
            *processor,
            *sandbox,
            *given,
            IMAGE,
        ]
        return run([*command, function.handler]).strip()

    def _wait_until_ready(self, api: RuntimeApi, container: str) -> None:
        for _ in range(READY_SECONDS):
            try:
                return api.wait_until_ready(1.0)
            except FunctionError as error:
                if error.error_type != "Sandbox.Timedout":
                    raise
            state = run(
                [
                    *self.podman,
                    "inspect",
                    "--format",
                    "{{.State.Status}} {{.State.ExitCode}}",
                    container,
                ]
            )
            if not state.startswith(("running", "created")):
                raise Failed(
                    f"the container {state.strip()} before it was ready"
                )
        raise Failed(f"not ready after {READY_SECONDS} seconds")

    def _log(self, container: str) -> str:
        done = subprocess.run(
            [*self.podman, "logs", container],
            capture_output=True,
            text=True,
            check=False,
        )
        return (done.stdout + done.stderr)[-2000:]


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory for the image store, removed with all that podman and the kernel tied to it."""
    work = Path(mkdtemp(prefix="varve-image-test-"))
    try:
        yield work
    finally:
        if os.environ.get("IMAGE_TEST_KEEP") == "1":
            print(f"image-test: kept {work}")
        else:
            _remove(work)


def run(command: Sequence[str], check: bool = True) -> str:
    """The command's output. Raises Failed with its last lines when it fails and that matters."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if check and done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-25:])
        raise Failed(f"{command[0]} exited {done.returncode}:\n{tail}")
    return done.stdout


def _remove(work: Path) -> None:
    mounts = (
        line.split()[1]
        for line in Path("/proc/self/mounts").read_text().splitlines()
    )
    for mount in sorted(
        (point for point in mounts if point.startswith(f"{work}/")),
        reverse=True,
    ):
        run(["umount", "--lazy", mount], check=False)
    for group in sorted(
        Path("/sys/fs/cgroup").glob(f"**/{work.name}/**/"), reverse=True
    ):
        with suppress(
            OSError
        ):  # an empty control group left behind costs nothing
            group.rmdir()
    shutil.rmtree(work, ignore_errors=os.geteuid() != 0)
    if work.exists():  # rootless: files of mapped users can be removed from inside the mapping only
        run(["buildah", "unshare", "rm", "-rf", str(work)], check=False)


def _pip_settings() -> str:
    """Of this machine's pip settings those that a build needs to reach the index."""
    listed = (
        run(["pip", "config", "list"], check=False)
        if shutil.which("pip")
        else ""
    )
    wanted = re.findall(
        r"^[^.\n]+\.(index-url|extra-index-url|trusted-host|cert)='(.*)'$",
        listed,
        re.MULTILINE,
    )
    lines = dict.fromkeys(
        f"{key} = {value}\n"
        for key, value in wanted
        if not value.startswith("file:")
    )
    return "[global]\n" + "".join(lines)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise Failed(f"the Dockerfile has no line {pattern}")
    return match[1]
