"""Records the event log of a job on Spark that takes a checkpoint every few milliseconds."""

import shutil
from pathlib import Path

from conformance.bench.runtime import word_counts

_ROWS_PER_SECOND, _INTERVAL_MS = 40_000.0, 20


def recorded(folder: Path, rows: int) -> Path:
    """Run a job on this number of rows, 40,000 a second, with a checkpoint every 20 ms. Returns its log."""
    output = folder / "out-recorded"
    shutil.rmtree(output, ignore_errors=True)
    source = word_counts.files(folder, rows)
    job = word_counts.job(
        word_counts.ARROW, source, output, interval_ms=_INTERVAL_MS, rows_per_second=_ROWS_PER_SECOND
    )
    job.execute(f"local[{word_counts.SLOTS}]", output, event_log=True)
    return output / "events"
