"""Makes the text of the page from the template. The page contains its style and its program.

The page loads nothing: its content security policy permits only its own style and program, by their hashes.
"""

import hashlib
from base64 import b64encode
from functools import cache
from pathlib import Path

from jinja2 import Environment

from conformance.diagram import figure
from conformance.diagram.figure import environment, resource
from conformance.page import details
from conformance.page.document import Page
from conformance.report.divergence import phrases
from conformance.version import own_version

TEMPLATE, STYLE, PROGRAM = "page.html.jinja", "page.css", "page.js"


def write(page: Page, file: Path) -> None:
    """Write the page to the file. The folder is made if it does not exist."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(html(page), encoding="utf-8")


def html(page: Page) -> str:
    """The page as HTML; equal runs give equal text."""
    cited = page.cited()
    style, program = (
        figure.style() + resource("conformance.page", STYLE),
        resource("conformance.page", PROGRAM),
    )
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            page=page,
            version=own_version(),
            rules={rule: details.rule_text(rule) for rule in cited},
            data=details.embedded(details.data(page.cases, cited)),
            style=style,
            program=program,
            style_hash=_hash(style),
            program_hash=_hash(program),
        )
    )


@cache
def _environment() -> Environment:
    made = environment("conformance.page")
    made.globals.update(event=phrases.of_event, effects=details.effects_of)
    return made


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
