"""The transactional sink behind the words of the wire."""

from model import transactions
from model.components import words
from model.components.words import Wire, WireError
from model.events import NONE, Step
from model.transactions import NEWEST_SINK, SINK_PROFILES, Sink

KINDS = ("write", "snapshot", "notify_complete", "notify_abort", "finish", "close", "crash", "restore")


def new_sink(config: Wire) -> Sink:
    """`profile`."""
    words.only(config, ("profile",), "config")
    named = words.choice(config, "profile", tuple(SINK_PROFILES), default=NEWEST_SINK.name)
    return transactions.new_sink(SINK_PROFILES[named])


def step_sink(sink: Sink, event: Wire) -> Step[Sink]:
    """One event of the sink's life."""
    kind = words.kind_of(event, KINDS)
    if kind == "restore":
        return _restore(sink, event)
    if not sink.running:
        raise WireError(f"the sink has crashed; only 'restore' may follow, got {kind!r}")
    if kind == "crash":
        return transactions.on_crash(sink)
    if kind == "close":
        return transactions.on_close(sink)
    if kind == "finish":
        return transactions.on_finish(sink)
    if kind == "write":
        value = words.field(event, "value")
        if sink.finished:
            raise WireError("the sink has finished; no record may follow")
        return transactions.on_write(sink, value)
    checkpoint = words.checkpoint(event)
    if kind == "snapshot":
        newest = sink.snapshots[-1].checkpoint if sink.snapshots else NONE
        if checkpoint <= newest:
            raise WireError(f"snapshot ids grow: expected one above {newest}, got {checkpoint}")
        return transactions.on_snapshot(sink, checkpoint)
    if kind == "notify_complete":
        return transactions.on_notify_complete(sink, checkpoint, _failing(event))
    return transactions.on_notify_abort(sink, checkpoint)


def _restore(sink: Sink, event: Wire) -> Step[Sink]:
    if sink.running:
        raise WireError("the sink is running; it restores only after a crash")
    if words.field(event, "checkpoint") is None:
        return transactions.on_restore(sink, NONE, _failing(event))
    checkpoint = words.checkpoint(event)
    if not any(taken.checkpoint == checkpoint for taken in sink.snapshots):
        known = ", ".join(str(taken.checkpoint) for taken in sink.snapshots) or "none"
        raise WireError(f"no snapshot was taken for checkpoint {checkpoint}; known: {known}")
    return transactions.on_restore(sink, checkpoint, _failing(event))


def _failing(event: Wire) -> int:
    """The transaction whose commit throws; none if it is left out."""
    return words.integer(event, "fails", at_least=1) if "fails" in event else NONE


def observe_sink(sink: Sink) -> dict[str, object]:
    """`open`, `pending`, `committed`, `running`."""
    return {
        "open": None if sink.open == NONE else sink.open,
        "pending": [[filed.checkpoint, filed.transaction] for filed in sink.pending],
        "committed": list(sink.committed),
        "running": sink.running,
    }
