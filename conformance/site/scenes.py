"""Golden transcripts as scenes: each event with its effects and the observable state after it.

The tests write these transcripts to `tests/transcripts` of a checkout. A file has comments, the component
with its configuration, and blocks: events, `----`, and the answer. The model plays the events again, because
a block may have several events and shows only the state after the last.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.divergence import Answer
from conformance.page.case import Step
from model.components import COMPONENTS

FOLDER = Path("tests/transcripts")


class Scene(NamedTuple):
    """One transcript, played."""

    file: str
    """The path of the transcript, from the root of the project."""
    about: str
    """The text of its first line, without the rules."""
    names: tuple[str, ...]
    """The rules that its first line names: those that the transcript is written to show."""
    fired: frozenset[str]
    """The rules that fire in it."""
    component: str
    config: Wire
    steps: tuple[Step, ...]
    text: str


@cache
def scenes(root: Path) -> tuple[Scene, ...]:
    """Every transcript of a checkout, in the order of their components and names."""
    folder = root / FOLDER
    files = sorted(folder.rglob("*.txt"), key=lambda path: (path.relative_to(folder).parts[0], path.name))
    return tuple(_scene(path, root) for path in files)


def scene_of(rule_id: str, root: Path) -> Scene | None:
    """The shortest scene that names the rule, else the shortest in which it fires; None if there is none."""
    showing = [one for one in scenes(root) if rule_id in one.names]
    firing = [one for one in scenes(root) if rule_id in one.fired]
    return min(showing or firing, key=lambda one: len(one.steps), default=None)


def _scene(path: Path, root: Path) -> Scene:
    text = path.read_text(encoding="utf-8")
    head, *blocks = text.strip().split("\n\n")
    first, *_, last = head.splitlines()
    about, _, names = first.removeprefix("# ").partition("rules:")
    name, config = _spoken(last)
    component = COMPONENTS[name]
    state, steps = component.new(config), []
    for line in (line for block in blocks for line in block.split("\n----")[0].splitlines()):
        event = event_of(line)
        state, effects, rules = component.apply(state, event)
        steps.append(Step(name, event, Answer(effects, component.observe(state)), None, tuple(rules)))
    return Scene(
        path.relative_to(root).as_posix(),
        about.strip(),
        tuple(names.split()),
        frozenset(rule for step in steps for rule in step.rules),
        name,
        config,
        tuple(steps),
        text,
    )


def event_of(line: str) -> Wire:
    """The event of a line such as `barrier channel=0`. Raises ValueError if a value is no JSON."""
    kind, fields = _spoken(line)
    return {"kind": kind, **fields}


def _spoken(line: str) -> tuple[str, dict[str, Any]]:
    """The kind and the fields of a line such as `barrier channel=0 checkpoint=5`."""
    kind, *pairs = line.split(" ")
    return kind, {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in pairs)}
