"""The labelled state graph of a model, as TLC dumps it.

Edges are a set of (from, action, to): two actions that lead from one state to the same other state are
two edges, and the reader keeps them apart.
"""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from spec.manifest import Model
from spec.modules import module_files
from spec.tlc import DUMP, TIMEOUT, dumping, job_of, run, specification
from spec.tool_output import TlcError
from spec.values import State, parse_state

_LINE = re.compile(r'(-?\d+)(?: -> (-?\d+))? \[label="([^"\\]*(?:\\.[^"\\]*)*)"(.*)')


class StateGraph(NamedTuple):
    """Every reachable state and every transition."""

    nodes: dict[int, State]
    """By TLC's fingerprint: the state, a value for each variable."""
    edges: frozenset[tuple[int, str, int]]
    """(from, action, to), fingerprints at both ends."""
    initial: frozenset[int]
    """The fingerprints of the initial states."""


class GraphSyntaxError(TlcError):
    """A dump is not in the form in which TLC writes it."""


def kept_at(model: Model, folder: Path) -> Path:
    """The file of a model's dump. Its name depends on everything that the dump depends on."""
    texts = {path: file.read_bytes() for path, file in module_files().items()}
    texts[f"{model.name}.cfg"] = model.configuration_text().encode()
    digest = hashlib.sha256(b"\0".join(texts[name] for name in sorted(texts)))
    return folder / f"{model.name}-{digest.hexdigest()[:16]}.dot"


def state_graph(model: Model, timeout: float = TIMEOUT, kept: Path | None = None) -> StateGraph:
    """The whole state graph of a model, whether its properties hold or not.

    `kept`: a folder where its dump may lie, left there by a check of the same text; else TLC makes it.

    Raises:
        TlcError: TLC failed, or its dump does not have as many states as it counted.
    """
    if kept is not None and (dump := kept_at(model, kept)).is_file():
        return parse_graph(dump.read_text("utf-8"))
    with specification() as folder:
        job = job_of(model, model.configuration.unchecked())
        outcome = run(job, folder, dumping(folder), timeout)
        graph = parse_graph((folder / DUMP).read_text("utf-8"))
    if len(graph.nodes) != outcome.states:
        raise GraphSyntaxError(
            f"expected the {outcome.states} states that TLC counted in {model.name}, got {len(graph.nodes)} "
            "in its dump; run TLC by hand"
        )
    return graph


def parse_graph(text: str) -> StateGraph:
    """The graph in a dump of the form `dot,actionlabels`."""
    nodes: dict[int, State] = {}
    edges: set[tuple[int, str, int]] = set()
    initial: set[int] = set()
    known: dict[str, State] = {}
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            if "[label=" in line and line[:1] in "-0123456789":
                raise GraphSyntaxError(f"expected a node or an edge, got {line[:120]!r}; is this TLC 2.15?")
            continue
        source, target, label, rest = found.groups()
        if target is not None:
            edges.add((int(source), label, int(target)))
            continue
        if int(source) not in nodes:
            nodes[int(source)] = _state(_unescaped(label), known)
        if "filled" in rest:
            initial.add(int(source))
    dangling = {end for source, _, target in edges for end in (source, target)} - nodes.keys()
    if dangling:
        raise GraphSyntaxError(
            f"expected a state for every edge, got none for {len(dangling)} ends; run TLC by hand"
        )
    return StateGraph(nodes, frozenset(edges), frozenset(initial))


def _state(text: str, known: dict[str, State]) -> State:
    """A state, read variable by variable: most of their values have been read before."""
    state: State = {}
    for conjunct in re.split(r"\n(?=/\\)", text):
        if conjunct not in known:
            known[conjunct] = parse_state(conjunct)
        state |= known[conjunct]
    return state


def _unescaped(label: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
