"""Whether a measure grows over a life: compares the medians of the first and the last tenth.

The memory of a runtime grows while it warms up, and then stays constant. So growth counts only if it
continues in the second half.
"""

from collections.abc import Sequence
from statistics import median

TENTHS = 10
SLOWER = 2.0
"""An answer time that grows by this factor is a finding."""
LARGER = 1.1
"""Memory that grows by this factor, and by LARGER_BYTES, is a finding."""
LARGER_BYTES = 2**20
"""See LARGER."""
STEADY = 0.25
"""Growth counts only if at least this share is in the second half. Growth at a constant rate has 4 / 9."""


def slower(seconds: Sequence[float]) -> str | None:
    """A sentence if the time per event grows, else None. `seconds`: the mean of each request."""
    first, last = _grown(seconds, SLOWER, 0.0)
    if not last:
        return None
    return (
        f"an event takes {last * 1e6:,.0f} microseconds in the last tenth, {first * 1e6:,.0f} in the first; "
        f"expected less than {SLOWER:g} times as many"
    )


def larger(sizes: Sequence[float]) -> str | None:
    """A sentence if the memory grows, else None. `sizes`: the bytes of memory that the processes used."""
    first, last = _grown(sizes, LARGER, LARGER_BYTES)
    if not last:
        return None
    return (
        f"memory is {last / 2**20:,.1f} MiB in the last tenth, {first / 2**20:,.1f} in the first; "
        f"expected less than {LARGER:g} times as much, or 1 MiB more"
    )


def _grown(measured: Sequence[float], times: float, least: float) -> tuple[float, float]:
    """The medians of the first and the last tenth if they differ by `times` and by `least`, else zeros."""
    size = len(measured) // TENTHS
    if not size:
        return 0.0, 0.0
    first, half, last = (median(measured[at : at + size]) for at in (0, 5 * size, len(measured) - size))
    grows = last >= times * first and last - first >= least and last - half >= STEADY * (last - first)
    return (first, last) if grows else (0.0, 0.0)
