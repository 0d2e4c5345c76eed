"""Writes the input of every engine: records in growing files (lanes), and the same records in small files.

A lane is a file of records of a fixed width, like a partition of a log. A chunk is a file with `CHUNK`
records of one lane, visible only when it is complete; engines that read folders read chunks. A record is a
line `lane,position,key,weight`. Its content depends only on its lane and its position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LANES = 4
KEYS = 13
CHUNK = 125
WIDTH = 22
"""Bytes of a record, with the end of its line. The jobs' Java and Python code repeats this number."""


def key_of(lane: int, position: int) -> int:
    """The key of a record; each key has records of all lanes."""
    return (position * 7 + lane * 3) % KEYS


def weight_of(lane: int, position: int) -> int:
    """The weight of a record. Weights vary, so that the sums of different sets of records mostly differ."""
    return 1 + (position * 37 + lane * 11) % 997


def record(lane: int, position: int) -> str:
    """The line of a record, with its end."""
    return f"{lane:02},{position:06},{key_of(lane, position):04},{weight_of(lane, position):06}\n"


@dataclass
class Feed:
    """Writes the input under `folder`. `records`: their total number, divided equally between the lanes.

    Raises ValueError unless each lane has whole chunks.
    """

    folder: Path
    records: int
    fed: int = field(default=0, init=False)
    """The number of written records. Record i of the input is in lane i mod LANES."""

    def __post_init__(self) -> None:
        """Make empty lanes."""
        if self.records % (LANES * CHUNK):
            raise ValueError(f"expected a multiple of {LANES * CHUNK} records, got {self.records}")
        self.lanes.mkdir(parents=True)
        self.chunks.mkdir()
        for lane in range(LANES):
            self._lane(lane).touch()

    @property
    def lanes(self) -> Path:
        """The folder of the lanes."""
        return self.folder / "lanes"

    @property
    def chunks(self) -> Path:
        """The folder of the chunks."""
        return self.folder / "chunks"

    @property
    def complete(self) -> bool:
        """Whether all records were written."""
        return self.fed == self.records

    def feed(self, until: int) -> None:
        """Write records until `until` records are written in total, or all."""
        until = min(until, self.records)
        for lane, first, last in self._spans(until):
            with self._lane(lane).open("a", encoding="ascii") as file:
                file.write("".join(record(lane, position) for position in range(first, last)))
            for chunk in range(first // CHUNK, last // CHUNK):
                self._publish(lane, chunk)
        self.fed = max(self.fed, until)

    def _spans(self, until: int) -> Iterator[tuple[int, int, int]]:
        for lane in range(LANES):
            first, last = ((number + LANES - 1 - lane) // LANES for number in (self.fed, until))
            if last > first:
                yield lane, first, last

    def _publish(self, lane: int, chunk: int) -> None:
        text = "".join(record(lane, position) for position in range(chunk * CHUNK, (chunk + 1) * CHUNK))
        hidden = self.folder / f".chunk-{lane}"
        hidden.write_text(text, encoding="ascii")
        hidden.rename(self.chunks / f"chunk-{chunk:04}-{lane:02}.csv")

    def _lane(self, lane: int) -> Path:
        return self.lanes / f"lane-{lane:02}"
