"""Headless Chromium, driven by ChromeDriver, that reaches nothing but loopback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).parents[1] / "browser" / "axe" / "axe.min.js"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"], preload: false}).then(
    (found) => done(found.violations.map((one) => [
        one.impact, one.id, one.nodes.slice(0, 3).map((node) => node.html).join("\\n"),
    ])),
    (error) => done([["critical", "axe", String(error)]]),
);
"""


class Browser:
    """One window; `size` and `theme` hold until they are set again."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def size(self, width: int, height: int = 900) -> None:
        """Set the size of the window, in pixels; a narrow one is a phone's."""
        metrics = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": width < 600,
        }
        self.call("Emulation.setDeviceMetricsOverride", **metrics)

    def theme(self, name: str) -> None:
        """Prefer `light` or `dark` pages."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def scripts(self, enabled: bool) -> None:
        """Allow the pages' own scripts, or forbid them."""
        self.call("Emulation.setScriptExecutionDisabled", value=not enabled)

    def call(self, name: str, **given: Any) -> Any:
        """Call a method of the Chrome DevTools Protocol."""
        return self.driver.execute_cdp_cmd(name, given)

    def open(self, address: str) -> None:
        self.driver.get(address)

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Wait, after a click or a key, until another page has loaded.

        Chromium answers a click before the page changes, and without scripts
        it does not say when that happens.
        """
        wait = import_module("selenium.webdriver.support.wait")
        conditions = import_module(
            "selenium.webdriver.support.expected_conditions"
        )
        errors = import_module("selenium.common.exceptions")
        until = wait.WebDriverWait(
            self.driver, 30, 0.05, [errors.WebDriverException]
        ).until
        before = self.driver.find_element("tag name", "html")
        yield
        until(conditions.staleness_of(before))
        until(lambda _: self.run("return document.readyState") == "complete")

    def run(self, script: str, *given: Any) -> Any:
        """Return what a script returns; it runs in the page even if those are forbidden."""
        return self.driver.execute_script(script, *given)

    def text(self) -> str:
        return str(self.run("return document.querySelector('main').innerText"))

    def overflow(self) -> int:
        """Return how many pixels the page is wider than the window."""
        wide = "return document.documentElement.scrollWidth - innerWidth"
        return int(self.run(wide))

    def complaints(self) -> list[str]:
        """Return what the console has said since the last call."""
        return [one["message"] for one in self.driver.get_log("browser")]

    def faults(self) -> list[tuple[str, str, str]]:
        """Return the serious and critical faults of accessibility that axe-core finds."""
        self.run(AXE.read_text("utf-8"))
        found = self.driver.execute_async_script(_RUN_AXE)
        return [
            tuple(one) for one in found if one[0] in ("serious", "critical")
        ]


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """Start Chromium and end it with the block; skip the test if there is none."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="needs selenium"
    )
    service = pytest.importorskip("selenium.webdriver.chrome.service")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs Debian's packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(options, service.Service(driver))
    try:
        window.set_script_timeout(60)
        yield Browser(window)
    finally:
        window.quit()
