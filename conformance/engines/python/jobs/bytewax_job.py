"""The job on Bytewax: lanes as partitions, a stateful map by key, and Bytewax's sink into a file.

Runs in an environment with Bytewax and without this project: `python -m bytewax.run -r RECOVERY FILE:flow`.
The settings come in environment variables, because `bytewax.run` passes no arguments to a dataflow.
"""

import os
from pathlib import Path

import bytewax.operators as op
from bytewax.connectors.files import FileSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

WIDTH, AT_ONCE = 22, 20
LANES = Path(os.environ["ENGINE_LANES"])
END = Path(os.environ["ENGINE_END"])
OUTPUT = Path(os.environ["ENGINE_OUTPUT"])
PROGRESS = os.open(
    Path(os.environ["ENGINE_PROGRESS"]) / str(os.getpid()), os.O_CREAT | os.O_APPEND | os.O_WRONLY
)


class Lane(StatefulSourcePartition[str, int]):
    """One lane from an offset on. It ends after its last record, when the file `end` exists."""

    def __init__(self, file: Path, offset: int) -> None:
        self._file, self._offset = file, offset

    def next_batch(self) -> list[str]:
        """The next records; none if they are not written yet. Raises StopIteration at the input's end."""
        over = END.exists()
        with self._file.open("rb") as file:
            file.seek(self._offset * WIDTH)
            read = file.read(AT_ONCE * WIDTH)
        lines = read[: len(read) // WIDTH * WIDTH].decode().splitlines()
        if over and not lines:
            raise StopIteration
        self._offset += len(lines)
        return lines

    def snapshot(self) -> int:
        """The offset: the number of records read so far."""
        return self._offset


class Lanes(FixedPartitionedSource[str, int]):
    """The source: each lane is a partition."""

    def list_parts(self) -> list[str]:
        """The names of the partitions."""
        return sorted(file.name for file in LANES.iterdir())

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> Lane:
        """A lane from the snapshot's offset on, or from its beginning."""
        del step_id
        return Lane(LANES / for_part, resume_state or 0)


def counted(state: tuple[int, int] | None, line: str) -> tuple[tuple[int, int], str]:
    """The state after a record, and its row."""
    lane, position, key, weight = map(int, line.split(","))
    place, total = state or (0, 0)
    place, total = place + 1, total + weight
    os.write(PROGRESS, b".")
    return (place, total), f"{key},{lane},{position},{place},{total}"


flow = Dataflow("barrierspec")
lines = op.input("lanes", flow, Lanes())
keyed = op.key_on("keyed", lines, lambda line: line.split(",")[2])
rows = op.stateful_map("counting", keyed, counted)
op.output("sink", rows, FileSink(OUTPUT / "rows"))
