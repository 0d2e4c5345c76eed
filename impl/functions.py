"""The interfaces of users' functions over keyed rows, with Flink's names where they fit.

State belongs to the engine, is held by key or by subtask and is in every snapshot; a function that keeps
anything else keeps what a restore forgets. A function must be deterministic in its row and its state, or a
replay after a failure computes something else than before it.

Every subtask has a copy of its function, made when an attempt starts. It is called in this order, by one
thread; only `process_element` must be there, or in its place a function of whole batches.

    initialize_state(store)          the operator state, which holds what was restored (CheckpointedFunction)
    open(state)                      the keyed state, which holds what was restored
    open_timers(timers)              the timers, with those that were restored
    process_element(key, row)        for each row
    on_timer(key, timestamp)         between two rows: a timer is due
    before_barrier()                 between two rows: what was kept back is emitted, before the barrier
    snapshot_state(checkpoint)       then: the function puts its state into the operator state
    notify_checkpoint_complete(id)   the checkpoint is complete, or
    notify_checkpoint_aborted(id)    was aborted (CheckpointListener)
    finish()                         the end of the data: returns the last rows
    close()                          the attempt has ended, well or not
"""

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa

from impl.batches import Keys, Rows
from impl.config import ConfigError
from impl.graph.plan import Row
from impl.state import KeyedStateBackend, OperatorStateStore


class ProcessFunction(Protocol):
    """A function of one row and, on a keyed stream, the state of its key."""

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row; returns the rows to emit. `key` is None if the stream is not keyed."""


class RichFunction(Protocol):
    """A function that has keyed state, or resources to open and close."""

    def open(self, state: KeyedStateBackend) -> None:
        """Take hold of the named states."""

    def close(self) -> None:
        """Release all resources."""


class CheckpointedFunction(Protocol):
    """A function that has operator state."""

    def initialize_state(self, store: OperatorStateStore) -> None:
        """Get the named lists; `store.restored` is the restored checkpoint, None for none."""

    def snapshot_state(self, checkpoint: int) -> None:
        """A snapshot is taken: what the function holds besides the lists goes into them now."""


class TimerService(Protocol):
    """The processing-time timers of a subtask; their times are in ms since 1970 (`impl.state.timers`)."""

    def current_processing_time(self) -> int:
        """The clock of the subtask."""

    def register_processing_time_timer(self, key: Hashable, timestamp: int) -> None:
        """Call `on_timer(key, timestamp)` once, when that time has passed."""

    def delete_processing_time_timer(self, key: Hashable, timestamp: int) -> None:
        """Delete a timer, if the key has it."""


class TimerFunction(Protocol):
    """A function on a keyed stream that has timers."""

    def open_timers(self, timers: TimerService) -> None:
        """Take hold of the timers."""

    def on_timer(self, key: Hashable, timestamp: int) -> Iterable[Row]:
        """A timer is due, also one that was due before a restore; returns the rows to emit."""


class CheckpointListener(Protocol):
    """A function, a `Source` or a `Participant` of a sink that is notified how checkpoints end.

    Either method may be missing. Notifications are best effort: after a failure some are never sent, and none
    is sent for a checkpoint of an earlier attempt. The backend or the sink was notified before. Completed ids
    only grow (TASK-06). An exception fails the task.
    """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete: a restore brings back its state, or that of a later one."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """The checkpoint was aborted (TASK-05): a later one contains what it would have contained."""


class CoProcessFunction(Protocol):
    """A function of two inputs. The key of an input that is not keyed is None."""

    def process_element1(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row of the first input; returns the rows to emit."""

    def process_element2(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row of the second input; returns the rows to emit."""


class BatchFunction(Protocol):
    """A function of whole batches of Arrow."""

    def process_batch(self, batch: pa.RecordBatch) -> Rows:
        """Handle a batch; returns a batch or rows to emit."""


class KeyedBatchFunction(Protocol):
    """A function of whole batches and the state of their keys, which it can read at once."""

    def process_keyed_batch(self, keys: Keys, batch: pa.RecordBatch) -> Rows:
        """Handle a batch; row i has the key `keys.distinct[keys.codes[i]]`."""


@dataclass(frozen=True)
class Rowwise:
    """A function without state. `process_rows` makes the rows to emit from the rows of a batch."""

    process_rows: Callable[[Sequence[Row]], Sequence[Row]]

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """One row of a batch."""
        return self.process_rows((row,))


@dataclass(frozen=True)
class Batchwise:
    """A function without state. `process_batch` makes the batch to emit from a batch."""

    process_batch: Callable[[pa.RecordBatch], Rows]


HOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    "open_timers": ("timers",),
    "on_timer": ("key", "timestamp"),
    "notify_checkpoint_complete": ("checkpoint_id",),
    "notify_checkpoint_aborted": ("checkpoint_id",),
}
"""Optional methods of users' objects, and what they are called with."""


def require_no_hooks(name: str, function: object) -> None:
    """Raise ConfigError if `function`, of stage `name`, has a method that only `process` calls."""
    ignored = [hook for hook in (*HOOKS, "initialize_state", "snapshot_state") if hasattr(function, hook)]
    if ignored:
        raise ConfigError(
            f"{name!r} has {', '.join(ignored)}, which only a function that is given to `process` may have; "
            "use process, or remove the method"
        )


def require_hooks(user: object) -> None:
    """Raise ConfigError if an optional method of `user` cannot be called with its arguments."""
    for name, arguments in HOOKS.items():
        try:
            if hasattr(user, name):
                inspect.signature(getattr(user, name)).bind(*arguments)
        except ValueError:
            continue  # a method of C, which does not state its arguments
        except TypeError as wrong:
            raise ConfigError(
                f"{type(user).__name__}.{name} takes ({', '.join(arguments)}), but: {wrong}; declare it so, "
                "or rename it if the runtime must not call it"
            ) from wrong


def call_each(calls: Iterable[Callable[[], object]]) -> None:
    """Make all calls, also those after one that raises an error; then raise the first error."""
    failures = []
    for call in calls:
        try:
            call()
        except Exception as failed:  # noqa: BLE001 - raised after the other calls
            failures.append(failed)
    if failures:
        raise failures[0]
