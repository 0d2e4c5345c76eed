"""The newest checkpoint whose committed Parquet output is whole: every subtask has committed its part.

    progress/2-<lineage>.sink-0.json      the checkpoint up to which sink-0 has committed all, in attempt 2
    schema.arrow                          the schema of the rows

Each sink subtask publishes its own manifests, so the manifests of a checkpoint may be there in part, and a
subtask without rows may have none. A checkpoint is whole when every subtask of one attempt has recorded that
it is past it. This holds because a subtask commits in the order of checkpoints (SINK-03), and a restore
commits what earlier attempts have left up to its checkpoint (SINK-06).
"""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import OutputCorruptError
from impl.connectors.manifests import Manifest, list_committed, newest_claim
from impl.connectors.two_phase import SinkPlace
from impl.state.durable import make_directory, read_file, write_file
from impl.state.errors import storage_errors

_PROGRESS: Final = re.compile(r"(\d+)-(?:([0-9a-f]+)\.)?([A-Za-z0-9_-]+)-(\d+)\.json")
_RETRACTED: Final = re.compile(r"[A-Za-z0-9_-]+-(\d+)\.json")
_SCHEMA: Final = "schema.arrow"


def record_progress(directory: Path, place: SinkPlace, checkpoint: int) -> None:
    """Record that a subtask has committed everything filed up to `checkpoint`.

    The file is not synced, because the restore after a crash records it again. Raises StorageError if the
    file system refuses.
    """
    of = f"{place.lineage}." if place.lineage else ""
    path = directory / "progress" / f"{place.attempt}-{of}{place.subtask}.json"
    temporary = path.with_name(f".{path.name}.tmp")
    with storage_errors("recording the progress in", path):
        path.parent.mkdir(exist_ok=True)
        temporary.write_text(json.dumps({"checkpoint": checkpoint, "of": place.parallelism}))
        temporary.replace(path)


def frontier(directory: Path) -> int | None:
    """The newest checkpoint whose output is whole, as is that of all before it; None: none is.

    The progress of a run that does not own the output any more does not count.
    """
    claim = newest_claim(directory)
    progress: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for path in sorted((directory / "progress").glob("*.json")):
        match = _PROGRESS.fullmatch(path.name)
        foreign = match is not None and match.group(2) and claim and match.group(2) != claim.lineage
        if match is not None and not foreign:
            body = json.loads(read_file(path))
            progress[match.group(3), int(match.group(1))].append((body["checkpoint"], body["of"]))
    whole: dict[str, int] = {}
    for (stage, _), recorded in progress.items():
        if len(recorded) == recorded[0][1]:
            reached = min(checkpoint for checkpoint, _ in recorded)
            whole[stage] = max(whole.get(stage, -1), reached)
    stages = {stage for stage, _ in progress}
    return min(whole.values()) if stages and stages == set(whole) else None


def whole_output(directory: Path, after: int = -1, up_to: int | None = None) -> tuple[Manifest, ...]:
    """The manifests of the whole checkpoints above `after` and up to `up_to`, in order."""
    reached = frontier(directory)
    if reached is None:
        return ()
    last = reached if up_to is None else min(reached, up_to)
    return tuple(one for one in list_committed(directory) if after < one.checkpoint <= last)


def retracted(directory: Path, up_to: int) -> int:
    """Number of manifests of checkpoints up to `up_to` that were retracted."""
    names = [path.name for path in (directory / "retracted").glob("*.json")]
    ids = [int(match.group(1)) for match in map(_RETRACTED.fullmatch, names) if match]
    return sum(one <= up_to for one in ids)


def record_schema(directory: Path, schema: pa.Schema) -> None:
    """Record the schema of the rows, for readers before the first commit."""
    make_directory(directory)
    write_file(directory / _SCHEMA, schema.serialize().to_pybytes())


def schema_of(directory: Path) -> pa.Schema:
    """The schema of the rows. Raises OutputCorruptError if no sink has written there."""
    if (directory / _SCHEMA).is_file():
        return pa.ipc.read_schema(pa.BufferReader(read_file(directory / _SCHEMA)))
    if (directory / "manifests").is_dir():
        for manifest in list_committed(directory):
            for one in manifest.files:
                return pq.read_schema(directory / one.file)
    raise OutputCorruptError(
        f"{directory}: expected the output of a Parquet sink, got a folder without schema and manifests; "
        "name the directory that the job's ParquetOutput was given"
    )
