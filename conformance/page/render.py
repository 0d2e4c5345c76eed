"""The page as text: the template filled, style and program put into it, nothing left outside.

The page allows itself no source but its own: a policy names the hashes of its one style and its one program.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance import escape
from conformance.page import details
from conformance.page.diagram import BANDS, LOOKS
from conformance.page.document import Page
from conformance.page.layout import laid_out
from conformance.report.divergence import phrases
from conformance.verdict import Verdict
from conformance.version import own_version

TEMPLATE, STYLE, PROGRAM = "page.html.jinja", "page.css", "page.js"


def write(page: Page, file: Path) -> None:
    """Write the page."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(html(page), encoding="utf-8")


def html(page: Page) -> str:
    """The page; the same run is always the same text."""
    cited = page.cited()
    style, program = resource(STYLE), resource(PROGRAM)
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            page=page,
            version=own_version(),
            sheets=[laid_out(case.diagram) for case in page.cases],
            rules={rule: details.rule_text(rule) for rule in cited},
            data=details.embedded(details.data(page.cases, cited)),
            style=style,
            program=program,
            style_hash=_hash(style),
            program_hash=_hash(program),
        )
    )


@cache
def resource(name: str) -> str:
    """A file that is shipped beside this module."""
    return resources.files("conformance.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    loaded: Callable[[str], Any] = resource
    made = Environment(
        loader=FunctionLoader(loaded),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    made.globals.update(
        looks=LOOKS,
        bands=BANDS,
        event=phrases.of_event,
        effects=details.effects_of,
        effect_rows=details.effect_rows,
        marks={Verdict.CONFORMS: "PASS", Verdict.DIVERGES: "FAIL", Verdict.UNDETERMINED: "not judged"},
    )
    return made


def _visible(value: object) -> object:
    """What is put into the page, each character of it seen; what is marked as safe is ours."""
    return escape.block(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
