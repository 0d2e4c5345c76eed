"""A process function that aggregates columns by key with Arrow's kernels; no row becomes a Python object.

The function groups each batch by key, and merges the groups of several batches. Only then does it read the
state, once for each distinct key. Before each barrier it writes the state of each key that has changed, and
emits one row for this key.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from impl.aggregation.sums import declared, in_python, one_type, plus, safe_to_sum
from impl.batches import KeyColumns, Rows, exact, key_column
from impl.graph.plan import Row
from impl.state import KeyedStateBackend
from impl.state.backends.key_values import require_keys

_GROUPS: Final = 65_536
"""When this number of groups waits, the function merges them into the accumulators."""


class Kernel(NamedTuple):
    """One kind of aggregate: the names of its Arrow kernels, and its merge function in Python."""

    name: str
    """The kernel that aggregates rows."""
    again: str
    """The kernel that merges results of the same key."""
    merge: Callable[[Any, Any], Any]
    """The Python function that merges two results."""


def _lesser(one: Any, other: Any) -> Any:  # noqa: ANN401 - values of a column
    """The lesser of two values. As in Arrow's kernels, the result is NaN only if both values are NaN."""
    return other if other < one or one != one else one


def _greater(one: Any, other: Any) -> Any:  # noqa: ANN401
    return other if other > one or one != one else one


_COUNT: Final = Kernel("count_all", "sum", plus)
_SUM: Final = Kernel("sum", "sum", plus)
_LEAST: Final = Kernel("min", "min", _lesser)
_GREATEST: Final = Kernel("max", "max", _greater)


class Of(NamedTuple):
    """An aggregate of one column."""

    kernel: Kernel
    column: str | None
    """None: the aggregate counts rows."""


def count() -> Of:
    """The number of rows."""
    return Of(_COUNT, None)


def sum_of(column: str) -> Of:
    """The sum of a column, exact for integers and decimals; null if all values are null.

    The result has the type of Arrow's sum: 64 bits for integers, the maximum number of digits for decimals. A
    sum that does not fit into this type ends the job with an AggregateOverflowError.
    """
    return Of(_SUM, column)


def least(column: str) -> Of:
    """The least value of a column. Nulls do not count, and NaN does not count if there is a number."""
    return Of(_LEAST, column)


def greatest(column: str) -> Of:
    """The greatest value of a column. Nulls do not count, and NaN does not count if there is a number."""
    return Of(_GREATEST, column)


