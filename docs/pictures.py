"""Take the pictures of the pages that docs/look.md shows, from the project's own corpus.

Run: `make pictures`. It needs Debian's packages chromium and chromium-driver.
"""

import base64
import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.support.browser import Browser, open_browser
from tests.support.look import served
from varve import Memory

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
CORPUS = HERE.parent / "tests" / "corpus"
NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
WORKSPACE, AGENT = "northwind", "assistant"
GRAINS = ("working", "daily", "weekly", "monthly", "quarterly", "yearly")
DESK, PHONE = 1200, 390


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, the size of the window and the theme."""

    name: str
    path: str
    width: int
    height: int
    theme: str


def main() -> None:
    """Fill a memory with the corpus and take all pictures."""
    with tempfile.TemporaryDirectory() as directory:
        memory = build_memory(Path(directory) / "store")
        (found, *_) = memory.search(
            "Dana moved to Porto", memory_types=["fact"]
        ).results
        pictures = [
            Picture("timeline", "/", DESK, 1000, "light"),
            Picture(
                "search", "/search?q=where+does+Dana+live", DESK, 900, "light"
            ),
            Picture(
                "entity", "/entity/Dana?at=2026-05-01", DESK, 860, "light"
            ),
            Picture("record", f"/record/{found.id}", PHONE, 844, "dark"),
        ]
        with (
            served(memory) as server,
            open_browser(Path(directory) / "profile") as browser,
        ):
            browser.open(server.address)
            take(browser, f"http://127.0.0.1:{server.server_port}", pictures)


def build_memory(store: Path) -> Memory:
    """Return a memory of the corpus, with its summaries, that keeps everything."""
    memory = Memory.open(
        store, workspace=WORKSPACE, agent=AGENT, now=NOW, environment={}
    )
    for grain in GRAINS:
        memory.configure(f"retention.{grain}", "50 years")
    for path in sorted(CORPUS.glob(f"{WORKSPACE}-*.json")):
        memory.ingest(json.loads(path.read_text("utf-8")))
    memory.summarize()
    return memory


def take(browser: Browser, base: str, pictures: Iterable[Picture]) -> None:
    """Write the pictures, each of the first screen of its page."""
    PICTURES.mkdir(exist_ok=True)
    for picture in pictures:
        browser.size(picture.width, picture.height)
        browser.theme(picture.theme)
        browser.open(base + picture.path)
        shot = browser.call("Page.captureScreenshot", format="png")
        path = PICTURES / f"{picture.name}.png"
        path.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
