"""The sink and the store of `impl` on a file system, driven by events of the adapter protocol.

output/       the committed and pre-committed data of the Parquet sink
snapshots/    the state of the sink in each snapshot, by checkpoint
checkpoints/  the checkpoint storage of a job
"""

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from conformance.adapters.protocol import Effects, Wire
from impl.connectors import manifests
from impl.connectors.parquet_sink import ParquetFiles
from impl.connectors.two_phase import SinkState, TwoPhaseSink
from impl.core import CheckpointType, ProtocolError, UnsupportedError
from impl.core.sink.two_phase_commit import sink_from_config
from impl.core.store.store import Completed, store_from_config
from impl.state.checkpoint_storage import CheckpointStorage
from impl.state.durable import make_directory, remove_file, write_file
from impl.state.snapshot import decode, encode

_TASK: Final = "sink-0"
_TYPE: Final = "type"
"""The name under which the store saves the type of a checkpoint, in the form of a snapshot of a task."""


class DurableSink:
    """One subtask of the Parquet sink. If the folder is not new, the first event must be `restore`."""

    def __init__(self, config: Wire, folder: Path) -> None:
        sink_from_config(config)  # raises for an invalid configuration
        if config:
            raise UnsupportedError("options of a sink in a folder; leave them out")
        self._folder = folder
        self._attempts = CheckpointStorage(folder / "checkpoints")
        self._sink: TwoPhaseSink | None = None
        make_directory(folder / "snapshots")
        if self._attempts.newest_attempt() == 0:
            self._sink = TwoPhaseSink(self._participant())
        self._events: Mapping[str, Callable[..., Effects]] = MappingProxyType(
            {
                "write": self._write,
                "snapshot": self._snapshot,
                "notify_complete": lambda checkpoint: _wire(self._running.notify_complete(checkpoint)),
                "notify_abort": lambda checkpoint: _wire(self._running.notify_abort(checkpoint)),
                "finish": lambda: _wire(self._running.finish()),
                "close": self._crash,
                "crash": self._crash,
                "restore": self._restore,
            }
        )

    def apply(self, event: Wire) -> Effects:
        """Take one event. Raises ProtocolError if it is not legal, or not defined for a sink in a folder."""
        fields = dict(event)
        take = self._events.get(fields.pop("kind", None))
        if take is None:
            raise ProtocolError(f"a sink in a folder takes {', '.join(self._events)}, got {dict(event)}")
        try:
            return take(**fields)
        except TypeError as error:
            raise ProtocolError(f"{dict(event)}: {error}") from error

    def observe(self) -> Wire:
        """The observable state."""
        if self._sink is None:
            return {"open": None, "pending": [], "committed": [], "running": False}
        return self._sink.transactions.observe()

    def visible(self) -> list[Any]:
        """The values of all committed records, as a reader of the output gets them."""
        rows = manifests.read_committed(self._folder / "output")
        return [json.loads(value) for value in rows.column("value").to_pylist()] if rows.num_columns else []

    @property
    def _running(self) -> TwoPhaseSink:
        if self._sink is None:
            raise ProtocolError("the sink has crashed and accepts only a restore; restore it first")
        return self._sink

    def _participant(self) -> ParquetFiles:
        attempt = self._attempts.new_attempt()
        return ParquetFiles(self._folder / "output", subtask=_TASK, attempt=attempt)

    def _write(self, value: object) -> Effects:
        rows = pa.record_batch({"value": [json.dumps(value)]})
        effects = _wire(self._running.write(rows))
        return [{**effect, "value": value} for effect in effects]

    def _snapshot(self, checkpoint: int) -> Effects:
        effects = _wire(self._running.snapshot(checkpoint))
        state = pickle.dumps(self._running.state_of(checkpoint))
        write_file(self._folder / "snapshots" / str(checkpoint), state)
        return effects

    def _crash(self) -> Effects:
        self._running.close()
        self._sink = None
        return []

    def _restore(self, checkpoint: int | None) -> Effects:
        if self._sink is not None:
            raise ProtocolError("only a crashed sink restores, this one runs; crash it first")
        taken = [int(path.name) for path in (self._folder / "snapshots").glob("[0-9]*")]
        if checkpoint is not None and checkpoint not in taken:
            raise ProtocolError(f"snapshots exist for {sorted(taken)}, got {checkpoint}; choose one of those")
        state: SinkState | None = None
        if checkpoint is not None:
            state = pickle.loads((self._folder / "snapshots" / str(checkpoint)).read_bytes())
        for newer in taken:
            if checkpoint is None or newer > checkpoint:
                remove_file(self._folder / "snapshots" / str(newer))
        participant = self._participant()
        self._sink, effects = TwoPhaseSink.restored(participant, state)
        manifests.sweep(self._folder / "output", self._attempts.newest_attempt())
        return _wire(effects)


class DurableStore:
    """The store of completed checkpoints, in the checkpoint storage of a job."""

    def __init__(self, config: Wire, folder: Path) -> None:
        self._storage = CheckpointStorage(folder / "checkpoints", inline_bytes=1024)
        self._attempt = self._storage.new_attempt()
        self._storage.record_restored(self._attempt, max(self._storage.completed_ids(), default=None))
        self._store = store_from_config(config, map(self._kept, self._ids()))

    def apply(self, event: Wire) -> Effects:
        """Take one event; when this returns, an addition is durable and the dropped checkpoints are deleted.

        Raises ProtocolError if the event is not legal.
        """
        before = self._store.completed
        effects = self._store.apply(event)
        for checkpoint in self._store.completed:
            if checkpoint not in before:
                kind = encode(str(event["type"]))
                handle = self._storage.write(checkpoint, _TYPE, self._attempt, kind)
                self._storage.publish(checkpoint, self._attempt, [handle])
        for checkpoint in before:
            if checkpoint not in self._store.completed:
                self._storage.discard(checkpoint)
        return effects

    def observe(self) -> Wire:
        """The observable state."""
        return self._store.observe()

    def visible(self) -> list[int]:
        """The checkpoints that a recovery finds."""
        return list(self._ids())

    def _ids(self) -> tuple[int, ...]:
        return self._storage.completed_ids()

    def _kept(self, checkpoint: int) -> Completed:
        handle = self._storage.load(checkpoint).handles[_TYPE]
        return Completed(checkpoint, CheckpointType(str(decode(handle.content or b"", handle.file))))


DURABLE: Final[Mapping[str, Callable[[Wire, Path], DurableSink | DurableStore]]] = MappingProxyType(
    {"sink": DurableSink, "store": DurableStore}
)
"""The class of an instance with a folder, by component."""


def _wire(effects: Any) -> Effects:  # noqa: ANN401 - of any component
    return [effect.wire() for effect in effects]
