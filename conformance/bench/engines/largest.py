"""Measures the memory of one very large search on one machine."""

from pathlib import Path

from conformance.bench.engines.checkers import Gate, ours
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.scale import Scale

MEMORY_TARGET = 24.0
"""Maximum memory of all processes in GiB, for the gate of `Scale.most` with 100 million states."""
CORES = 2


def measure(folder: Path, scale: Scale) -> Report:
    """Measure one search of the compiled kernel. Raises MeasurementError."""
    del folder  # the search makes a folder of its own
    gate = Gate(*scale.most)
    found = ours("unlabelled", gate, str(CORES))
    rate = found.states / found.seconds / 1e6
    note = f"{found.transitions:,} transitions in {found.seconds:,.0f} s, after {found.start:,.0f} s of start"
    name = f"memory of a search of {found.states / 1e6:.0f} million states"
    setting = (
        f"The compiled kernel visits every reachable state of the {gate.name} on {CORES} cores, with every "
        "event possible at each step, and checks every property. The memory is the peak of all processes"
    )
    figures = [
        Figure(name, "GiB", [found.peak / 2**30], MEMORY_TARGET, at_most=True),
        Figure("distinct states", "M", [found.states / 1e6]),
        Figure("rate", "M states/s", [rate], note=note),
    ]
    return Report("largest", "The largest search", setting, figures)
