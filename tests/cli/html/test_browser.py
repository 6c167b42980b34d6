"""Pages in a real browser, which shows them without a word, without the network, on any screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kit.browser import Browser
from kit.make_samples import DATA, example, frame
from kit.pages import hostile_files, png
from kit.program import run
from pytest import TempPathFactory, fixture, mark

pytestmark = mark.browser
PAGES = ("verify", "stat", "head", "schema")


@fixture(scope="module")
def pages(tmp_path_factory: TempPathFactory) -> Path:
    """A page of each command, over sound, damaged and hostile files with images."""
    folder = tmp_path_factory.mktemp("pages")
    names = hostile_files(folder)
    images = b"".join(frame(example((b"image", [png(40, 30), png(9, 9)]), (b"n", [n]))) for n in range(3))
    (folder / "images").write_bytes(images)
    (folder / ("long-" * 40)).write_bytes(images)
    for command in PAGES:
        inputs = [DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord", "images", "long-" * 40, *names]
        assert run(command, "--html", f"{command}.html", "--", *inputs, cwd=folder).returncode == 3
    return folder


@fixture(scope="module")
def sample_pages(tmp_path_factory: TempPathFactory) -> Path:
    """A page of each command, over the samples."""
    folder = tmp_path_factory.mktemp("samples")
    for command in PAGES:
        inputs = [DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"]
        assert run(command, "--html", f"{command}.html", *inputs, cwd=folder).returncode in (0, 1)
    return folder


@fixture(scope="module")
def browser(tmp_path_factory: TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as one:
        yield one


@mark.parametrize("command", PAGES)
def test_a_page_loads_without_a_complaint_and_without_the_network(browser: Browser, pages: Path, command: str) -> None:
    page = pages / f"{command}.html"
    browser.open(page)
    assert browser.evaluate("window.hurt === undefined && document.querySelectorAll('h1').length === 1")
    assert [url for url in browser.requests if not url.startswith("data:")] == [page.as_uri()]
    assert browser.complaints == []


@mark.parametrize("command", PAGES)
@mark.parametrize("width", [320, 700, 1400])
def test_a_page_is_no_wider_than_its_screen(browser: Browser, pages: Path, command: str, width: int) -> None:
    browser.look(width)
    browser.open(pages / f"{command}.html")
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width


@mark.parametrize("command", PAGES)
@mark.parametrize("width", [360, 700, 970, 1000, 1230])
def test_a_table_of_samples_needs_no_scrolling(browser: Browser, sample_pages: Path, command: str, width: int) -> None:
    browser.look(width)
    browser.open(sample_pages / f"{command}.html")
    boxes = "[...document.querySelectorAll('.scroll')]"
    assert browser.evaluate(f"{boxes}.length > 0 && {boxes}.every(box => box.scrollWidth <= box.clientWidth)")


@mark.parametrize("command", PAGES)
def test_no_table_is_wider_than_a_sheet_of_paper(browser: Browser, pages: Path, command: str) -> None:
    browser.look(700, media="print")
    browser.open(pages / f"{command}.html")
    tables = "Math.max(...[...document.querySelectorAll('table')].map(t => t.getBoundingClientRect().right))"
    assert browser.evaluate(tables) <= 700
    browser.look(700)


def test_a_click_on_a_heading_sorts_its_table_and_another_turns_it_around(browser: Browser, pages: Path) -> None:
    browser.look(1200)
    browser.open(pages / "stat.html")
    column = "[...document.querySelectorAll('table.sorts tbody tr')].map(row => row.cells[3].dataset.value ?? '')"
    click = "document.querySelectorAll('table.sorts th button')[3].click()"
    before = browser.evaluate(column)
    sizes = sorted(map(int, filter(None, before)))
    empty = [""] * (len(before) - len(sizes))
    browser.evaluate(click)
    assert browser.evaluate(column) == [*map(str, sizes), *empty] != before
    assert (
        browser.evaluate(
            "document.querySelectorAll('th')[3 + document.querySelectorAll('.histogram th').length].ariaSort"
        )
        == "ascending"
    )
    browser.evaluate(click)
    assert browser.evaluate(column) == [*map(str, reversed(sizes)), *empty]
    assert browser.complaints == []


def test_words_are_sorted_with_their_numbers_in_order(browser: Browser, pages: Path) -> None:
    browser.open(pages / "verify.html")
    browser.evaluate("document.querySelector('table.sorts th button').click()")
    names = browser.evaluate(
        "[...document.querySelector('table.sorts').tBodies[0].rows].map(r => r.cells[0].innerText)"
    )
    assert names.index("images") < names.index("no<such>file")


def test_images_are_drawn(browser: Browser, pages: Path) -> None:
    browser.open(pages / "head.html")
    sizes = browser.evaluate("[...document.images].map(image => image.naturalWidth + 'x' + image.naturalHeight)")
    assert sizes == ["40x30", "9x9"] * 6


def test_the_ground_is_light_or_dark_as_the_reader_wishes_and_light_on_paper(browser: Browser, pages: Path) -> None:
    browser.open(pages / "verify.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    found = []
    for scheme, media in (("light", ""), ("dark", ""), ("dark", "print")):
        browser.look(800, scheme=scheme, media=media)
        found.append(browser.evaluate(ground))
    browser.look(800)
    assert found[0] == found[2] == "rgb(255, 255, 255)" != found[1]


def test_without_scripts_all_is_there_and_nothing_offers_to_sort(browser: Browser, pages: Path) -> None:
    browser.look(1400)
    browser.open(pages / "verify.html")
    text = browser.evaluate("document.body.innerText")
    browser.do("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(pages / "verify.html")
    assert browser.evaluate("document.body.innerText") == text
    assert browser.evaluate("document.querySelectorAll('button').length") == 0
    browser.do("Emulation.setScriptExecutionDisabled", value=False)


def test_the_policy_stops_a_script_that_was_smuggled_in(browser: Browser, pages: Path) -> None:
    browser.open(pages / "verify.html")
    smuggle = "const s = document.createElement('script'); s.text = 'window.hurt = 1'; document.body.append(s)"
    browser.evaluate(smuggle)
    assert browser.evaluate("window.hurt === undefined")
    assert browser.complaints != []
