"""The installed Chromium, for tests that open pages. The tests download no browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)

in_browser = pytest.mark.skipif(
    BROWSER is None,
    reason=f"expected one of {', '.join(NAMES)}, found none: apt-get install chromium, or set CHROMIUM",
)


@contextmanager
def chromium() -> "Iterator[Browser]":
    """A running browser. The fixture closes it at the end."""
    from playwright.sync_api import sync_playwright  # only processes that run these tests load it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(url: str, width: int = 1280, scheme: str = "light") -> "Iterator[Page]":
    """The page at this address. Fails if one of its scripts has raised an error."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        yield page
    assert errors == []
