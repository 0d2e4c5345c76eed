"""The reader that commits offsets, in the adapter protocol."""

from typing import Any

from model.component import Component
from model.events import NONE, Step
from model.fields import Wire, WireError, Words
from model.offsets import offsets
from model.offsets.events import RestoreOffsets, SnapshotOffsets
from model.offsets.offsets import Reader
from model.steps import HANDLERS, step_of

WORDS = Words("offsets", HANDLERS["offsets"])
_STEP = step_of("offsets")


def new_reader(config: Wire) -> Reader:
    """A reader with the configured `remembered`. Raises WireError if the configuration is not valid."""
    return offsets.new_reader(WORDS.config(config)["remembered"])


def step_reader(reader: Reader, wire: Wire) -> Step[Reader]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    event = WORDS.read(wire)
    if reader.running == (type(event) is RestoreOffsets):
        raise WireError(f"the reader {_RUNS[reader.running]}, got {wire['kind']!r}")
    if type(event) is SnapshotOffsets and event.checkpoint <= reader.newest:
        raise WireError(f"checkpoint: expected an id above {reader.newest}, got {event.checkpoint}")
    return _STEP(reader, event)


_RUNS = {True: "runs; 'restore' may come only after a crash", False: "has crashed; only 'restore' may follow"}


def observe_reader(reader: Reader) -> dict[str, object]:
    """The observable state: `remembered`, `committed`, `running`."""
    return {
        "remembered": [list(filed) for filed in reader.remembered],
        "committed": None if reader.committed.checkpoint == NONE else list(reader.committed),
        "running": reader.running,
    }


def config_of_reader(reader: Reader) -> dict[str, Any]:
    """The configuration of a closed model's reader."""
    return {"remembered": reader.remembered_at_most}


COMPONENT = Component("offsets", WORDS, new_reader, step_reader, observe_reader, config_of_reader)
