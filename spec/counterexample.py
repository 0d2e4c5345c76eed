"""A counterexample of TLC as a value of our own, and as lines that a person reads."""

import re
from typing import NamedTuple

from spec.values import State, Value, format_value, parse_state

_HEADER = re.compile(r"(\d+): <(?:(Initial predicate)|(\w+).*?)>\s*\n", re.DOTALL)


class TraceStep(NamedTuple):
    """One state of a counterexample and how it was reached."""

    number: int
    """The number of the state, from 1, the initial state."""
    action: str
    """The TLA+ action; empty for the initial state."""
    arguments: tuple[Value, ...]
    """The arguments of the action, as far as `out` shows them: the event without its kind."""
    state: State


Trace = tuple[TraceStep, ...]


class TraceSyntaxError(ValueError):
    """A state of a counterexample is not in the form in which TLC prints it."""


def parse_step(text: str) -> TraceStep:
    """One state message of TLC's tool output: a header with the action, then the variables."""
    header = _HEADER.match(text)
    if header is None:
        raise TraceSyntaxError(
            f"expected '<number>: <action>' before a state, got {text[:80]!r}; is this TLC 2.15?"
        )
    state = parse_state(text[header.end() :])
    out = state.get("out")
    arguments: tuple[Value, ...] = ()
    if header[3] and isinstance(out, tuple) and out and isinstance(out[0], tuple):
        arguments = out[0][1:]
    return TraceStep(int(header[1]), header[3] or "", arguments, state)


_ENDING = re.compile(r"(\d+): (?:Back to state|(Stuttering))")


def parse_ending(text: str, last: TraceStep) -> TraceStep:
    """The continuation of an infinite counterexample after its last state: a loop, or stuttering."""
    ending = _ENDING.match(text)
    if ending is None:
        raise TraceSyntaxError(
            f"expected '<number>: Back to state' or ': Stuttering', got {text[:80]!r}; is this TLC 2.15?"
        )
    goes_on = "and no further" if ending[2] else f"and again from {ending[1]}"
    return TraceStep(last.number + 1, goes_on, (), last.state)


_SHORT = 40
"""Letters up to which a variable of the initial state is shown in its line."""


def changes(before: State, after: State) -> dict[str, Value]:
    """The smallest changed parts of a step, such as `gate.pending` or `counted[0]`, each with its new value.

    Sequences and sets are shown whole; what left a function is not shown.
    """
    found: dict[str, Value] = {}
    for name, value in after.items():
        _compare(name, before.get(name), value, found)
    return found


def _compare(path: str, before: Value, after: Value, found: dict[str, Value]) -> None:
    if before == after and type(before) is type(after):
        return
    if isinstance(before, dict) and isinstance(after, dict) and after:
        for key, value in after.items():
            _compare(
                f"{path}.{key}" if isinstance(key, str) else f"{path}[{key}]", before.get(key), value, found
            )
    else:
        found[path] = after


def render(trace: Trace) -> str:
    """One line a step: its action, the effects in `out`, then what else it changed."""
    lines = []
    before: State = {}
    for step in trace:
        news = changes(before, step.state)
        if not before:
            news = {name: value for name, value in news.items() if len(format_value(value)) <= _SHORT}
        before = step.state
        out = news.pop("out", ())
        name = f"{step.action}({', '.join(map(plain, step.arguments))})" if step.arguments else step.action
        effects = "; ".join(" ".join(map(plain, effect)) for effect in out[1:])
        parts = [f"{step.number:>3}", f"{name or 'initially':<26}"]
        if effects:
            parts.append(f"=> {effects} |")
        parts.append(", ".join(f"{variable} = {format_value(value)}" for variable, value in news.items()))
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def plain(value: Value) -> str:
    """A value as a word: strings without their quotes."""
    return value if isinstance(value, str) else format_value(value)
