"""A cache of the model's steps. A cached step is also used in states that differ by a shift of ids or times.

The components only compare ids with each other, so the value of an id has no effect. A step stays the same if
all ids are greater by the same number. This also holds for the times of a coordinator and the transactions of
a sink, and a coordinator's step stays the same if its handles have other names. `shifted` caches steps with
ids relative to one id, and a module for each component makes its states relative. The model itself takes each
step the first time. A test compares the cache with the model on shifted states.
"""

from collections.abc import Callable, Mapping

from conformance.observe.memo.coordinator import ShiftedCoordinator
from conformance.observe.memo.gate import ShiftedGate
from conformance.observe.memo.sink import ShiftedSink
from conformance.observe.memo.subtask import ShiftedSubtask
from conformance.observe.replay import Replayed
from model.components import Wire
from model.gate.polled_gate import Inbox
from model.gate.wire import GateSession

__all__ = ["replayed"]

_REMEMBERED: Mapping[str, Callable[[str, Wire], Replayed]] = {
    "coordinator": ShiftedCoordinator,
    "sink": ShiftedSink,
    "subtask": ShiftedSubtask,
}


def replayed(component: str, config: Wire) -> Replayed:
    """A new model of a component. Steps are cached if they do not depend on the values of ids."""
    if component in _REMEMBERED:
        return _REMEMBERED[component](component, config)
    plain = Replayed(component, config)
    state = plain.state
    if isinstance(state, GateSession) and isinstance(state.inbox, Inbox) and not state.polled:
        return ShiftedGate(component, config)
    return plain
