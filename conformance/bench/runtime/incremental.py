"""Measures incremental checkpoints of large state in RocksDB: their cost by the number of changed keys."""

import random
import shutil
import time
from pathlib import Path
from statistics import mean

import numpy as np

from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.scale import Scale
from impl.state import CheckpointStorage, KeyedContext
from impl.state.backends.rocksdb import RocksDbKeyedStateBackend, shared_in

FRACTIONS = (0.0003, 0.001, 0.003, 0.01, 0.03)
CHECKPOINTS_EACH = 8
FIT_TARGET = 0.95
_LOADED_AT_ONCE = 100_000


def measure(folder: Path, scale: Scale) -> Report:
    """Load the state, then change a fraction of it before each checkpoint."""
    place = folder / "incremental"
    shutil.rmtree(place, ignore_errors=True)
    storage = CheckpointStorage(place)
    backend = RocksDbKeyedStateBackend(
        KeyedContext("state-0"), storage.working("state-0", 1), storage.shared, 1
    )
    state = backend.value_state("totals", immutable=True)
    for first in range(0, scale.state_keys, _LOADED_AT_ONCE):
        keys = range(first, min(first + _LOADED_AT_ONCE, scale.state_keys))
        state.put_all(keys, [(key, key) for key in keys])
    known: set[str] = set()
    whole, _ = _checkpoint(backend, 1, known)
    draw = random.Random(scale.state_keys)
    points: dict[float, list[tuple[float, float]]] = {one: [] for one in FRACTIONS}
    order = [fraction for fraction in FRACTIONS for _ in range(CHECKPOINTS_EACH)]
    for number, fraction in enumerate(order, 2):
        changed = draw.sample(range(scale.state_keys), max(1, int(scale.state_keys * fraction)))
        state.put_all(changed, [(key, number) for key in changed])
        points[fraction].append(_checkpoint(backend, number, known))
    backend.close()
    shutil.rmtree(place, ignore_errors=True)
    return _report(scale, whole, points)


def _checkpoint(backend: RocksDbKeyedStateBackend, number: int, known: set[str]) -> tuple[int, float]:
    """Take a checkpoint. Returns the number of its new bytes, and its processor seconds.

    `known`: the files of earlier checkpoints; the new files are added to it.
    """
    began = time.process_time()
    sections = backend.snapshot(number)()
    spent = time.process_time() - began
    backend.notify_complete(number)
    new = [one for one in shared_in(sections, "bench") if one.file not in known]
    known.update(one.file for one in new)
    return sum(one.size for one in new) + sum(map(len, sections.values())), spent


def _report(scale: Scale, whole: int, points: dict[float, list[tuple[float, float]]]) -> Report:
    changed = np.array([fraction * scale.state_keys for fraction in points])
    sizes = np.array([mean(size for size, _ in points[fraction]) for fraction in points])
    slope, base = np.polyfit(changed, sizes, 1)
    left = sizes - (slope * changed + base)
    fit = 1 - float(left @ left) / float(((sizes - sizes.mean()) ** 2).sum())
    fitted = f"{slope:.0f} bytes a changed key, and {base / 1e6:.1f} MB besides"
    name = "incremental checkpoints: linear fit of bytes written to keys changed"
    figures = [
        Figure(name, "R²", [fit], FIT_TARGET, note=fitted),
        Figure("whole state", "MB", [whole / 1e6], note="written by the first checkpoint"),
    ]
    for fraction, found in points.items():
        name = f"{fraction * 100:g} % of the keys changed"
        written = [size / 1e6 for size, _ in found]
        spent = [seconds * 1e3 for _, seconds in found]
        figures.append(Figure(f"{name}, written", "MB", written, note=f"mean {mean(written):.2f}"))
        figures.append(Figure(f"{name}, processor time", "ms", spent, note=f"mean {mean(spent):.0f}"))
    return Report(
        "incremental",
        "Incremental checkpoints",
        f"One subtask has {scale.state_keys:,} keys in RocksDB, of which random ones change before each "
        f"checkpoint. There are {CHECKPOINTS_EACH} checkpoints of each number of changed keys. The fit uses "
        "their means, which include the compactions of RocksDB",
        figures,
        {"written": [(float(c), float(s) / 1e6) for c, s in zip(changed, sizes, strict=True)]},
    )
