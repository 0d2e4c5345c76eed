"""How far the committed output of a directory is whole: the newest checkpoint of which nothing is missing.

    progress/2-<lineage>.sink-0.json      up to which checkpoint sink-0 has committed all, in attempt 2
    schema.arrow                          of the rows

Each sink subtask publishes its manifests by itself, so for a moment those of a checkpoint are there in part,
and one without rows may have none. A checkpoint is whole when every subtask of one attempt has told that it
is past it: each commits in the order of checkpoints (SINK-03), and a restore commits what the attempts
before have left up to the checkpoint that it begins with (SINK-06).
"""

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import OutputCorruptError
from impl.connectors.manifests import Manifest, list_committed, newest_claim
from impl.state.durable import make_directory, read_file, write_file
from impl.state.errors import StorageError

_PROGRESS: Final = re.compile(r"(\d+)-(?:([0-9a-f]+)\.)?([A-Za-z0-9_-]+)-(\d+)\.json")
_RETRACTED: Final = re.compile(r"[A-Za-z0-9_-]+-(\d+)\.json")
_SCHEMA: Final = "schema.arrow"


def tell(
    directory: Path, attempt: int, subtask: str, parallelism: int, checkpoint: int, lineage: str = ""
) -> None:
    """A subtask of `parallelism` has committed all that was filed up to `checkpoint`.

    What a crash takes of this is told again by the restore, so it is not synced.
    """
    of = f"{lineage}." if lineage else ""
    path = directory / "progress" / f"{attempt}-{of}{subtask}.json"
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        temporary.write_text(json.dumps({"checkpoint": checkpoint, "of": parallelism}))
        os.replace(temporary, path)
    except OSError as cause:
        raise StorageError.of("telling the progress in", path, cause) from cause


def frontier(directory: Path) -> int | None:
    """The newest checkpoint whose output is whole, and with it that of all before; None: none is yet.

    What was told by a run that the output does not belong to any more is left out.
    """
    claim = newest_claim(directory)
    told: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for path in sorted((directory / "progress").glob("*.json")):
        match = _PROGRESS.fullmatch(path.name)
        foreign = match is not None and match.group(2) and claim and match.group(2) != claim.lineage
        if match is not None and not foreign:
            body = json.loads(read_file(path))
            told[match.group(3), int(match.group(1))].append((body["checkpoint"], body["of"]))
    whole: dict[str, int] = {}
    for (stage, _), there in told.items():
        if len(there) == there[0][1]:
            reached = min(checkpoint for checkpoint, _ in there)
            whole[stage] = max(whole.get(stage, -1), reached)
    stages = {stage for stage, _ in told}
    return min(whole.values()) if stages and stages == set(whole) else None


def whole_output(directory: Path, after: int = -1, up_to: int | None = None) -> tuple[Manifest, ...]:
    """The manifests of checkpoints above `after` that are whole, no further than `up_to`, in their order."""
    reached = frontier(directory)
    if reached is None:
        return ()
    last = reached if up_to is None else min(reached, up_to)
    return tuple(one for one in list_committed(directory) if after < one.checkpoint <= last)


def retracted(directory: Path, up_to: int) -> int:
    """How many manifests of checkpoints up to one were ever taken back."""
    names = [path.name for path in (directory / "retracted").glob("*.json")]
    ids = [int(match.group(1)) for match in map(_RETRACTED.fullmatch, names) if match]
    return sum(one <= up_to for one in ids)


def record_schema(directory: Path, schema: pa.Schema) -> None:
    """Write down the schema of the rows, for readers that come before any."""
    make_directory(directory)
    write_file(directory / _SCHEMA, schema.serialize().to_pybytes())


def schema_of(directory: Path) -> pa.Schema:
    """The schema of the rows; raises `OutputCorruptError` if no sink has ever written there."""
    if (directory / _SCHEMA).is_file():
        return pa.ipc.read_schema(pa.BufferReader(read_file(directory / _SCHEMA)))
    if (directory / "manifests").is_dir():
        for manifest in list_committed(directory):
            for one in manifest.files:
                return pq.read_schema(directory / one.file)
    raise OutputCorruptError(
        f"{directory}: expected the output of a Parquet sink, came a folder without schema and manifests; "
        "name the directory that the job's ParquetOutput was given"
    )
