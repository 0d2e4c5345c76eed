"""Several functions in one subtask: a function passes each batch of rows to the next one by a call.

The order of calls is that of Flink's `RegularOperatorChain`, by its bytecode in 2.3.0. Restores, opens,
snapshots, notifications and closes go from the last function to the first one. Rows, rows before a barrier
and the end of the data go from the first function to the last one. Each function has its own state and
timers.

The sections of the first function have the same names as without a chain, so that a later run can chain
further functions. The section names of another function begin with `impl.graph.rescaling.section_of(name)`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from impl.batches import Rows, joined, rows_of
from impl.functions import call_each
from impl.graph.plan import Chained, Row
from impl.graph.rescaling import CHAIN, section_of
from impl.spark.worker.operators import Operator, Process, Timers
from impl.spark.worker.processing import whole_batches
from impl.state import AsynchronousPart, Sections, encode
from impl.state.backends.rocksdb import SHARED, shared_in
from impl.state.shared import SharedFiles


class StatelessOperator(Operator):
    """A map or a filter, which has no state and no optional methods."""

    def __init__(self, link: Chained) -> None:
        self.inputs = (whole_batches(link.function, getattr(link.function, "process_element", None), None),)

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Return an asynchronous part that returns no section."""
        return dict


class ChainedOperator(Operator):
    """The functions of a chain. `head`: the first one. `behind`: the others by name, in their order."""

    def __init__(self, head: Operator, behind: Mapping[str, Operator]) -> None:
        self._operators = (head, *behind.values())
        self._prefixes = ("", *map(section_of, behind))
        self._names = encode(tuple(behind))
        self.inputs = tuple(self._then(process, 1) for process in head.inputs)
        self.listeners = tuple(chain.from_iterable(one.listeners for one in reversed(self._operators)))
        timers = [(one.timers, number) for number, one in enumerate(self._operators, 1)]
        present = [(one, number) for one, number in timers if one is not None]
        self.timers = ChainedTimers(present, self._through) if present else None

    def before_barrier(self) -> Rows:
        """The rows that the functions have buffered, after the next functions have processed them."""
        return self._from_each(lambda one: one.before_barrier())

    def finish(self) -> Rows:
        """The last rows of the functions. Each function finishes after it has got the last rows before it."""
        return self._from_each(lambda one: one.finish())

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """The sections of all functions, and their names."""
        named = zip(reversed(self._prefixes), reversed(self._operators), strict=True)
        parts = [(prefix, one.snapshot(checkpoint, alone)) for prefix, one in named]

        def asynchronous_part() -> Mapping[str, bytes]:
            sections = {CHAIN: self._names}
            shared: list[tuple[object, ...]] = []
            for prefix, part in parts:
                own = part()
                shared += map(tuple, shared_in(own, prefix))
                sections |= {f"{prefix}{name}": content for name, content in own.items()}
            return sections | ({SHARED: encode(shared)} if shared else {})

        return asynchronous_part

    def notify_complete(self, checkpoint: int) -> None:
        """Notify all functions that `checkpoint` is complete."""
        for one in reversed(self._operators):
            one.notify_complete(checkpoint)

    def notify_abort(self, checkpoint: int) -> None:
        """Notify all functions that `checkpoint` was aborted."""
        for one in reversed(self._operators):
            one.notify_abort(checkpoint)

    def close(self) -> None:
        """Close all functions. Raises the first error, after all were closed."""
        call_each(one.close for one in reversed(self._operators))

    def _then(self, process: Process, number: int) -> Process:
        return lambda rows: self._through(process(rows), number)

    def _through(self, rows: Rows, number: int) -> Rows:
        """Pass rows through the functions from `number` on."""
        for one in self._operators[number:]:
            if not len(rows):
                return ()
            rows = one.inputs[0](rows)
        return rows

    def _from_each(self, buffered: Callable[[Operator], Rows]) -> Rows:
        """The buffered rows of each function in turn, after the functions behind it have processed them."""
        pieces: list[Rows] = []
        for one in self._operators:
            if one is not self._operators[0]:
                pieces = [one.inputs[0](rows) for rows in pieces]
            pieces = [rows for rows in (*pieces, buffered(one)) if len(rows)]
        return joined(pieces)


class ChainedTimers:
    """The timers of the functions in a chain, each with the number of the next function of the chain."""

    def __init__(self, timers: Sequence[tuple[Timers, int]], through: Callable[[Rows, int], Rows]) -> None:
        self._timers = timers
        self._through = through

    def fire(self, most: int) -> list[Row]:
        """Fire at most `most` timers of each function, in order; returns the rows that leave the chain."""
        return [row for one, behind in self._timers for row in rows_of(self._through(one.fire(most), behind))]

    def wait(self) -> float | None:
        """The seconds until the next timer may be due; None without timers."""
        return min((wait for one, _ in self._timers if (wait := one.wait()) is not None), default=None)


class SnapshotsOf(Sequence[Sections]):
    """The sections of one function of a chain in each snapshot of its stage. The first use opens them."""

    def __init__(self, snapshots: Sequence[Sections], prefix: str) -> None:
        self._snapshots = snapshots
        self._prefix = prefix

    def __len__(self) -> int:
        return len(self._snapshots)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as a list's, without slices
        return self._snapshots[index].below(self._prefix)
