"""The operator that runs a user's function over rows and the state of their keys."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from impl.batches import Rows, columns_of, joined, rows_of
from impl.graph.plan import KeySelector, Row
from impl.graph.rescaling import RestoreRefusedError
from impl.spark.worker.batch_buffer import BatchBuffer
from impl.spark.worker.operators import Operator, Process
from impl.state import (
    AsynchronousPart,
    KeyedContext,
    KeyedStateBackend,
    NotRowsError,
    OperatorStateStore,
    ProcessingTimeTimers,
    StateError,
)
from impl.state.backends.key_groups import key_group
from impl.state.backends.key_values import require_keys
from impl.state.shared import SharedFiles
from impl.state.timers import TIMERS, Clock, wall_clock

CheckKeys = Callable[[Sequence[Hashable]], None]
_KNOWN_KEYS: Final = 100_000


class OwnKeys:
    """Checks that keys belong to the subtask of `context`. Used if no partitioner has sent the rows."""

    def __init__(self, context: KeyedContext) -> None:
        self._context = context
        self._known: set[Hashable] = set()

    def __call__(self, keys: Sequence[Hashable]) -> None:
        """Raise StateError for a key of another subtask, UnsupportedKeyError for a value that is no key."""
        require_keys(keys)
        for key in set(keys).difference(self._known):
            if key_group(key, self._context.max_parallelism) not in self._context.groups:
                raise StateError(
                    f"{self._context.task}: a row has the key {key!r}, which belongs to another subtask; "
                    "chain by the key by which the rows came, or use key_by"
                )
            if len(self._known) >= _KNOWN_KEYS:
                self._known.clear()
            self._known.add(key)


class ProcessOperator(Operator):
    """Runs a user's function, with one input or two.

    `key_selectors`: maps each keyed input to the function that computes its keys. `state`: the restored keyed
    state. `store`: the restored operator state. `clock`: the processing time of the timers. `check_keys`:
    raises an error for keys that are not allowed. Raises RestoreRefusedError if the restored state has timers
    but the function has no `on_timer`.
    """

    def __init__(
        self,
        function: Any,  # noqa: ANN401 - a ProcessFunction or a CoProcessFunction
        key_selectors: Mapping[int, KeySelector],
        state: KeyedStateBackend,
        store: OperatorStateStore | None = None,
        clock: Clock = wall_clock,
        check_keys: CheckKeys = require_keys,
    ) -> None:
        self._state = state
        self._store = OperatorStateStore() if store is None else store
        self._function = function
        self.listeners = (function,)
        self._call("initialize_state", self._store)
        self._call("open", state)
        if hasattr(function, "on_timer"):
            self.timers = ProcessingTimeTimers(state, function.on_timer, clock)
            self._call("open_timers", self.timers)
        elif state.has(TIMERS) and (keys := len(state.map_state(TIMERS, immutable=True))):
            raise RestoreRefusedError(
                f"the checkpoint has timers of {keys} keys, and {type(function).__name__}, which has no "
                "on_timer, would never call them; give it on_timer(key, timestamp), which may return ()"
            )
        elements = (
            (function.process_element1, function.process_element2)
            if hasattr(function, "process_element1")
            else (getattr(function, "process_element", None),)
        )
        self.inputs = tuple(
            whole_batches(function, element, key_selectors.get(number), check_keys)
            for number, element in enumerate(elements)
        )
        self._buffers: tuple[BatchBuffer, ...] = ()
        if getattr(function, "buffers_batches", False):
            self._buffers = tuple(map(BatchBuffer, self.inputs))
            self.inputs = self._buffers

    def before_barrier(self) -> Rows:
        """The rows that the function has buffered, after it has processed all waiting batches."""
        emitted = [rows for buffer in self._buffers if len(rows := buffer.release())]
        buffered: Rows | None = self._call("before_barrier")
        rows = () if buffered is None else buffered
        return joined((*emitted, rows)) if emitted else rows

    def finish(self) -> Rows:
        """The rows that the function has buffered, and its last rows."""
        return joined((self.before_barrier(), tuple(self._call("finish") or ())))

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Take a snapshot of all state. The synchronous part already encodes the operator state."""
        self._call("snapshot_state", checkpoint)
        mine = self._store.sections()
        rest = self._state.snapshot(checkpoint, alone)
        return lambda: {**mine, **rest()}

    def notify_complete(self, checkpoint: int) -> None:
        """Notify the state backend that `checkpoint` is complete."""
        self._state.notify_complete(checkpoint)

    def notify_abort(self, checkpoint: int) -> None:
        """Notify the state backend that `checkpoint` was aborted."""
        self._state.notify_abort(checkpoint)

    def close(self) -> None:
        """Close the function, then the state."""
        try:
            self._call("close")
        finally:
            self._state.close()

    def _call(self, hook: str, *given: object) -> Any:  # noqa: ANN401 - the result of the user's function
        """Call the optional method `hook` of the function; does nothing if the function does not have it."""
        called = getattr(self._function, hook, None)
        return None if called is None else called(*given)


