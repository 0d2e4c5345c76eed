"""The conditions of lanes, read from a component's observable state as the vocabulary states.

A condition lasts from the step after which it is observed to the step after which it is not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, assert_never

from conformance.adapters.protocol import Wire
from conformance.diagram.lanes import intervals
from spec.vocabulary import Interval


class Condition(NamedTuple):
    """A condition of a lane, with the look and the text of its interval."""

    lane: str
    look: str
    text: str


def conditions(component: str, state: Wire) -> set[Condition]:
    """The conditions of a state. A field that an implementation leaves out has no condition."""
    return {
        Condition(one.lane.format(*values), one.look, one.text.format(*values))
        for field, one in intervals(component)
        for values in _values(one, state.get(field))
    }


def closed_lanes(component: str, state: Wire) -> set[str]:
    """The lanes that have ended."""
    return {f"channel {channel}" for channel in state.get("closed", ())} if component == "gate" else set()


def _values(interval: Interval, found: Any) -> Iterator[tuple[object, ...]]:  # noqa: ANN401 - JSON
    """The values for each condition of this kind that holds."""
    match interval.when:
        case "each":
            yield from (_parts(one) for one in found or ())
        case "any":
            if found:
                yield (", ".join(str(_parts(one)[0]) for one in found),)
        case "map":
            yield from ((key, value) for key, values in (found or {}).items() for value in values)
        case "set":
            if found is not None:
                yield (found,)
        case bool():
            if found is interval.when:
                yield ()
        case _:
            assert_never(interval.when)


def _parts(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
