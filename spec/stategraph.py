"""The labelled state graph of a model, read from the dump that TLC writes.

An edge is a triple (from, action, to). Two actions that lead from one state to the same other state are
therefore two edges.
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
    """Maps TLC's fingerprint of a state to the state: a value for each variable."""
    edges: frozenset[tuple[int, str, int]]
    """(from, action, to). `from` and `to` are fingerprints."""
    initial: frozenset[int]
    """The fingerprints of the initial states."""


class GraphSyntaxError(TlcError):
    """A dump does not have the form in which TLC writes dumps, or it is incomplete."""


def kept_at(model: Model, folder: Path) -> Path:
    """The path of a model's dump in `folder`. The name has a digest of all modules and the configuration."""
    texts = {path: file.read_bytes() for path, file in module_files().items()}
    texts[f"{model.name}.cfg"] = model.configuration_text().encode()
    digest = hashlib.sha256(b"\0".join(texts[name] for name in sorted(texts)))
    return folder / f"{model.name}-{digest.hexdigest()[:16]}.dot"


def state_graph(model: Model, timeout: float = TIMEOUT, kept: Path | None = None) -> StateGraph:
    """Returns the whole state graph of a model, also of a model that violates its properties.

    `kept`: a folder that may already contain the dump, from a check of the same texts. Else TLC makes it.

    Raises:
        TlcError: TLC failed, or its dump has another number of states than TLC has counted.
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
    """Parses a dump in TLC's format `dot,actionlabels`. Raises GraphSyntaxError if it has another form."""
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
            f"expected a state for every edge, got none at {len(dangling)} ends; run TLC by hand"
        )
    return StateGraph(nodes, frozenset(edges), frozenset(initial))


def _state(text: str, known: dict[str, State]) -> State:
    """Parses a state variable by variable. `known` caches the parsed texts, because most of them recur."""
    state: State = {}
    for conjunct in re.split(r"\n(?=/\\)", text):
        if conjunct not in known:
            known[conjunct] = parse_state(conjunct)
        state |= known[conjunct]
    return state


def _unescaped(label: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
