"""Processing: the operator that runs a user's function over rows and the state of their keys."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from impl.plan import KeySelector, Row
from impl.spark.operators import Process
from impl.state import AsynchronousPart, KeyedStateBackend, OperatorStateStore
from impl.state.shared import SharedFiles


class ProcessOperator:
    """Runs a user's function, with one input or two.

    `key_selectors`: by input, for those that are keyed. `state` and `store` keep the state by key and by
    subtask, and hold what was restored.
    """

    def __init__(
        self,
        function: Any,  # noqa: ANN401 - a ProcessFunction or a CoProcessFunction
        key_selectors: Mapping[int, KeySelector],
        state: KeyedStateBackend,
        store: OperatorStateStore | None = None,
    ) -> None:
        self._state = state
        self._store = OperatorStateStore() if store is None else store
        self._function = function
        self._call("initialize_state", self._store)
        self._call("open", state)
        elements = (
            (function.process_element1, function.process_element2)
            if hasattr(function, "process_element1")
            else (function.process_element,)
        )
        self.inputs = tuple(
            _whole_batches(function, element, key_selectors.get(number))
            for number, element in enumerate(elements)
        )

    def finish(self) -> Sequence[Row]:
        """The function's last rows."""
        return tuple(self._call("finish") or ())

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """All state; that of the subtask is encoded here and now."""
        self._call("snapshot_state", checkpoint)
        mine = self._store.sections()
        rest = self._state.snapshot(checkpoint, alone)
        return lambda: {**mine, **rest()}

    def notify_complete(self, checkpoint: int) -> None:
        """The backend may let go of what an older checkpoint needed."""
        self._state.notify_complete(checkpoint)

    def notify_abort(self, checkpoint: int) -> None:
        """The backend may let go of what this checkpoint needed."""
        self._state.notify_abort(checkpoint)

    def close(self) -> None:
        """The function lets go, then the state is closed."""
        try:
            self._call("close")
        finally:
            self._state.close()

    def _call(self, hook: str, *given: object) -> Any:  # noqa: ANN401 - what the user's function answers
        """Call a hook of the function, if it has it."""
        called = getattr(self._function, hook, None)
        return None if called is None else called(*given)


def _whole_batches(function: Any, element: Any, key_of: KeySelector | None) -> Process:  # noqa: ANN401
    """What takes the batches of one input: each row in its order."""
    if key_of is None and hasattr(function, "process_rows"):
        rowwise: Process = function.process_rows
        return rowwise
    if key_of is not None and hasattr(function, "process_keyed_rows"):
        return partial(function.process_keyed_rows, key_of)

    def keyed(rows: Sequence[Row]) -> Sequence[Row]:
        assert key_of is not None
        out: list[Row] = []
        for row in rows:
            out.extend(element(key_of(row), row))
        return out

    def unkeyed(rows: Sequence[Row]) -> Sequence[Row]:
        out: list[Row] = []
        for row in rows:
            out.extend(element(None, row))
        return out

    return unkeyed if key_of is None else keyed
