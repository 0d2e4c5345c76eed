"""Writes a diagram as an HTML figure, and makes the template environment of pages with figures."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance import escape
from conformance.diagram.elements import Diagram
from conformance.diagram.lanes import BANDS, LOOKS
from conformance.diagram.layout import laid_out

TEMPLATE, STYLE = "diagram.html.jinja", "diagram.css"


def figure(diagram: Diagram, number: int = 1, sides: tuple[str, str] = ("model", "implementation")) -> Markup:
    """The figure with its legend. Equal diagrams give equal text.

    `number` makes its identifiers unique in a page; `sides` names the two sides that may differ. The page
    needs the CSS of `style()`.
    """
    macros: Any = environment("conformance.diagram").get_template(TEMPLATE).module
    return Markup(macros.figure(laid_out(diagram), diagram.looks(), number, sides))


def style() -> str:
    """The CSS of figures. Its colours are variables that the page sets."""
    return resource("conformance.diagram", STYLE)


@cache
def resource(package: str, name: str) -> str:
    """A file of the folder `assets` of a package."""
    return resources.files(package).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def environment(package: str) -> Environment:
    """The templates of a package. They escape inserted values and their invisible characters."""
    made = Environment(
        loader=FunctionLoader(lambda name: resource(package, name)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    names: Mapping[str, object] = {"looks": LOOKS, "bands": BANDS, "figure": figure}
    made.globals.update(names)
    return made


def _visible(value: object) -> object:
    """A value for the page, with invisible characters escaped. Markup of this project stays unchanged."""
    return escape.block(value) if isinstance(value, str) and not isinstance(value, Markup) else value
