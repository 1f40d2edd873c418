"""A Ceph RADOS gateway on loopback, from Debian's packages: an S3 server that nobody here wrote.

`python -m tests.support.rados_gateway` runs the contract suites of the stores on it (`make contract-rgw`).
Arguments for pytest replace them: `make faults-rgw` plays seeds of the fault harness.

    apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-mgr

One monitor, one manager and one storage daemon that keeps everything in memory, all below a directory
that goes when it stops. The gateway does not start without cephx, so there are keys.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Self
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener
from uuid import uuid4

from tests.support.loopback import LOOPBACK

PROGRAMS = (
    "ceph",
    "ceph-mon",
    "ceph-mgr",
    "ceph-osd",
    "ceph-authtool",
    "monmaptool",
    "radosgw",
    "radosgw-admin",
)
PACKAGES = "radosgw ceph-mon ceph-osd ceph-mgr"
PATIENCE_SECONDS = 180
ALL_CAPS = (
    "--cap",
    "mon",
    "allow *",
    "--cap",
    "osd",
    "allow *",
    "--cap",
    "mgr",
    "allow *",
)
CONF = """\
[global]
fsid = {fsid}
mon_initial_members = a
mon_host = {address}
public_addr = {host}
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = {home}/keyring
log_file = {home}/$name.log
admin_socket = {home}/$name.asok
pid_file = {home}/$name.pid
run_dir = {home}
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
auth_allow_insecure_global_id_reclaim = false
mon_data_avail_crit = 1
[mon.a]
mon_data = {home}/mon
[mgr.x]
mgr_data = {home}/mgr
mgr_initial_modules =
[osd.0]
osd_data = {home}/osd
osd_objectstore = memstore
memstore_device_bytes = 2147483648
[client.rgw]
rgw_data = {home}/rgw
rgw_frontends = beast endpoint={host}:{port}
rgw_sts_key = testingtestingte
rgw_s3_auth_use_sts = true
"""


def missing_programs() -> list[str]:
    """Those of the programs that are not installed here."""
    return [program for program in PROGRAMS if shutil.which(program) is None]


class RadosGateway:
    """The cluster and its gateway; `with RadosGateway(directory) as gateway: gateway.endpoint`."""

    KEY = "testing"

    def __init__(self, home: Path) -> None:
        self._home = home
        self._port, monitor = _free_port(), _free_port()
        self._monitor = f"{LOOPBACK}:{monitor}"
        self._daemons: list[subprocess.Popen[bytes]] = []
        self.endpoint = f"http://{LOOPBACK}:{self._port}"

    def __enter__(self) -> Self:
        try:
            self._monitors()
            self._stores()
            self._gateway()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop()

    def _monitors(self) -> None:
        fsid, keyring, map_ = (
            str(uuid4()),
            self._home / "keyring",
            self._home / "monmap",
        )
        conf = CONF.format(
            fsid=fsid,
            home=self._home,
            host=LOOPBACK,
            port=self._port,
            address=self._monitor,
        )
        (self._home / "ceph.conf").write_text(conf)
        for name in ("mon", "mgr", "osd", "rgw"):
            (self._home / name).mkdir()
        _run("ceph-authtool", "--create-keyring", keyring)
        _run(
            "ceph-authtool",
            keyring,
            "--gen-key",
            "-n",
            "mon.",
            "--cap",
            "mon",
            "allow *",
        )
        for name in ("client.admin", "mgr.x", "osd.0", "client.rgw"):
            _run("ceph-authtool", keyring, "--gen-key", "-n", name, *ALL_CAPS)
        _run(
            "monmaptool",
            "--create",
            "--add",
            "a",
            self._monitor,
            "--fsid",
            fsid,
            map_,
        )
        self._run(
            "ceph-mon",
            "--mkfs",
            "-i",
            "a",
            "--monmap",
            map_,
            "--keyring",
            keyring,
        )
        self._start("ceph-mon", "-i", "a")
        self._run(
            "ceph", "--connect-timeout", str(PATIENCE_SECONDS), "mon", "stat"
        )
        self._start("ceph-mgr", "-i", "x")

    def _stores(self) -> None:
        osd = str(uuid4())
        self._run("ceph", "osd", "new", osd)
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self._start("ceph-osd", "-i", "0")
        self._until(
            "osd is up", lambda: b"1 up" in self._run("ceph", "osd", "stat")
        )

    def _gateway(self) -> None:
        self._start("radosgw", "-n", "client.rgw")
        self._until("gateway answers", self._answers)
        self._run(
            *(
                "radosgw-admin",
                "-n",
                "client.rgw",
                "user",
                "create",
                "--uid=tests",
                "--display-name=tests",
            ),
            *(f"--access-key={self.KEY}", f"--secret-key={self.KEY}"),
            "--caps=roles=*",
        )

    def _answers(self) -> bool:
        try:
            with build_opener(ProxyHandler({})).open(
                self.endpoint, timeout=5
            ) as reply:
                return reply.status == 200
        except (URLError, OSError):
            return False

    def _run(self, *command: object) -> bytes:
        return _run(command[0], "-c", self._home / "ceph.conf", *command[1:])

    def _start(self, *command: object) -> None:
        """In the foreground, so that they are this process's children and end with it."""
        given = [
            str(part)
            for part in (
                command[0],
                "-c",
                self._home / "ceph.conf",
                "-f",
                *command[1:],
            )
        ]
        with Path(os.devnull).open("wb") as nowhere:
            self._daemons.append(
                subprocess.Popen(given, stdout=nowhere, stderr=nowhere)
            )

    def _until(self, what: str, done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not done():
            if time.monotonic() > end or any(
                daemon.poll() is not None for daemon in self._daemons
            ):
                raise RuntimeError(f"not to be had: {what}\n{self._logs()}")
            time.sleep(0.5)

    def _logs(self) -> str:
        return "\n".join(
            path.read_text("utf-8", "replace")[-2_000:]
            for path in self._home.glob("*.log")
        )

    def _stop(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.kill()
            daemon.wait()


def _run(*command: object) -> bytes:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(
            f"{command[0]} {done.returncode}: {done.stderr.decode()[-2_000:]}"
        )
    return done.stdout


def _free_port() -> int:
    with socket() as taken:
        taken.bind((LOOPBACK, 0))
        return int(taken.getsockname()[1])


SUITES = (
    "objects", "records", "replica", "lance_upkeep", "lance_vectors", "stores", "graph", "profiles",
    "concurrent_writers", "purge_beside_writers", "concurrent_callers", "roles",
)  # fmt: skip
WITHOUT = (
    "ignores_if_none_match or a_missing_right or wants_tags_without_quotes"
)
"""Tests with servers of their own."""
CONTRACTS = [
    "-k",
    f"not ({WITHOUT})",
    *(f"tests/contract/test_{name}.py" for name in SUITES),
]


def main() -> int:
    """Run the suites, or what the arguments tell pytest, on a gateway; returns 0 where there is none."""
    if missing := missing_programs():
        print(
            f"NOT RUN: {', '.join(missing)} not installed (apt-get install {PACKAGES})"
        )
        return 0
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that the daemons end with this
    chosen = sys.argv[1:] or CONTRACTS
    with TemporaryDirectory() as home, RadosGateway(Path(home)) as gateway:
        print(f"Ceph RADOS gateway at {gateway.endpoint}", flush=True)
        given = {
            **os.environ,
            "VARVE_TEST_S3": gateway.endpoint,
            "VARVE_TEST_IAM": gateway.endpoint,
        }
        command = [sys.executable, "-m", "pytest", "-q", *chosen]
        return subprocess.run(command, env=given).returncode


if __name__ == "__main__":
    sys.exit(main())
