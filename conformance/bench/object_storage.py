"""Compares the cost of a checkpoint in an object store with one on the local disk, without Spark.

    python -m conformance.bench.object_storage

Each of eight tasks writes its snapshot in its own thread, as in a job. Then the checkpoint is published, and
the oldest of four is deleted. The object store is the server of `moto` on this machine, so its latency is
that of Python, not of a network.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from conformance.torture.servers.object_server import ObjectServer
from impl.state import CheckpointStorage, StateHandle, encode

TASKS: Final = 8
CHECKPOINTS: Final = 20
SIZES: Final = (1_000, 100_000, 1_000_000)
"""Sizes of each task's snapshot in bytes. Snapshots of the first size are stored inline, in the metadata."""
_INLINE: Final = 4_096
_RETAINED: Final = 3


def measure(storage: CheckpointStorage, size: int) -> list[float]:
    """The time of each checkpoint in ms, from its reservation to the deletion of the oldest one."""
    attempt, lasted = storage.new_attempt(), []
    snapshot = encode(os.urandom(size))
    with ThreadPoolExecutor(TASKS) as tasks:
        for checkpoint in range(1, CHECKPOINTS + 1):
            began = time.perf_counter()
            storage.reserve(checkpoint)
            handles = list(
                tasks.map(_write, [(storage, checkpoint, attempt, n, snapshot) for n in range(TASKS)])
            )
            storage.publish(checkpoint, attempt, handles)
            storage.discard(checkpoint - _RETAINED)
            lasted.append(1_000 * (time.perf_counter() - began))
    return lasted


def _write(one: tuple[CheckpointStorage, int, int, int, bytes]) -> StateHandle:
    storage, checkpoint, attempt, number, snapshot = one
    return storage.write(checkpoint, f"count-{number}", attempt, snapshot)


@contextmanager
def _places() -> Iterator[dict[str, Path | str]]:
    with tempfile.TemporaryDirectory() as folder, ObjectServer() as server:
        os.environ.update(server.environment)
        yield {"local disk": Path(folder), "object store": server.uri("bench")}


def main() -> None:
    """Print the median and the 90th percentile for each size and place."""
    with _places() as places:
        for size in SIZES:
            for name, place in places.items():
                where = place / str(size) if isinstance(place, Path) else f"{place}/{size}"
                lasted = measure(CheckpointStorage(where, _INLINE), size)
                slow = statistics.quantiles(lasted, n=10)[-1]
                print(f"{size:>9,} bytes a task, {name}: {statistics.median(lasted):.1f} ms, p90 {slow:.1f}")  # noqa: T201


if __name__ == "__main__":
    main()
