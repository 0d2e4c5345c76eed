"""A counterexample of TLC as a Python value, and as text with one line for each step."""

import re
from typing import NamedTuple

from spec.values import State, Value, format_value, parse_state

_HEADER = re.compile(r"(\d+): <(?:(Initial predicate)|(\w+).*?)>\s*\n", re.DOTALL)


class TraceStep(NamedTuple):
    """One state of a counterexample, and the action that led to it."""

    number: int
    """The number of the state. The initial state has number 1."""
    action: str
    """The name of the TLA+ action. Empty for the initial state. See `parse_ending` for the last step."""
    arguments: tuple[Value, ...]
    """The fields of the event, without its kind. They come from the variable `out`; empty without `out`."""
    state: State


Trace = tuple[TraceStep, ...]


class TraceSyntaxError(ValueError):
    """The text of a state does not have the form in which TLC prints states."""


def parse_step(text: str) -> TraceStep:
    """Parses one state message of TLC's tool output: a header with the action, then the variables.

    Raises TraceSyntaxError if the text has another form.
    """
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
    """Returns the step that ends an infinite counterexample: a loop back to a state, or stuttering.

    `last` is the last state before it. Raises TraceSyntaxError if the text has another form.
    """
    ending = _ENDING.match(text)
    if ending is None:
        raise TraceSyntaxError(
            f"expected '<number>: Back to state' or ': Stuttering', got {text[:80]!r}; is this TLC 2.15?"
        )
    continuation = "stuttering" if ending[2] else f"back to state {ending[1]}"
    return TraceStep(last.number + 1, continuation, (), last.state)


_SHORT = 40
"""Maximum length of a value of the initial state in characters. `render` omits longer values."""


def changes(before: State, after: State) -> dict[str, Value]:
    """Returns the smallest changed parts of a state, such as `gate.pending` or `counted[0]`, with new values.

    A changed sequence or set is one part. A key that a function no longer has is not included.
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
    """Returns one line for each step: its action, the effects in `out`, then the other changed parts."""
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
    """The value as TLA+ text, but a string without its quotes."""
    return value if isinstance(value, str) else format_value(value)
