"""What every test shares: no network but loopback, examples that take the time they need, and clocks that
do not show UTC, for what is right on a machine at UTC alone is wrong on its owner's."""

import os
import time

import pytest
from hypothesis import settings

os.environ["TZ"] = "Pacific/Chatham"  # 12:45 h ahead, 13:45 h in summer
if hasattr(time, "tzset"):  # not on Windows
    time.tzset()

settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.allow_hosts(["127.0.0.1", "::1", "localhost"]))
