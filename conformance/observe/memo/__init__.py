"""Steps of the model that were taken before, under a shift of checkpoint ids and of time.

The components only compare ids with each other: they never look at an id's value. So a step is the same when
all ids are greater by the same number. The same holds for the times of a coordinator, the handles that it
has, and the transactions of a sink. `shifted` remembers steps with ids relative to one id; a module for
each component makes its states relative. The model itself takes each step the first time, and a test compares
both on shifted states.
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
    """The component, with its steps remembered where they depend on no id's value."""
    if component in _REMEMBERED:
        return _REMEMBERED[component](component, config)
    plain = Replayed(component, config)
    state = plain.state
    if isinstance(state, GateSession) and isinstance(state.inbox, Inbox) and not state.polled:
        return ShiftedGate(component, config)
    return plain
