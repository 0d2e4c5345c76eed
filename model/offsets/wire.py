"""The reader that commits offsets on the wire."""

from model import fields
from model.events import NONE, Step
from model.fields import Wire, WireError
from model.offsets import offsets
from model.offsets.offsets import Reader

KINDS = ("snapshot", "notify_complete", "notify_abort", "crash", "restore")
REMEMBERED = 100
"""Default number of snapshots whose offsets the reader remembers."""


def new_reader(config: Wire) -> Reader:
    """A reader with the configured `remembered`. Raises WireError if the configuration is not valid."""
    fields.only(config, ("remembered",), "config")
    return offsets.new_reader(fields.integer(config, "remembered", at_least=1, default=REMEMBERED))


def step_reader(reader: Reader, event: Wire) -> Step[Reader]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    kind = fields.kind_of(event, KINDS)
    if kind == "restore":
        if reader.running:
            raise WireError("the reader is running; it restores only after a crash")
        return offsets.on_restore(reader, fields.integer(event, "offsets", at_least=0))
    if not reader.running:
        raise WireError(f"the reader has crashed; only 'restore' may follow, got {kind!r}")
    if kind == "crash":
        return offsets.on_crash(reader)
    checkpoint = fields.checkpoint(event)
    if kind == "notify_complete":
        return offsets.on_notify_complete(reader, checkpoint)
    if kind == "notify_abort":
        return offsets.on_notify_abort(reader, checkpoint)
    if checkpoint <= reader.newest:
        raise WireError(f"snapshot ids grow: expected one above {reader.newest}, got {checkpoint}")
    return offsets.on_snapshot(reader, checkpoint, fields.integer(event, "offsets", at_least=0))


def observe_reader(reader: Reader) -> dict[str, object]:
    """The observable state: `remembered`, `committed`, `running`."""
    return {
        "remembered": [list(filed) for filed in reader.remembered],
        "committed": None if reader.committed.checkpoint == NONE else list(reader.committed),
        "running": reader.running,
    }
