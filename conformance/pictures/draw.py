"""Draws a state graph as SVG; Graphviz computes the layout."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.pictures.graph import Drawn

PROGRAM = "graphviz-pure"
"""Graphviz as a package of PyPI. Its output is the same on every platform."""
LABELS = 2
"""Maximum number of events on one arrow; the label gives the number of the others."""
HEAD = """\
  graph [rankdir=TB, ranksep=0.35, nodesep=0.25, margin=0.05, fontname="sans-serif"]
  node [shape=box, style="rounded,filled", fillcolor="#eef4fb", color="#4a6d94", fontname="sans-serif",
        fontsize=11, margin="0.1,0.05", height=0.4]
  edge [color="#7a8796", fontname="sans-serif", fontsize=10, arrowsize=0.6]
"""


class NotInstalledError(RuntimeError):
    """Graphviz is not installed; the message says how to install it."""


def svg(title: str, graph: Drawn) -> str:
    """Return the SVG; equal graphs give equal text. Raises NotInstalledError without Graphviz."""
    found = shutil.which(PROGRAM, path=str(Path(sys.executable).parent)) or shutil.which(PROGRAM)
    if found is None:
        raise NotInstalledError(f"no {PROGRAM}: pip install -e '.[dev]'")
    done = subprocess.run(
        [found, "-Tsvg"], input=dot(title, graph), capture_output=True, text=True, check=True
    )
    text = done.stdout[done.stdout.index("<svg") :]
    return re.sub(r"<!--.*?-->\n|<title>\d+(&#45;&gt;\d+)?</title>\n", "", text, flags=re.DOTALL)


def dot(title: str, graph: Drawn) -> str:
    """Return the graph in the DOT language: the start is green, an arrow to an earlier state is dashed."""
    lines = [f'  {number} [label="{_joined(state)}"]' for number, state in enumerate(graph.states)]
    lines.append('  0 [fillcolor="#e8f3e4"]')
    for arrow in graph.arrows:
        more = [f"+{len(arrow.labels) - LABELS}"] if len(arrow.labels) > LABELS else []
        look = ', style=dashed, color="#c08a5a"' if arrow.leads_back else ""
        lines.append(
            f'  {arrow.source} -> {arrow.target} [label=" {_joined((*arrow.labels[:LABELS], *more))}"{look}]'
        )
    return "\n".join([f'digraph "{_joined((title,))}" {{\n{HEAD}', *lines, "}"])


def _joined(lines: tuple[str, ...]) -> str:
    return r"\n".join(line.replace("\\", r"\\").replace('"', r"\"") for line in lines)
