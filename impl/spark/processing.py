"""Processing: the operator that runs a user's function over rows and the state of their keys."""

from collections.abc import Sequence

from impl.functions import ProcessFunction
from impl.plan import KeySelector, Row
from impl.state import AsynchronousPart, KeyedStateBackend, Sections


class KeyedOperator:
    """Runs a process function over keyed state, which `restored` holds if the attempt goes on from some."""

    def __init__(
        self,
        function: ProcessFunction,
        key_selector: KeySelector,
        state: KeyedStateBackend,
        restored: Sequence[Sections] = (),
    ) -> None:
        self._function = function
        self._key_selector = key_selector
        self._state = state
        if restored:
            state.restore(restored)
        function.open(state)

    def process(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Every row in its order."""
        key_of, process = self._key_selector, self._function.process_element
        out: list[Row] = []
        for row in rows:
            out.extend(process(key_of(row), row))
        return out

    def finish(self) -> Sequence[Row]:
        """Nothing is held back."""
        return ()

    def snapshot(self, checkpoint: int) -> AsynchronousPart:
        """All keyed state."""
        return self._state.snapshot(checkpoint)

    def notify_complete(self, checkpoint: int) -> None:
        """The backend may let go of what an older checkpoint needed."""
        self._state.notify_complete(checkpoint)

    def notify_abort(self, checkpoint: int) -> None:
        """The backend may let go of what this checkpoint needed."""
        self._state.notify_abort(checkpoint)

    def close(self) -> None:
        """The state is closed."""
        self._state.close()
