"""The transactional sink on the wire."""

from model import fields
from model.events import NONE, Step
from model.fields import Wire, WireError
from model.sink import two_phase_commit
from model.sink.two_phase_commit import NEWEST_SINK, SINK_PROFILES, Sink

KINDS = ("write", "snapshot", "notify_complete", "notify_abort", "finish", "close", "crash", "restore")


def new_sink(config: Wire) -> Sink:
    """A sink of the configured `profile`. Raises WireError if the configuration is not valid."""
    fields.only(config, ("profile",), "config")
    named = fields.choice(config, "profile", tuple(SINK_PROFILES), default=NEWEST_SINK.name)
    return two_phase_commit.new_sink(SINK_PROFILES[named])


def step_sink(sink: Sink, event: Wire) -> Step[Sink]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    kind = fields.kind_of(event, KINDS)
    if kind == "restore":
        return _restore(sink, event)
    if not sink.running:
        raise WireError(f"the sink has crashed; only 'restore' may follow, got {kind!r}")
    if kind == "crash":
        return two_phase_commit.on_crash(sink)
    if kind == "close":
        return two_phase_commit.on_close(sink)
    if kind == "finish":
        return two_phase_commit.on_finish(sink)
    if kind == "write":
        value = fields.field(event, "value")
        if sink.finished:
            raise WireError("the sink has finished; no record may follow")
        return two_phase_commit.on_write(sink, value)
    checkpoint = fields.checkpoint(event)
    if kind == "snapshot":
        newest = sink.snapshots[-1].checkpoint if sink.snapshots else NONE
        if checkpoint <= newest:
            raise WireError(f"snapshot ids grow: expected one above {newest}, got {checkpoint}")
        return two_phase_commit.on_snapshot(sink, checkpoint)
    if kind == "notify_complete":
        return two_phase_commit.on_notify_complete(sink, checkpoint, _failing(event))
    return two_phase_commit.on_notify_abort(sink, checkpoint)


def _restore(sink: Sink, event: Wire) -> Step[Sink]:
    if sink.running:
        raise WireError("the sink is running; it restores only after a crash")
    if fields.field(event, "checkpoint") is None:
        return two_phase_commit.on_restore(sink, NONE, _failing(event))
    checkpoint = fields.checkpoint(event)
    if not any(taken.checkpoint == checkpoint for taken in sink.snapshots):
        known = ", ".join(str(taken.checkpoint) for taken in sink.snapshots) or "none"
        raise WireError(f"no snapshot was taken for checkpoint {checkpoint}; known: {known}")
    return two_phase_commit.on_restore(sink, checkpoint, _failing(event))


def _failing(event: Wire) -> int:
    """The transaction whose commit throws; -1 if the field is absent."""
    return fields.integer(event, "fails", at_least=1) if "fails" in event else NONE


def observe_sink(sink: Sink) -> dict[str, object]:
    """The observable state: `open`, `pending`, `committed`, `running`."""
    return {
        "open": None if sink.open == NONE else sink.open,
        "pending": [[filed.checkpoint, filed.transaction] for filed in sink.pending],
        "committed": list(sink.committed),
        "running": sink.running,
    }
