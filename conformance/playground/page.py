"""The files of the playground: data, program and style, which the site adds to docs/playground.md.

The data are the complete state graphs of small closed models: every reachable state, and every event that may
come in it, with the effects and the rules of its step. The page steps through them without the Python model.
Each title states the bounds of the closed model.
"""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from conformance.playground.subjects import Subject, View, subjects
from conformance.rules.index import rule
from conformance.site import texts
from model.checker.explore import explore

_EXCERPTS = 2
"""Maximum number of functions of the model that are shown for a rule; the page of the rule shows all."""


def files() -> Iterator[tuple[str, str]]:
    """Yields each file: its path below the root of the site, and its text."""
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
    """The value as JSON for a script element; no text in it can end the element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).replace("</", "<\\/")


MOST_STATES = 2_500
"""The maximum number of states of a graph. With larger graphs the page opens slowly."""


class Edge(NamedTuple):
    """One event in one state."""

    label: str
    group: str
    """The target of the event, such as `channel 0`."""
    effects: tuple[str, ...]
    rules: tuple[str, ...]
    target: int


class Graph(NamedTuple):
    """Every state of a closed model; state 0 is the start."""

    views: tuple[View, ...]
    edges: tuple[tuple[Edge, ...], ...]
    """The events of each state, by the number of the state."""


def graph_of(subject: Subject) -> Graph:
    """The whole graph of a subject, as the explorer finds it. Raises TooManyStatesError."""
    found = explore(subject.closed, limit=MOST_STATES)
    edges: list[list[Edge]] = [[] for _ in found.nodes]
    for source, action, event, (after, effects, rules), target in found.transitions:
        texts = tuple(subject.effect(after, one) for one in effects)
        label, group = subject.label(action, event), subject.group(event)
        edges[source].append(Edge(label, group, texts, tuple(dict.fromkeys(rules)), target))
    return Graph(tuple(subject.view(state) for state, _ in found.nodes), tuple(map(tuple, edges)))


def as_data(subject: Subject, graph: Graph) -> dict[str, Any]:
    """The graph as JSON values. Each effect, rule and group is listed once; edges hold its position."""
    effects: dict[str, int] = {}
    rules: dict[str, int] = {}

    def numbered(words: tuple[str, ...], known: dict[str, int]) -> list[int]:
        return [known.setdefault(word, len(known)) for word in words]

    groups = {name: at for at, name in enumerate(sorted({one.group for some in graph.edges for one in some}))}
    edges = [
        [
            [
                one.label,
                numbered(one.effects, effects),
                numbered(one.rules, rules),
                one.target,
                groups[one.group],
            ]
            for one in some
        ]
        for some in graph.edges
    ]
    return {
        "name": subject.name,
        "title": subject.title,
        "intro": subject.intro,
        "views": [
            [
                list(map(list, view.fields)),
                [[lane.name, lane.status, list(lane.items)] for lane in view.lanes],
            ]
            for view in graph.views
        ],
        "edges": edges,
        "effects": list(effects),
        "rules": list(rules),
        "groups": list(groups),
    }