def whole_batches(
    function: Any,  # noqa: ANN401
    element: Any,  # noqa: ANN401
    key_of: KeySelector | None,
    check_keys: CheckKeys = require_keys,
) -> Process:
    """A function that passes the rows of one input to the user's function, and returns the rows to emit.

    It passes whole Arrow batches if the user's function has a method for them, else single rows.
    """
    columns = None if key_of is None else columns_of(key_of)
    by_row = _by_row(function, element, key_of, check_keys)

    def process(rows: Rows) -> Rows:
        if isinstance(rows, pa.RecordBatch):
            if columns is not None and hasattr(function, "process_keyed_batch"):
                found = columns.keys_of(rows)
                check_keys(found.distinct)
                keyed: Rows = function.process_keyed_batch(found, rows)
                return keyed
            if hasattr(function, "process_batch"):
                made: Rows = function.process_batch(rows)
                return made
            keys = None if columns is None else columns.keys_of(rows).by_row()
            return by_row(rows_of(rows), keys)
        return by_row(rows, None)

    return process


def _by_row(
    function: Any,  # noqa: ANN401
    element: Any,  # noqa: ANN401
    key_of: KeySelector | None,
    check_keys: CheckKeys,
) -> Callable[[Sequence[Row], Sequence[Hashable] | None], Rows]:
    """A function that passes single rows to the user's function. Its arguments are rows and keys, or None.

    If the keys are None, it computes them.
    """

    def refused(rows: Sequence[Row], keys: Sequence[Hashable] | None) -> Rows:
        raise StateError(
            f"{type(function).__name__} takes whole batches, keyed by columns if at all, and {len(rows)} "
            "rows came one by one: declare the source without `to_rows`, select keys by column, and put no "
            "function of rows before it"
        )

    def keyed(rows: Sequence[Row], keys: Sequence[Hashable] | None) -> Rows:
        assert key_of is not None
        keys = list(map(key_of, rows)) if keys is None else keys
        check_keys(keys)  # if a stage has one subtask, no partitioner has checked the keys
        if hasattr(function, "process_keyed_rows"):
            emitted: Rows = function.process_keyed_rows(keys, rows)
            return emitted
        try:
            return [made for key, row in zip(keys, rows, strict=True) for made in element(key, row)]
        except TypeError as wrong:
            _require_rows(wrong, function, element)
            raise

    def unkeyed(rows: Sequence[Row], keys: Sequence[Hashable] | None) -> Rows:
        if hasattr(function, "process_rows"):
            emitted: Rows = function.process_rows(rows)
            return emitted
        try:
            return [made for row in rows for made in element(None, row)]
        except TypeError as wrong:
            _require_rows(wrong, function, element)
            raise

    if element is None:
        return refused
    return unkeyed if key_of is None else keyed


def _require_rows(
    error: TypeError,
    function: Any,  # noqa: ANN401
    element: Any,  # noqa: ANN401
) -> None:
    """Raise NotRowsError if the result of the user's function has caused the error, not its code."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    here = frame is not None and frame.tb_frame.f_code.co_filename == _require_rows.__code__.co_filename
    if here and str(error).endswith("object is not iterable"):  # also if a lazy `map` of a builtin fails
        method = getattr(element, "__name__", "process_element")
        raise NotRowsError.of(function, method, f"no rows ({error})") from error
