"""Stores samples as lines of JSON, so that an interrupted measurement can continue."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

_MOST = 2.0
"""Two samples are compared only if the load of one is at most this factor times that of the other."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The small run and the large run of one contestant in one turn."""

    name: str
    turn: int
    rows: tuple[int, int]
    seconds: tuple[float, float]
    cpu: tuple[float, float]
    """Processor seconds of all processes, of the small and of the large run."""
    checkpoints: int
    """The number of checkpoints with committed output in the large run."""
    load: float
    """The machine's load average of the last minute, at the end."""

    @property
    def rate(self) -> float:
        """Rows a second, without the time of the start; negative if the small run took longer."""
        return (self.rows[1] - self.rows[0]) / (self.seconds[1] - self.seconds[0])

    @property
    def cpu_a_million(self) -> float:
        """Processor seconds for a million rows, without those of the start."""
        return (self.cpu[1] - self.cpu[0]) / (self.rows[1] - self.rows[0]) * 1e6

    @property
    def is_valid(self) -> bool:
        """Whether the large run took longer than the small one."""
        return self.seconds[1] > self.seconds[0]


class Turns:
    """The samples in a file. `compared`: the configuration. Samples of another configuration do not count."""

    def __init__(self, file: Path, compared: object) -> None:
        self._file = file
        self._key = hashlib.sha256(repr(compared).encode()).hexdigest()[:16]
        kept = [one for one in self._lines() if one.pop("key") == self._key]
        self.samples = [Sample(**_tuples(one)) for one in kept if "latency" not in one]
        self.latencies = {one["name"]: one["latency"] for one in kept if "latency" in one}
        """By contestant: the percentiles in ms, and the number of records."""
        self.resumed = len(self.samples)

    def add(self, sample: Sample) -> None:
        """Store a sample."""
        self.samples.append(sample)
        self._keep(asdict(sample))

    def add_latency(self, name: str, latency: list[float]) -> None:
        """Store the latencies of a contestant."""
        self.latencies[name] = latency
        self._keep({"name": name, "latency": latency})

    def has(self, name: str, turn: int) -> bool:
        """Whether the file has the sample of this contestant in this turn."""
        return any((one.name, one.turn) == (name, turn) for one in self.samples)

    def of(self, name: str) -> list[Sample]:
        """The samples of a contestant by turn."""
        return sorted((one for one in self.samples if one.name == name), key=lambda one: one.turn)

    def whole(self, names: Sequence[str]) -> int:
        """The number of turns, counted from the first one, that all these contestants have taken."""
        return next(
            turn for turn in range(len(self.samples) + 1) if not all(self.has(n, turn) for n in names)
        )

    def pairs(self, first: str, second: str) -> list[tuple[Sample, Sample]]:
        """The samples of two contestants in each turn in which both are valid and had a similar load."""
        others = {one.turn: one for one in self.of(second) if one.is_valid}
        both = [(one, others[one.turn]) for one in self.of(first) if one.is_valid and one.turn in others]
        loads = [sorted((one.load, other.load)) for one, other in both]
        return [pair for pair, (low, high) in zip(both, loads, strict=True) if high <= _MOST * low]

    def _keep(self, line: dict[str, Any]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as opened:
            opened.write(orjson.dumps({"key": self._key, **line}) + b"\n")

    def _lines(self) -> Iterator[dict[str, Any]]:
        if self._file.exists():
            for line in self._file.read_bytes().splitlines():
                yield orjson.loads(line)


def load() -> float:
    """The machine's load average of the last minute: processes that run or wait for a processor."""
    return os.getloadavg()[0]


def _tuples(one: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
