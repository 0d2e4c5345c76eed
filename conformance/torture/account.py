"""Makes the `Account` of a run of the numbers job for the classifier: its input, its output, and its state.

The input is known in advance: number n belongs to key n mod KEYS, and is row n // SOURCES of partition
n mod SOURCES. The output is read through its manifests, the state from the checkpoint files. Records in
flight towards the counting tasks count as part of a checkpoint's state.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from conformance.observe.guarantees.guarantee import Account, Cut, Row, Seen, Sent, Totals
from impl.connectors.manifests import Manifest, list_committed, read_committed
from impl.jobs.numbers import COUNTERS, KEYS, SOURCES
from impl.spark.channels.frames import unpack_rows
from impl.spark.snapshots.in_flight import in_flight
from impl.state import (
    CheckpointStorage,
    CompletedCheckpoint,
    HeapKeyedStateBackend,
    KeyedContext,
    SnapshotCorruptError,
)
from impl.state.locations import Where, beside, location_of, recorded_checkpoint_folder

_MAX_PARALLELISM = 128


def sent(rows: int) -> dict[Hashable, Sent]:
    """The input by number: the numbers below `rows`."""
    return {
        number: Sent(number % KEYS, f"numbers-{number % SOURCES}", number // SOURCES, number)
        for number in range(rows)
    }


def places_of(folder: Path) -> tuple[Where, Where]:
    """The places of checkpoints and output of the run in `folder`: in this folder, or in an object store."""
    recorded = recorded_checkpoint_folder(folder)
    root = folder if recorded is None else str(recorded).rpartition("/")[0]
    return beside(root, "checkpoints"), beside(root, "committed")


def committed_rows(folder: Where, manifests: Iterable[Manifest] | None = None) -> list[Row]:
    """All committed rows, or those of the given manifests."""
    table = read_committed(folder, only=manifests)
    if not table.num_columns:
        return []
    columns = (table.column(name).to_pylist() for name in ("key", "number", "count", "total"))
    return [Row(*values) for values in zip(*columns, strict=True)]


def account_of(
    rows: int, folder: Path, seen: Iterable[Seen] = (), committed: Sequence[Row] | None = None
) -> Account:
    """The account of the run that has ended in `folder`.

    `seen`: rows that were read during the run. `committed`: the rows of the run's output table; None: the run
    wrote Parquet files. Raises StateError or ConnectorError if a file cannot be read.
    """
    checkpoints, output = places_of(folder)
    storage = CheckpointStorage(checkpoints)
    latest = storage.latest_completed()
    cuts = []
    for checkpoint in storage.completed_ids():
        try:
            cuts.append(_cut(storage, storage.load(checkpoint)))
        except SnapshotCorruptError:
            continue  # a fault has damaged this checkpoint; the output shows whether it was restored
    newest = latest.completed.checkpoint if latest.completed else None
    return Account(
        sent=sent(rows),
        committed=committed_rows(output) if committed is None else committed,
        state=next((cut.state for cut in cuts if cut.checkpoint == newest), None),
        cuts=cuts,
        seen=tuple(seen),
    )


def _cut(storage: CheckpointStorage, completed: CompletedCheckpoint) -> Cut:
    state: dict[Hashable, Totals] = {}
    flying: dict[int, list[int]] = defaultdict(list)
    offsets: dict[Hashable, int] = {}
    for task, handle in completed.handles.items():
        stage, _, index = task.rpartition("-")
        snapshot = storage.open(handle)
        received, overtaken = in_flight(snapshot)
        if stage == "numbers":
            offsets[task] = handle.offset or 0
            _count(flying, overtaken)
        elif stage == "count":
            _count(flying, received)
            backend = HeapKeyedStateBackend(KeyedContext.of(task, int(index), COUNTERS, _MAX_PARALLELISM))
            backend.restore((snapshot,))
            held = backend.value_state("accumulator")
            state |= {key: Totals(*accumulator) for key, accumulator in held.items()}
    for key, numbers in flying.items():
        records, total = state.get(key, (0, 0))
        state[key] = Totals(records + len(numbers), total + sum(numbers))
    return Cut(completed.checkpoint, offsets, state)


def _count(flying: dict[int, list[int]], frames: Mapping[str, Iterable[bytes]]) -> None:
    for one in frames.values():
        for frame in one:
            for key, number in unpack_rows(frame):
                flying[key].append(number)


class Reader:
    """Reads the output while the job runs. The caller calls `look` at any time, and `seen` at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Manifest, list[Seen]] = {}

    def look(self) -> None:
        """Read the new manifests and their rows, and whether their checkpoint or a newer one is complete now.

        A newer one is enough, because its completion also commits the rows of aborted checkpoints (SINK-05).
        """
        checkpoints, output = places_of(self._folder)
        if "manifests" not in location_of(output).folders():
            return
        new = [one for one in list_committed(output) if one not in self._known]
        newest = max(CheckpointStorage(checkpoints).completed_ids(), default=-1)
        for one in new:
            rows = committed_rows(output, (one,))
            self._known[one] = [Seen(row, one.checkpoint, one.checkpoint <= newest) for row in rows]

    def seen(self) -> list[Seen]:
        """The rows that were visible at some call of `look`."""
        return [row for rows in self._known.values() for row in rows]
