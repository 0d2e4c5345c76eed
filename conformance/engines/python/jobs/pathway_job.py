"""The job on Pathway: files of a folder, a stateful reducer by key, and Pathway's sink into a file.

Runs in an environment with Pathway and without this project. Its arguments are the folder of the chunks, the
output file, and the folders of progress and checkpoints.
A line of the sink is an update of a key with the rows of its new records, joined by semicolons.
"""

import os
import sys
from pathlib import Path

import pathway as pw

CHUNKS, OUTPUT, PROGRESS, CHECKPOINTS = map(Path, sys.argv[1:5])
PROCESSED = os.open(PROGRESS / str(os.getpid()), os.O_CREAT | os.O_APPEND | os.O_WRONLY)
INTERVAL_MILLISECONDS = 200


@pw.reducers.stateful_many
def updated(state: str | None, updates: list[tuple[list[str], int]]) -> str:
    """Number and sum of the records of a key, then the rows of the records that were added last."""
    place, total = map(int, state.split(";")[0].split(",")) if state else (0, 0)
    rows = []
    for line in sorted(values[0] for values, times in updates for _ in range(times)):
        lane, position, key, weight = map(int, line.split(","))
        place, total = place + 1, total + weight
        rows.append(f"{key},{lane},{position},{place},{total}")
        os.write(PROCESSED, b".")
    return ";".join([f"{place},{total}", *rows])


def main() -> None:
    """Run until the process is killed."""
    lines = pw.io.plaintext.read(
        str(CHUNKS), mode="streaming", autocommit_duration_ms=100, name="chunks", refresh_interval_ms=100
    )
    keyed = lines.select(line=pw.this.data, key=pw.this.data.str.slice(10, 14))
    rows = keyed.groupby(pw.this.key).reduce(pw.this.key, rows=updated(pw.this.line))
    pw.io.jsonlines.write(rows, str(OUTPUT))
    pw.run(
        monitoring_level=pw.MonitoringLevel.NONE,
        persistence_config=pw.persistence.Config(
            pw.persistence.Backend.filesystem(str(CHECKPOINTS)), snapshot_interval_ms=INTERVAL_MILLISECONDS
        ),
    )


if __name__ == "__main__":
    main()
