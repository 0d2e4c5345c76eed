"""Turns the names of pages and rules in a page of the checkout into links of the site.

In a checkout a page names another page by its path, as `docs/verify/vectors.md`, and a rule by its ID. On the
site, the path becomes a link with the title of that page, and the ID a link to the page of the rule.
Fenced blocks do not change. The comments above them, which state how the tests run a block, are removed.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from spec.rules import FAMILIES

_MARKS = re.compile(r"(?:^ *<!-- [^\n]* -->\n)+(?= *```)", re.MULTILINE)
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`[^`\n]+`|\[[^\]]*\]\([^)]*\))")
_PAGE = re.compile(r"`docs/([\w/-]+\.md)`")
_FOLDER = re.compile(r"`docs/([\w-]+)/`")
_RULE = re.compile(rf"(?<![\w/.#-])({'|'.join(FAMILIES)})-(\d\d)\b(?!\])")


def linked(text: str, own: str, titles: Mapping[str, str], rules: frozenset[str]) -> str:
    """The Markdown `text` of the page `own` with links.

    `titles`: the titles of the pages, by path below `docs/`. The name of a missing page becomes a link too,
    so that mkdocs reports it. `rules`: the IDs that have a page.
    """
    here = posixpath.dirname(own)

    def page(path: str) -> str:
        return f"[{titles.get(path, path)}]({posixpath.relpath(path, here or '.')})"

    def folder(found: re.Match[str], path: str) -> str:
        return page(path) if path in titles else found[0]

    def to_rule(name: str, shown: str) -> str:
        path = posixpath.relpath(f"reference/rules/{name}.md", here or ".")
        return f"[{shown}]({path})" if name in rules else shown

    def rule(found: re.Match[str]) -> str:
        return to_rule(found[0], found[0])

    def coded(span: str) -> str:
        return to_rule(span.strip("`"), span)

    def outside(part: str) -> str:
        part = _PAGE.sub(lambda found: page(found[1]), part)
        part = _FOLDER.sub(lambda found: folder(found, f"{found[1]}/README.md"), part)
        return "".join(
            coded(piece) if at % 2 else "".join(_lines(piece, rule))
            for at, piece in enumerate(_CODE.split(part))
        )

    return "".join(
        piece if at % 2 else outside(piece)
        for at, piece in enumerate(_FENCED.split(deepened(_MARKS.sub("", text))))
    )


def _lines(text: str, rule: Callable[[re.Match[str]], str]) -> Iterator[str]:
    """The lines with `rule` applied to each rule ID. Headings do not change: a heading is no link."""
    for line in text.splitlines(keepends=True):
        yield line if line.startswith("#") else _RULE.sub(rule, line)


def deepened(text: str) -> str:
    """The text with list items indented by four columns instead of two, as Python's Markdown requires."""
    done, in_list, fenced = [], False, False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and line.strip() and not line.startswith(" "):
            in_list = line.startswith("- ")
        done.append(f"  {line}" if in_list and line.startswith("  ") else line)
    return "".join(done)


def anchor(heading: str) -> str:
    """The anchor that Markdown gives a heading."""
    kept = re.sub(r"[^\w\s-]", "", heading).strip().lower()
    return re.sub(r"[-\s]+", "-", kept)
