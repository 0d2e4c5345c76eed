"""Golden transcripts: a component's events, effects and states, as text that a person can read and review.

A file begins with comment lines, then the component with its configuration, then one block for each step:
the event, `----`, the observable state, and the effects indented. `pytest --rewrite` writes them anew.
"""

import json
from pathlib import Path
from typing import Any

from conformance.vectors.transcripts import kind_and_fields, read
from model.components import COMPONENTS

FOLDER = Path(__file__).parent.parent / "transcripts"


def replayed(text: str) -> str:
    """The transcript with the same comments and events, and the model's current effects and states."""
    head, *blocks = text.strip().split("\n\n")
    comments = [line for line in head.splitlines() if line.startswith("#")]
    component_name, config = kind_and_fields(head.splitlines()[len(comments)])
    component = COMPONENTS[component_name]
    state = component.new(config)
    command = ["\n".join([*comments, written(component_name, config)])]
    for block in blocks:
        lines = []
        events = block.split("\n----")[0].splitlines()
        effects: list[dict[str, Any]] = []
        for line in events:
            kind, fields = kind_and_fields(line)
            state, answers, _ = component.apply(state, {"kind": kind, **fields})
            lines.append(written(kind, fields))
            effects += answers
        lines.append("----")
        lines.append(written("state", component.observe(state)))
        lines += ["  " + written(str(effect["kind"]), without_kind(effect)) for effect in effects]
        command.append("\n".join(lines))
    return "\n\n".join(command) + "\n"


def written(kind: str, fields: dict[str, Any]) -> str:
    """A kind and its fields as one line."""
    pairs = [f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in fields.items()]
    return " ".join([kind, *pairs])


def without_kind(effect: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in effect.items() if name != "kind"}


def component_of(path: Path) -> str:
    """The component of a transcript: the name of its folder, or of the folder above."""
    return path.relative_to(FOLDER).parts[0]


def files() -> list[Path]:
    """Every transcript, in the order of components and names."""
    return sorted(FOLDER.rglob("*.txt"), key=lambda path: (component_of(path), path.name))


def fired_rules(text: str) -> set[str]:
    """Every rule that fires while the transcript is played."""
    transcript = read(text)
    component = COMPONENTS[transcript.component]
    state, fired = component.new(transcript.config), set()
    for event in transcript.events:
        state, _, rules = component.apply(state, event)
        fired |= set(rules)
    return fired
