"""The functions that mkdocs calls while it builds the site (`mkdocs.yml`). No other module uses mkdocs.

They add the generated pages to the files of the site. README is the first page, CHANGELOG a reference page.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from conformance.diagram import figure
from conformance.playground import page as playground
from conformance.site import command_pages, rule_pages, tla_lexer
from conformance.site.links import linked
from spec.rules import load_rules

FROM_THE_ROOT = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
"""Pages of the site whose files are outside of `docs/`: their path in the site, and their file."""
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*>")
"""References that a browser would fetch from another server."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of rules into the navigation, and register the lexer of TLA+ with Pygments."""
    tla_lexer.register()
    for section in config.nav or ():
        for entry in section.get("Reference", ()):
            if isinstance(entry, dict) and "Rules" in entry:
                entry["Rules"] += [{family: pages} for family, pages in rule_pages.navigation().items()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated files."""
    root = Path(config.config_file_path or ".").parent
    made = [*command_pages.pages(), *rule_pages.pages(root), *playground.files()]
    made += [(path, (root / name).read_text(encoding="utf-8")) for path, name in FROM_THE_ROOT.items()]
    made += _assets()
    for path, text in made:
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the Markdown of a page with links in place of the names of pages and rules."""
    del config
    return linked(markdown, page.file.src_uri, _titles(files), _rules())


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Return the page unchanged. Raises PluginError if it loads a file from another server."""
    del config
    if loaded := _LOADED.search(output):
        raise PluginError(
            f"{page.file.src_uri}: expected nothing from elsewhere, got {loaded[0]}; leave it out"
        )
    return output


def _assets() -> Iterator[tuple[str, str]]:
    yield f"assets/{figure.STYLE}", figure.style()
    for asset in resources.files("conformance.site").joinpath("assets").iterdir():
        yield f"assets/{asset.name}", asset.read_text(encoding="utf-8")


@cache
def _titles(files: Files) -> dict[str, str]:
    return {
        file.src_uri: found[1] if (found := _TITLE.search(file.content_string)) else file.src_uri
        for file in files.documentation_pages()
    }


@cache
def _rules() -> frozenset[str]:
    return frozenset(rule.id for rule in load_rules())
