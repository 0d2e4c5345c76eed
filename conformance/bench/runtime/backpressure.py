"""Measures checkpoints while a slow sink causes backpressure: aligned ones wait, unaligned ones overtake."""

from pathlib import Path

from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.driver import OURS, driving
from conformance.bench.runtime.scale import Scale

UNALIGNED_TARGET_MS, ALIGNED_TARGET_MS = 50.0, 1_000.0
_NAME = "checkpoint under backpressure"
_BATCH_ROWS, _CHANNEL_BATCHES, _SECONDS = 100, 32, 45.0


def measure(folder: Path, scale: Scale) -> Report:
    """Run the same job in both modes. Raises MeasurementError."""
    seconds = min(_SECONDS, scale.slow_seconds)
    lasted = {}
    with driving(OURS, folder / OURS) as driver:
        for unaligned in (False, True):
            result = driver.run(
                job="slow",
                rows=10**12,
                batch_rows=_BATCH_ROWS,
                channel_batches=_CHANNEL_BATCHES,
                unaligned=unaligned,
                output=str(folder / "out-slow"),
                stop_after=seconds,
            )
            lasted[unaligned] = (
                result["checkpoints"][1:] or result["checkpoints"]
            )  # the first checkpoint came before the backpressure
    return Report(
        "backpressure",
        "Checkpoints under backpressure",
        f"The sink takes 10 ms for every batch of {_BATCH_ROWS} rows, and a channel holds {_CHANNEL_BATCHES} "
        f"batches. The job runs for {seconds:.0f} s in each mode",
        [
            Figure(f"unaligned {_NAME}", "ms", lasted[True], UNALIGNED_TARGET_MS, at_most=True),
            Figure(
                f"aligned {_NAME} (control)",
                "ms",
                lasted[False],
                ALIGNED_TARGET_MS,
                note="shows the backpressure",
            ),
        ],
    )
