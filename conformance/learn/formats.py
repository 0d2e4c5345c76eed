"""Writes a learned machine in Graphviz's language, as an SVG picture, and as JSON."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson

from conformance.learn.compare import Difference, readable
from conformance.learn.learn import Learned
from conformance.suites.alphabet import REFUSED, Alphabet
from conformance.suites.machine import END, Machine

PROGRAMS = ("graphviz-pure", "dot")
"""Programs that draw a graph. The first installed one is used."""
LABELS = 3
"""Maximum number of letters on one arrow. For further letters the arrow shows only their number."""


def dot(machine: Machine) -> str:
    """The graph in Graphviz's language. An arrow shows the letters of its transitions, with their effects."""
    arrows: dict[tuple[int, int], list[str]] = {}
    for state in range(machine.size):
        for letter, step in machine.defined(state):
            if step.output != REFUSED:
                effects = readable(str(step.output)).partition("  [")[0]
                label = f"{machine.letters[letter]} / {effects}"
                arrows.setdefault((state, step.target), []).append(label)
    lines = ["digraph learned {", '  node [shape=circle, fontname="sans-serif"]']
    lines += ['  edge [fontname="sans-serif", fontsize=9]', "  0 [shape=doublecircle]"]
    if any(target == END for _, target in arrows):
        lines.append('  end [shape=box, label="ends"]')
    for (source, target), labels in arrows.items():
        more = [f"and {len(labels) - LABELS} more"] if len(labels) > LABELS else []
        text = r"\n".join(label.replace('"', r"\"") for label in (*labels[:LABELS], *more))
        lines.append(f'  {source} -> {"end" if target == END else target} [label="{text}"]')
    return "\n".join([*lines, "}", ""])


def svg(graph: str) -> str | None:
    """The SVG picture of a graph. None if no program that draws graphs is installed."""
    here = str(Path(sys.executable).parent)
    found = next(
        (at for name in PROGRAMS if (at := shutil.which(name, path=here) or shutil.which(name))), None
    )
    if found is None:
        return None
    done = subprocess.run([found, "-Tsvg"], input=graph, capture_output=True, text=True, check=True)
    return done.stdout


def json(alphabet: Alphabet, learned: Learned, model: Machine, differences: Sequence[Difference]) -> bytes:
    """As JSON: the machine, its differences from the model's, and the numbers of words, events and rounds."""
    document = {
        "component": alphabet.component,
        "config": dict(alphabet.config),
        "bound": alphabet.bound,
        "letters": [{"name": one.name} for one in alphabet.letters],
        "states": learned.machine.size,
        "model_states": model.size,
        "transitions": [
            {
                "state": state,
                "letter": learned.machine.letters[letter],
                "output": orjson.loads(str(step.output)),
                "target": None if step.target == END else step.target,
            }
            for state in range(learned.machine.size)
            for letter, step in learned.machine.defined(state)
        ],
        "differences": [
            {
                "letters": list(one.letters),
                "events": list(one.events),
                "model": orjson.loads(one.expected),
                "learned": orjson.loads(one.learned),
            }
            for one in differences
        ],
        "words": learned.words,
        "events": learned.events,
        "hypotheses": learned.rounds,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)