class AggregatingColumns:
    """The process function; it emits batches with the columns of the key and one column for each aggregate.

    `aggregates`: the aggregate of each column of the result, by the name of the column.
    """

    def __init__(self, key: KeyColumns, aggregates: Mapping[str, Of]) -> None:
        self._key = key
        self._names = tuple(aggregates)
        self._kinds = tuple(aggregates.values())
        self._waiting: list[pa.Table] = []
        self._groups = 0
        self._batches: pa.Schema | None = None
        self._schema: pa.Schema | None = None
        self._changed: dict[Hashable, tuple[Any, ...]] = {}
        """The accumulators of keys that have changed since the last barrier. The next barrier stores them."""

    def open(self, state: KeyedStateBackend) -> None:
        """Open the state. The accumulator of a key is the tuple of its aggregates."""
        self._state = state.value_state("accumulators", immutable=True)

    def process_batch(self, batch: pa.RecordBatch) -> Sequence[Row]:
        """Group a batch, and update the accumulators when enough groups wait."""
        named = [batch.schema.field(one).name for one in self._key.columns]
        if self._batches != batch.schema:
            self._batches, self._schema = batch.schema, None
            self._schema = self._groups_of(batch.slice(0, 0), named).schema
        table = self._groups_of(batch, named)
        self._waiting.append(table)
        self._groups += table.num_rows
        if self._groups >= _GROUPS:
            self._update()
        return ()

    def _groups_of(self, batch: pa.RecordBatch, named: list[str]) -> pa.Table:
        """The groups of one batch: the columns of the key, which are `named`, then the aggregates."""
        columns = {f"key {name}": key_column(batch.column(name)) for name in named}
        columns |= {f"of {of.column}": batch.column(of.column) for of in self._kinds if of.column}
        columns |= {
            f"sum of {of.column}": safe_to_sum(batch.column(of.column), of.column)
            for of in self._kinds
            if of.column and of.kernel is _SUM
        }
        requested = [
            (f"{'sum ' if of.kernel is _SUM else ''}of {of.column}" if of.column else [], of.kernel.name)
            for of in self._kinds
        ]
        grouped = _grouped(pa.table(columns), [f"key {name}" for name in named], requested)
        return pa.table([_plain(one) for one in grouped.columns], names=[*named, *self._names])

    def before_barrier(self) -> Rows:
        """Store the accumulators of the keys that have changed since the last barrier; returns their rows."""
        self._update()
        changed, self._changed = self._changed, {}
        if self._schema is None or not changed:
            return ()
        self._state.put_all([*changed], [*changed.values()])
        columns = [[*changed]] if len(self._key.columns) == 1 else [*zip(*changed, strict=True)]
        columns += [*zip(*changed.values(), strict=True)]
        arrays = [declared(column, field) for column, field in zip(columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _update(self) -> None:
        """Merge the waiting groups by key, and add them to the accumulators."""
        if not self._waiting:
            return
        assert self._schema is not None
        keyed = len(self._key.columns)
        several = pa.concat_tables(one_type(self._waiting, keyed))
        self._waiting, self._groups = [], 0
        for index, of in enumerate(self._kinds, keyed):
            if of.kernel.again == "sum":
                name = several.column_names[index]
                several = several.set_column(index, name, safe_to_sum(several.column(index), name))
        requested = [(name, of.kernel.again) for name, of in zip(self._names, self._kinds, strict=True)]
        grouped = _grouped(several, several.column_names[:keyed], requested).columns
        columns = [
            in_python(exact(one), field.type) for one, field in zip(grouped, self._schema, strict=True)
        ]
        keys: Sequence[Hashable] = columns[0] if keyed == 1 else [*zip(*columns[:keyed], strict=True)]
        new: Sequence[Sequence[Any]] = columns[keyed:]
        if not keys:
            return
        require_keys(keys)
        if len(set(keys)) < len(keys):  # some keys are equal in Python but not in Arrow, such as 0.0 and -0.0
            keys, new = self._distinct(keys, new)
        changed = self._changed
        others = [key for key in keys if key not in changed]
        if others:
            nothing = (None,) * len(self._kinds)
            found = (nothing if one is None else one for one in self._state.get_all(others))
            changed.update(zip(others, found, strict=True))
        before = [changed[key] for key in keys]
        after = zip(*self._merged([*zip(*before, strict=True)], new), strict=True)
        changed.update(zip(keys, after, strict=True))

    def _merged(self, before: Sequence[Sequence[Any]], new: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The aggregates of the same keys, merged column by column. A null counts as no value."""
        merged = []
        for of, olds, news in zip(self._kinds, before, new, strict=True):
            merge = of.kernel.merge
            if None in olds or None in news:
                both = zip(olds, news, strict=True)
                merged.append([b if a is None else a if b is None else merge(a, b) for a, b in both])
            else:
                merged.append([*map(merge, olds, news)])
        return merged

    def _distinct(
        self, keys: Sequence[Hashable], columns: Sequence[Sequence[Any]]
    ) -> tuple[Sequence[Hashable], Sequence[Sequence[Any]]]:
        """The keys that are distinct in Python, and for each column the merged aggregates of these keys."""
        found: dict[Hashable, Sequence[Any]] = {}
        for key, *values in zip(keys, *columns, strict=True):
            one = [[value] for value in values]
            found[key] = self._merged(found[key], one) if key in found else one
        return [*found], [[value for (value,) in column] for column in zip(*found.values(), strict=True)]


def _grouped(table: pa.Table, keys: list[str], requested: list[Any]) -> pa.Table:
    """A table with a row for each distinct key: the columns `keys`, then the `requested` aggregates."""
    return table.group_by(keys, use_threads=False).aggregate(requested)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without dictionary encoding, because batches may have different dictionaries."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
