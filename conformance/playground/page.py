"""The files of the playground: data, program and style, which the site adds beside docs/playground.md."""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from conformance.playground.graphs import as_data, graph_of
from conformance.playground.subjects import subjects
from conformance.rules.index import rule
from conformance.site import texts

_EXCERPTS = 2
"""Functions of the model shown for one rule at most; its page shows all."""


def files() -> Iterator[tuple[str, str]]:
    """The path below the site's root and the text of each file."""
    yield "playground/data.js", f"const PLAYGROUND = {_json(data())};\n"
    for name in ("playground.js", "playground.css"):
        text = resources.files("conformance.playground").joinpath("assets", name).read_text(encoding="utf-8")
        yield f"playground/{name}", text


def data() -> dict[str, Any]:
    """The graphs of all subjects, and each rule that fires in one."""
    graphs = [as_data(subject, graph_of(subject)) for subject in subjects()]
    fired = sorted({name for graph in graphs for name in graph["rules"]})
    return {"subjects": graphs, "rules": {name: _rule(name) for name in fired}}


def _rule(name: str) -> dict[str, Any]:
    known = rule(name)
    tla = texts.operator(known)
    steps = texts.model_steps(known)[:_EXCERPTS]
    return {
        "title": known.title,
        "must": known.must,
        "tla": _excerpt(tla),
        "python": [_excerpt(one) for one in steps],
    }


def _excerpt(excerpt: texts.Excerpt) -> list[str]:
    return [f"{excerpt.file}:{excerpt.line}", excerpt.text]


def _json(value: object) -> str:
    """JSON that a script may hold: no text of it ends the script."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).replace("</", "<\\/")
