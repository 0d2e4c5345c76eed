"""The interfaces of users' functions over rows. Names are Flink's if Flink has the same interface.

The runtime holds the state of a function, by key or by subtask, and stores it in every snapshot. A restore
does not bring back any other value that a function keeps. A function must be deterministic: the same row and
the same state give the same result. Otherwise a replay after a failure computes other rows than before.

Every subtask has a copy of its function, which it makes when an attempt starts. One thread calls the methods
of the copy, in the order below. Only `process_element` is required, or a method for whole batches instead.

    initialize_state(store)          gives the operator state with its restored values (CheckpointedFunction)
    open(state)                      gives the keyed state with its restored values
    open_timers(timers)              gives the timers, which include the restored timers
    process_element(key, row)        for each row
    on_timer(key, timestamp)         between two rows: a timer is due
    before_barrier()                 between two rows: returns the rows to emit before the barrier
    snapshot_state(checkpoint)       after `before_barrier`: the function updates its operator state
    notify_checkpoint_complete(id)   the checkpoint is complete (CheckpointListener)
    notify_checkpoint_aborted(id)    the checkpoint was aborted (CheckpointListener)
    finish()                         at the end of the data: returns the last rows
    close()                          at the end of the attempt, after a success and after a failure
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
        """Return the rows to emit for one row. `key` is None if the stream is not keyed."""


class RichFunction(Protocol):
    """A function that has keyed state, or resources to open and close."""

    def open(self, state: KeyedStateBackend) -> None:
        """Get the named states from `state`, and open resources."""

    def close(self) -> None:
        """Release all resources."""


class CheckpointedFunction(Protocol):
    """A function that has operator state."""

    def initialize_state(self, store: OperatorStateStore) -> None:
        """Get the named lists from `store`. `store.restored`: the id of the restored checkpoint, or None."""

    def snapshot_state(self, checkpoint: int) -> None:
        """Copy the values that the function holds outside the named lists into these lists.

        The runtime calls this for each snapshot, before it stores the lists.
        """


class TimerService(Protocol):
    """The processing-time timers of a subtask. Times are in ms since 1970 (`impl.state.timers`)."""

    def current_processing_time(self) -> int:
        """The time of the subtask's clock, in ms since 1970."""

    def register_processing_time_timer(self, key: Hashable, timestamp: int) -> None:
        """Make the runtime call `on_timer(key, timestamp)` once, when `timestamp` has passed."""

    def delete_processing_time_timer(self, key: Hashable, timestamp: int) -> None:
        """Delete the timer of `key` at `timestamp`. Does nothing if there is no such timer."""


class TimerFunction(Protocol):
    """A function on a keyed stream that has timers."""

    def open_timers(self, timers: TimerService) -> None:
        """Get the timers of the subtask."""

    def on_timer(self, key: Hashable, timestamp: int) -> Iterable[Row]:
        """Return the rows to emit for a due timer. The timer may have become due before a restore."""


class CheckpointListener(Protocol):
    """A function, a `Source` or a `Participant` of a sink that is notified how checkpoints end.

    Either method may be missing. Notifications are best effort: after a failure some notifications are never
    sent, and no notification is sent for a checkpoint of an earlier attempt. The runtime notifies the state
    backend or the sink before it calls these methods. The ids of completed checkpoints only grow (TASK-06).
    An exception of a method fails the task.
    """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete: a restore uses this checkpoint or a later one."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """The checkpoint was aborted (TASK-05). The next completed checkpoint includes its records."""


class CoProcessFunction(Protocol):
    """A function of two inputs. `key` is None for the rows of an input that is not keyed."""

    def process_element1(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Return the rows to emit for one row of the first input."""

    def process_element2(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Return the rows to emit for one row of the second input."""


class BatchFunction(Protocol):
    """A function of whole Arrow batches, without keyed state."""

    def process_batch(self, batch: pa.RecordBatch) -> Rows:
        """Return the rows to emit for a batch, as a batch or as single rows."""


class KeyedBatchFunction(Protocol):
    """A function of whole Arrow batches on a keyed stream, with the state of all keys of a batch."""

    def process_keyed_batch(self, keys: Keys, batch: pa.RecordBatch) -> Rows:
        """Return the rows to emit for a batch. Row i has the key `keys.distinct[keys.codes[i]]`."""


@dataclass(frozen=True)
class Rowwise:
    """A function without state. `process_rows` returns the rows to emit for the rows of a batch."""

    process_rows: Callable[[Sequence[Row]], Sequence[Row]]

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Return the rows to emit for one row. `key` has no effect."""
        return self.process_rows((row,))


@dataclass(frozen=True)
class Batchwise:
    """A function without state. `process_batch` returns the batch to emit for a batch."""

    process_batch: Callable[[pa.RecordBatch], Rows]


HOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    "open_timers": ("timers",),
    "on_timer": ("key", "timestamp"),
    "notify_checkpoint_complete": ("checkpoint_id",),
    "notify_checkpoint_aborted": ("checkpoint_id",),
}
"""Maps each optional method of a user's object to the names of its arguments."""


def require_no_hooks(name: str, function: object) -> None:
    """Raise ConfigError if `function`, of stage `name`, has a method that only `process` calls."""
    ignored = [hook for hook in (*HOOKS, "initialize_state", "snapshot_state") if hasattr(function, hook)]
    if ignored:
        raise ConfigError(
            f"{name!r} has {', '.join(ignored)}, which only a function that is given to `process` "
            "may have; use process, or remove the method"
        )


def require_hooks(user: object) -> None:
    """Raise ConfigError if an optional method of `user` cannot be called with its arguments."""
    for name, arguments in HOOKS.items():
        try:
            if hasattr(user, name):
                inspect.signature(getattr(user, name)).bind(*arguments)
        except ValueError:
            continue  # a method written in C has no readable signature
        except TypeError as wrong:
            raise ConfigError(
                f"{type(user).__name__}.{name}: expected a method with the arguments "
                f"({', '.join(arguments)}), got a method that cannot take them ({wrong}); change its "
                "arguments, or rename the method if the runtime must not call it"
            ) from wrong


def call_each(calls: Iterable[Callable[[], object]]) -> None:
    """Make all calls, even after a call that raises an error. Raises the first of these errors at the end."""
    failures = []
    for call in calls:
        try:
            call()
        except Exception as failed:  # noqa: BLE001 - raised after the other calls
            failures.append(failed)
    if failures:
        raise failures[0]
