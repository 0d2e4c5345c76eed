"""The sizes of a measurement: those that the targets need, or small ones that only show that it works."""

from typing import NamedTuple


class Scale(NamedTuple):
    """The sizes of everything that is measured of the runtime."""

    rows: int = 20_000_000
    """The number of rows of the keyed aggregation."""
    times: int = 5
    """Repetitions compared with Structured Streaming."""
    pairs: int = 600
    """Windows with a checkpoint, and as many without: neighbours differ by some 8 % whatever is in them."""
    kills: int = 7
    state_keys: int = 10_000_000
    slow_seconds: float = 600.0
    gate_ids: tuple[int, int, int] = (6, 20, 33)
    """The highest ids of the gates that are explored: small, middle, large."""
    most: tuple[int, int] = (6, 9)
    """Channels and highest id of the gate that is explored for its size alone."""
    models: tuple[str, ...] = ("coordinator", "dataflow")
    """Models of spec/manifests that are also explored."""
    composition: tuple[str, int] = ("dataflow", 4)
    """A composed dataflow of spec/manifests, and how many records a source has instead of its own."""
    jobs: int = 2_000
    """The number of jobs whose logs are validated."""
    turns: int = 5
    """Turns of the comparison with Flink."""
    smaller: int = 1
    """Divisor of the comparison's numbers of rows."""
    minutes: float = 40.0
    """The comparison begins no run that would end after these minutes. The latencies are measured later."""


FULL = Scale()
QUICK = Scale(
    400_000,
    1,
    2,
    1,
    100_000,
    15.0,
    (2, 3, 4),
    (3, 4),
    ("coordinator_one_at_a_time", "dataflow_two_failures"),
    ("dataflow_two_failures", 1),
    4,
    1,
    20,
    10.0,
)
