"""What every test shares: no network but loopback, and examples that take the time they need."""

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.allow_hosts(["127.0.0.1", "::1", "localhost"]))
