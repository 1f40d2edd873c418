"""The pages in headless Chromium: two widths, two themes, with and without JavaScript."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.support.browser import AXE, Browser, open_browser
from tests.support.look import count_models, open_told, served
from varve import Memory
from varve.look.drawing import draw_svg
from varve.look.files import write_pages
from varve.look.server import LookServer

WIDTHS = (390, 1280)
THEMES = ("light", "dark")
LOOKS = (
    list(product(WIDTHS, THEMES))
    if "VARVE_NIGHTLY" in os.environ
    else [(390, "dark"), (1280, "light")]
)
"""By day each width and each theme once."""
PAPER = {"light": "rgb(251, 249, 245)", "dark": "rgb(23, 21, 18)"}
HOSTILE = (
    "<img src=x onerror=\"document.title='pwned'\">\u202etxt.exe " + "W" * 400
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = open_told(tmp_path_factory.mktemp("look") / "store")
    said = {"id": "h", "role": "user", "content": HOSTILE}
    said["timestamp"] = "2026-04-18T09:00:00Z"
    memory.ingest(
        {"conversationId": "h", "userId": "u-<i>h", "messages": [said]}
    )
    with memory.graph as graph:
        graph.insert_facts(
            [
                {
                    "source_id": "Hub",
                    "label": f"likes_{n}",
                    "target_id": f"{text} {n}",
                }
                for n in range(50)
                for text in (
                    "tea",
                    "W" * 90,
                    "東京都",
                    "a long name of a thing",
                )
            ]
        )
        graph.insert_facts(
            [{"source_id": "Hub", "label": "says", "target_id": HOSTILE}]
        )
    memory.experience.lessons.add(
        "Book movers two weeks before.",
        when="moving house to another city",
        then="book the movers early",
        evidence=[memory.experience.episodes()[0]["id"]],
    )
    count_models(memory)
    return memory


@pytest.fixture(scope="module")
def server(memory: Memory) -> Iterator[LookServer]:
    with served(memory) as server:
        yield server


@pytest.fixture(scope="module")
def base(server: LookServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def opened(
    server: LookServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        browser.open(server.address)
        yield browser


@pytest.fixture
def browser(opened: Browser) -> Iterator[Browser]:
    """The window, with scripts, in light colours, and with nothing to complain of."""
    opened.scripts(True)
    opened.theme("light")
    opened.size(1280)
    opened.complaints()
    yield opened
    opened.scripts(True)


@pytest.fixture(scope="module")
def pages(memory: Memory) -> list[str]:
    """The address of a page of every sort."""
    (fact, *_) = memory.search(
        "Dana moved to Lisbon", memory_types=["fact"]
    ).results
    (summary, *_) = memory.search(grain="weekly").results
    episode = memory.experience.episodes()[0]["id"]
    lesson = memory.experience.lessons.all()[0].id
    return [
        "/",
        "/period/2026",
        "/period/2026-W09",
        "/period/2026-02-23",
        "/period/2026-04-18",
        "/conversation/2026-02-23/c-1",
        "/conversation/2026-04-18/h",
        "/search",
        "/search?q=where+does+Dana+live",
        f"/record/{fact.id}",
        f"/record/{summary.id}",
        "/entities",
        "/entity/dana",
        "/entity/dana?at=2026-03-01",
        "/entity/hub",
        "/users",
        "/user/u-dana",
        "/experience",
        f"/episode/{episode}",
        f"/lesson/{lesson}",
        "/notes",
        "/note/kestrel.md/u-marco",
        "/health",
        "/costs",
        "/costs/2026-03",
        "/help",
        "/nowhere",
    ]


def test_axe_is_the_version_that_its_readme_names() -> None:
    digest = hashlib.sha256(AXE.read_bytes()).hexdigest()
    assert digest in (AXE.parent / "README.md").read_text("utf-8")


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_has_a_serious_fault(
    browser: Browser, base: str, pages: list[str], width: int, theme: str
) -> None:
    browser.size(width)
    browser.theme(theme)
    found: list[object] = []
    for page in pages:
        browser.open(base + page)
        paper = (
            "return getComputedStyle(document.documentElement).backgroundColor"
        )
        assert browser.run(paper) == PAPER[theme]
        complaints = [one for one in browser.complaints() if "404" not in one]
        found += [(page, one) for one in (*browser.faults(), *complaints)]
        if browser.overflow() > 0:
            found.append(
                (page, "is wider than the window", browser.overflow())
            )
        elsewhere = """return performance.getEntriesByType("resource")
            .map((one) => one.name).filter((name) => !name.startsWith(arguments[0]))"""
        found += [(page, "asks", one) for one in browser.run(elsewhere, base)]
    assert found == []


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_says_the_same_without_javascript(
    browser: Browser, base: str, pages: list[str], width: int
) -> None:
    browser.size(width)
    for page in pages:
        browser.scripts(True)
        browser.open(base + page)
        said = browser.text().replace("copy", "").split()
        browser.scripts(False)
        browser.open(base + page)
        assert browser.text().split() == said, page
        assert browser.overflow() <= 0, page


def test_search_and_slider_work_without_javascript(
    browser: Browser, base: str
) -> None:
    browser.scripts(False)
    browser.open(base + "/")
    field = browser.driver.find_element("id", "find")
    field.send_keys("where does Dana live")
    with browser.loading():
        field.submit()
    assert "/search?q=where" in browser.driver.current_url
    assert "Porto" in browser.text()
    browser.open(base + "/entity/dana")
    slider = browser.driver.find_element("id", "day")
    slider.send_keys("\ue011")  # Home: the earliest day
    with browser.loading():
        browser.driver.find_element("css selector", ".slider button").click()
    held = (
        browser.text().partition("What held")[2].partition("Neighbours now")[0]
    )
    assert "Leeds" in held
    assert "Porto" not in held


def test_the_pyramid_can_be_walked_with_the_keyboard_alone(
    browser: Browser, base: str
) -> None:
    browser.open(base + "/")
    for label in ("2026", "2026-Q1", "2026-02", "2026-W09", "2026-02-23"):
        while not browser.driver.current_url.endswith(f"/period/{label}"):
            press(browser, "j")
            focus = browser.driver.switch_to.active_element
            if str(focus.get_attribute("href")).endswith(f"/period/{label}"):
                with browser.loading():
                    focus.send_keys("\ue007")  # Enter
    with browser.loading():
        press(browser, "u")
    assert browser.driver.current_url.endswith("/period/2026-W09")
    press(browser, "/")
    assert (
        browser.driver.switch_to.active_element.get_attribute("id") == "find"
    )


def press(browser: Browser, key: str) -> None:
    browser.driver.switch_to.active_element.send_keys(key)


def test_keys_lead_to_the_help_and_do_nothing_in_a_field(
    browser: Browser, base: str
) -> None:
    browser.open(base + "/")
    with browser.loading():
        press(browser, "?")
    assert browser.driver.current_url.endswith("/help")
    browser.driver.find_element("id", "find").send_keys("u?j/")
    assert browser.driver.current_url.endswith("/help")


def test_the_first_stop_of_the_keyboard_skips_to_the_content(
    browser: Browser, base: str
) -> None:
    browser.open(base + "/")
    press(browser, "\ue004")  # Tab
    focus = browser.driver.switch_to.active_element
    assert focus.text == "Skip to the content"
    focus.send_keys("\ue007")
    assert browser.run("return document.activeElement.id") == "content"


def test_hostile_words_are_shown_and_not_obeyed(
    browser: Browser, base: str
) -> None:
    for page in (
        "/conversation/2026-04-18/h",
        "/period/2026-04-18",
        "/search?q=txt.exe",
        "/entity/hub",
        "/users",
    ):
        browser.open(base + page)
        assert browser.run("return document.title").endswith("varve")
        assert browser.run("return document.images.length") == 0
        assert browser.complaints() == []
    browser.open(base + "/conversation/2026-04-18/h")
    assert HOSTILE.split()[0] in browser.text()


_TEXT_BOXES = """
return [...document.querySelectorAll("svg.tree text, svg[role=img] text")].map((text) => {
    const box = text.getBBox();
    return [box.x, box.y, box.x + box.width, box.y + box.height];
})"""


def test_no_label_of_a_drawing_is_cut_or_lies_on_another(
    browser: Browser, base: str, memory: Memory, tmp_path: Path
) -> None:
    found = memory.graph.neighbourhood("Hub", most=200)
    file = tmp_path / "hub.svg"
    file.write_text(
        draw_svg(found.edges, "Hub", "hub", found.left_out), "utf-8"
    )
    for address in (base + "/entity/hub", file.as_uri()):
        browser.open(address)
        width, height = browser.run(
            "const box = document.querySelector('svg.tree, svg[role=img]').viewBox.baseVal;"
            "return [box.width, box.height]"
        )
        boxes = browser.run(_TEXT_BOXES)
        assert len(boxes) > 200
        bottom = 0.0
        for left, top, right, low in sorted(boxes, key=lambda box: box[1]):
            assert left >= 0
            assert right <= width
            assert low <= height
            assert top >= bottom - 1.5  # line boxes may touch
            bottom = low


def test_the_files_work_from_the_disk(
    browser: Browser, tmp_path: Path
) -> None:
    memory = open_told(tmp_path / "store")
    written = write_pages(memory, "./memory", tmp_path / "out")
    browser.open(written.index.as_uri())
    paper = "return getComputedStyle(document.documentElement).backgroundColor"
    assert browser.run(paper) == PAPER["light"]
    assert browser.faults() == []
    with browser.loading():
        browser.driver.find_element("link text", "2026").click()
    assert "Quarters" in browser.text()
    with browser.loading():
        press(browser, "u")
    assert browser.driver.current_url.endswith("index.html")
    assert browser.complaints() == []
