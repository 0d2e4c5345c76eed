"""The transactional sink in the adapter protocol."""

from typing import Any

from model.component import Component
from model.events import NONE, Step
from model.fields import Wire, WireError, Words
from model.sink import two_phase_commit
from model.sink.events import FailingRestore, Restore, SnapshotRequest, WriteRequest
from model.sink.two_phase_commit import SINK_PROFILES, Sink
from model.steps import HANDLERS, step_of

WORDS = Words("sink", HANDLERS["sink"])
_STEP = step_of("sink")


def new_sink(config: Wire) -> Sink:
    """A sink of the configured `profile`. Raises WireError if the configuration is not valid."""
    return two_phase_commit.new_sink(SINK_PROFILES[WORDS.config(config)["profile"]])


def step_sink(sink: Sink, wire: Wire) -> Step[Sink]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    event = WORDS.read(wire)
    restores = isinstance(event, Restore | FailingRestore)
    if sink.running == restores:
        raise WireError(f"the sink {_RUNS[restores]}, got {wire['kind']!r}")
    taken = [snapshot.checkpoint for snapshot in sink.snapshots]
    if isinstance(event, Restore | FailingRestore) and event.checkpoint not in (NONE, *taken):
        known = ", ".join(map(str, taken)) or "none"
        raise WireError(f"checkpoint: expected an id with a snapshot ({known}), got {event.checkpoint}")
    if type(event) is WriteRequest and sink.finished:
        raise WireError("the sink has finished; no record may follow")
    newest = taken[-1] if taken else NONE
    if type(event) is SnapshotRequest and event.checkpoint <= newest:
        raise WireError(f"checkpoint: expected an id above {newest}, got {event.checkpoint}")
    return _STEP(sink, event)


_RUNS = {
    True: "runs; 'restore' may come only after a crash or a close",
    False: "has crashed or is closed; only 'restore' may follow",
}


def observe_sink(sink: Sink) -> dict[str, object]:
    """The observable state: `open`, `pending`, `committed`, `running`."""
    return {
        "open": None if sink.open == NONE else sink.open,
        "pending": [[filed.checkpoint, filed.transaction] for filed in sink.pending],
        "committed": list(sink.committed),
        "running": sink.running,
    }


def config_of_sink(sink: Sink) -> dict[str, Any]:
    """The configuration of a closed model's sink."""
    return {"profile": sink.profile.name}


COMPONENT = Component("sink", WORDS, new_sink, step_sink, observe_sink, config_of_sink)
