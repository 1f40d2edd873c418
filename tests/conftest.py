"""What every test shares: no network but loopback, examples that take the time they need, and clocks that
do not show UTC, for what is right on a machine at UTC alone is wrong on its owner's."""

import os
import signal
import sys
import time

import pytest
from hypothesis import settings

os.environ["TZ"] = "Pacific/Chatham"  # 12:45 h ahead, 13:45 h in summer
if hasattr(time, "tzset"):  # not on Windows
    time.tzset()

# The tests start hundreds of processes: compiled modules halve the time that each takes to begin.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A worker a core is enough: threads that wait for each other took a tenth of the suite's time.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

# A shell starts background jobs with SIGINT ignored, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples of one property mostly take the same path: a night's run has the many.
settings.register_profile("project", deadline=None, max_examples=25)
settings.register_profile("nightly", deadline=None, max_examples=500)
settings.load_profile(
    "nightly" if "VARVE_NIGHTLY" in os.environ else "project"
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(
            pytest.mark.allow_hosts(["127.0.0.1", "::1", "localhost"])
        )
