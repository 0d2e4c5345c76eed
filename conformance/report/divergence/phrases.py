"""Events, effects, states and configurations as short text."""

from collections.abc import Iterable, Mapping
from typing import Any

from conformance import escape
from conformance.adapters.protocol import FAILURES, Effects, Failure, Wire
from conformance.divergence import Answer


def of_event(event: Wire) -> str:
    """`barrier 5 on 0`, `acknowledge 3 by src-0`, else the kind and the fields."""
    fields = dict(event)
    kind = str(fields.pop("kind", "?")).replace("_", " ")
    parts = [kind]
    named = ("checkpoint", "value", "type", "status")
    parts += [_plain(fields.pop(name)) for name in named if name in fields]
    for name, word in (("channel", "on"), ("task", "by" if kind == "acknowledge" else "of")):
        if name in fields:
            parts.append(f"{word} {_plain(fields.pop(name))}")
    return escape.line(" ".join(parts) + _rest(fields))


def of_reached(reached: Mapping[str, int]) -> str:
    """The numbers of states, transitions, pairs and paths that random runs have reached."""
    words = {"states": "different states", "pairs": "pairs of transitions"}
    return ", ".join(f"{number:,} {words.get(kind, kind)}" for kind, number in reached.items())


def of_paths(paths: int, hit: int, excluded: int) -> str:
    """The number of paths of step functions that cases take, and the numbers of the other paths by reason."""
    text = f"{hit:,} of {paths:,} paths hit, {excluded:,} no run takes"
    beyond = paths - hit - excluded
    return f"{text}, {beyond:,} beyond the small models" if beyond else text


def of_effect(effect: Wire) -> str:
    """`block 0`, `abort 2 (SUBSUMED)`, else the kind and the fields."""
    fields = dict(effect)
    parts = [str(fields.pop("kind", "?")).replace("_", " ")]
    named = ("channel", "checkpoint", "transaction", "value")
    parts += [_plain(fields.pop(name)) for name in named if name in fields]
    if "task" in fields:
        parts.append(f"to {_plain(fields.pop('task'))}")
    reason = fields.pop("reason", None)
    return escape.line(" ".join(parts) + (f" ({reason})" if reason is not None else "") + _rest(fields))


def of_effects(effects: Effects) -> str:
    """The effects in order, or a dash if there are none."""
    return ", ".join(of_effect(effect) for effect in effects) or "-"


def of_state(state: Wire, names: Iterable[str]) -> str:
    """The fields of `names` that the state has, with their values."""
    return ", ".join(f"{name}={of_value(state[name])}" for name in names if name in state)


def of_answer(answer: Answer | Failure) -> str:
    """The answer of one side to an event."""
    if isinstance(answer, FAILURES):
        return answer.describe()
    return "refused" if answer.refused is not None else of_effects(answer.effects)


def of_config(component: str, config: Wire) -> str:
    """`gate, exactly-once, 3 channels, level handler`."""
    parts = [component]
    for name, value in config.items():
        if name == "mode":
            parts.append(str(value))
        elif name == "channels":
            parts.append(f"{value} channel{'s' if value != 1 else ''}")
        elif name == "tasks":
            parts.append("tasks " + " ".join(str(task["id"]) for task in value))
        elif name == "checkpoints_after_tasks_finish":
            parts.append(f"{'' if value else 'no '}checkpoints after tasks finish")
        else:
            parts.append(f"{name.replace('_', ' ')} {_plain(value)}")
    return escape.line(", ".join(parts))


def _rest(fields: Wire) -> str:
    return "".join(f", {name} {_plain(value)}" for name, value in fields.items())


def _plain(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return " ".join(_plain(one) for one in value)
    return str(value)


def of_value(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A field's value: `[1, 2]`, `{1: src-0 sink-0}`, `none`."""
    if isinstance(value, dict):
        return escape.line("{" + "; ".join(f"{key}: {_plain(one)}" for key, one in value.items()) + "}")
    if isinstance(value, list):
        return escape.line("[" + ", ".join(_plain(one) for one in value) + "]")
    return escape.line(_plain(value))
