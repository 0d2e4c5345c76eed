"""The built site in a browser, opened from a folder: its search, and rule pages at usual widths."""

from pathlib import Path

import pytest
from blocks import ROOT
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.browser import in_browser, opened

pytestmark = [in_browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built in the same way as by `make site`."""
    folder = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder))
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    return folder


def test_the_search_works_on_pages_opened_from_a_folder(site: Path):
    with opened(f"file://{site}/glossary.html") as page:
        page.locator(".md-search__input").fill("savepoint is never subsumed")
        found = page.locator(".md-search-result__item a").first
        found.wait_for()
        assert found.get_attribute("href") == f"file://{site}/reference/rules/SUB-04.html"


@pytest.mark.parametrize("width", [420, 800, 1280])
def test_a_rule_page_has_colours_neighbours_and_no_clipped_line(site: Path, width: int):
    with opened(f"file://{site}/reference/rules/ALIGN-03.html", width) as page:
        clipped = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).length"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".beside pre > code").evaluate_all(clipped) == 0
        scale = "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
        assert 11 * page.locator(".diagram svg.time").evaluate(scale) > 9  # pixels of its smallest text
        assert page.locator(".beside .nf").first.inner_text() == "ALIGN_03"  # marked by our lexer
        assert "ALIGN-02" in page.locator(".md-footer__link--prev").text_content()
        assert "ALIGN-04" in page.locator(".md-footer__link--next").text_content()


def test_the_text_of_a_state_graph_is_not_scaled_down(site: Path):
    with opened(f"file://{site}/pictures/index.html", 800) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
        small = "all => all.filter(one => one.width < one.naturalWidth).map(one => one.src)"
        assert page.locator('img[src$=".svg"]').evaluate_all(small) == []
