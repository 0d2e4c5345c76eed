"""The sizes of the measurements: FULL for the targets, QUICK only to show that the measurements work."""

from typing import NamedTuple


class Scale(NamedTuple):
    """The sizes of all measurements except the rates."""

    rows: int = 20_000_000
    """The number of rows of the keyed aggregation, except in the comparison with Flink."""
    times: int = 5
    """The number of repetitions of a comparison with another program."""
    pairs: int = 600
    """The number of pairs of a window with a checkpoint and one without. It is high, because neighbouring
    windows differ by some 8 % anyway."""
    kills: int = 7
    state_keys: int = 10_000_000
    slow_seconds: float = 600.0
    gate_ids: tuple[int, int, int] = (6, 20, 33)
    """The highest ids of the gates that are explored: small, middle, large."""
    most: tuple[int, int] = (6, 9)
    """The number of channels and the highest id of the gate of the largest search."""
    models: tuple[str, ...] = ("coordinator", "dataflow")
    """The models of spec/manifests that are explored too."""
    composition: tuple[str, int] = ("dataflow", 4)
    """A composed dataflow of spec/manifests, and the number of records of each source."""
    jobs: int = 2_000
    """The number of jobs whose logs are validated."""
    turns: int = 5
    """Maximum number of turns of the comparison with Flink."""
    smaller: int = 1
    """The divisor of the numbers of rows in comparisons."""
    minutes: float = 40.0
    """The comparison with Flink begins no run that would end later than this. Latencies come afterwards."""


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
