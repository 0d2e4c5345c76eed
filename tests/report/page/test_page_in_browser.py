"""The page in a browser: keyboard, rule texts on focus, both colour schemes, narrow and wide, and print.

It needs an installed Chromium. The tests download none.
"""

import sys
from pathlib import Path

import pytest

from conformance import cli
from conformance.verdict import Exit
from tests.browser import chromium, in_browser

ADAPTERS = Path(__file__).parents[2] / "adapters"
SIZES = (1280, 420)


pytestmark = [in_browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The page of a gate that forgets subsumption. The case has two steps, and the second one diverges."""
    folder = tmp_path_factory.mktemp("browser")
    adapter = f"{sys.executable} {ADAPTERS / 'gate_forgets_subsumption.py'}"
    command = ["conform", "--adapter", adapter, "--examples", "2", "--out", str(folder / "out")]
    assert cli.run([*command, "--html", str(folder / "page.html")]) == Exit.DIVERGES
    return folder / "page.html"


@pytest.fixture(scope="module")
def opened(browser, file):
    """The page, opened once; with the errors of its console and its network requests."""
    page = browser.new_page(viewport={"width": SIZES[0], "height": 900})
    page.set_default_timeout(10_000)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(file.as_uri())
    return page, heard


@pytest.fixture
def page(opened):
    """The page, reset to its first view without a focus."""
    page, _ = opened
    page.emulate_media(color_scheme="light", media="screen")
    page.set_viewport_size({"width": SIZES[0], "height": 900})
    page.evaluate("document.activeElement.blur()")
    page.locator("button[data-go=last]").click(force=True)
    page.evaluate("document.activeElement.blur()")
    return page


def where(page):
    return page.locator("output.where").inner_text()


def test_the_page_begins_at_the_divergence_and_makes_no_request(opened, file):
    page, heard = opened

    assert where(page) == "step 2 of 2: differs"
    assert heard == [file.as_uri()]


def test_the_keyboard_steps(page):
    page.keyboard.press("ArrowLeft")  # with nothing focused
    assert where(page) == "step 1 of 2"
    page.keyboard.press("j")  # a letter has no effect until the case has the focus
    assert where(page) == "step 1 of 2"
    page.locator("button[data-go=on]").focus()
    for key, answers in (
        ("j", "step 2 of 2: differs"),
        ("ArrowRight", "step 2 of 2: differs"),
        ("k", "step 1 of 2"),
        ("End", "step 2 of 2: differs"),
        ("Home", "step 1 of 2"),
        ("Control+j", "step 1 of 2"),
        ("Enter", "step 2 of 2: differs"),
    ):
        page.keyboard.press(key)
        assert where(page) == answers, key
    assert page.url.endswith("#case-1-step-2")


def test_everything_is_reached_with_the_tab_key(page):
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 12)"))
    assert {"To the conte", "First", "Previous", "Next", "Last", "1", "2", "ALIGN-03"} <= set(reached)


@pytest.mark.rule("ALIGN-03")
def test_a_step_shows_expected_beside_actual_and_marks_what_differs(page):
    detail = page.locator(".detail")

    assert detail.locator(".event b").inner_text() == "barrier 2 on 0"
    wrong = detail.locator(".effects tr.wrong").all_inner_texts()
    assert [row.split("\t") for row in wrong] == [["abort 1 (SUBSUMED) expected", "nothing"]]
    page.keyboard.press("ArrowLeft")
    assert detail.locator("tr.wrong").count() == 0
    assert detail.locator(".state th[scope=col]").all_inner_texts() == ["field", "model", "implementation"]
    assert page.locator("tr[aria-current=step]").get_attribute("data-step") == "1"


def test_a_click_into_the_diagram_goes_to_the_step(page):
    page.locator("svg.time rect.column").first.click(position={"x": 5, "y": 5})
    assert where(page) == "step 1 of 2"


def test_the_text_of_a_rule_appears_on_focus_and_on_hover_and_disappears_on_escape(page):
    tip = page.locator("#tip")
    assert tip.is_hidden()
    page.locator(".must a.rule").focus()
    assert "ends the alignment of the pending checkpoint" in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.evaluate("document.activeElement.blur()")
    page.locator(".chips a.rule").first.hover()
    assert "ALIGN-01" in tip.inner_text()
    page.mouse.move(2, 2)
    assert tip.is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_it_fits_and_can_be_read(page, scheme, width):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    paper = luminance(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    for kind in ("html", ".under", "a.rule", ".verdict", ".flag", ".detail .about", "td"):
        ink = luminance(page.evaluate(f"getComputedStyle(document.querySelector('{kind}')).color"))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, kind


def luminance(colour):
    """The luminance of `rgb(r, g, b)`, as the accessibility guidelines (WCAG) define it."""
    parts = [int(part) / 255 for part in colour.strip("rgb()").split(",")[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_on_paper_there_are_no_buttons_and_every_text_is_open(page):
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = false })")
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator("button[data-go=on]").is_hidden()
    assert page.locator(".column.current").evaluate("one => getComputedStyle(one).fill") == "none"
    assert page.locator("details:not([open])").count() == 0


def test_without_scripts_the_page_still_reports_everything(browser, file):
    page = browser.new_page(java_script_enabled=False)
    page.goto(file.as_uri())
    assert page.locator(".stepper").is_hidden()
    assert page.locator("table.steps tbody tr").count() == 2
    assert "abort 1 (SUBSUMED)" in page.locator("table.steps").inner_text()
    assert page.locator("svg.time rect.column.wrong").count() == 1
