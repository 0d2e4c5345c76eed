"""The newest whole checkpoint of Parquet output: every sink subtask has committed its output for it.

    progress/2-<lineage>.sink-0.json      the checkpoint up to which sink-0, in attempt 2, has committed
    schema.arrow                          the schema of the rows

Each sink subtask publishes its own manifests. So only some manifests of a checkpoint may exist at a time, and
a subtask without rows may have no manifest. A checkpoint is whole when every subtask of one attempt has
recorded this or a later checkpoint. This is correct because a subtask commits in the order of checkpoints
(SINK-03), and a restore commits the pre-committed output of earlier attempts up to its checkpoint (SINK-06).
"""

import json
import re
from collections import defaultdict
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import OutputCorruptError
from impl.connectors.manifests import SCHEMA, Manifest, list_committed, newest_claim
from impl.connectors.two_phase import SinkContext
from impl.state.locations import Location, Where, location_of

_PROGRESS: Final = re.compile(r"(\d+)-(?:([0-9a-f]+)\.)?([A-Za-z0-9_-]+)-(\d+)\.json")
_RETRACTED: Final = re.compile(r"[A-Za-z0-9_-]+-(\d+)\.json")


def record_progress(location: Location, context: SinkContext, checkpoint: int) -> None:
    """Record that a subtask has committed everything pre-committed up to `checkpoint`.

    The folder of the file is not synced, because the restore after a crash records the progress again.
    Raises StorageError if the storage reports an error.
    """
    of = f"{context.lineage}." if context.lineage else ""
    location.make_folder("progress")
    body = json.dumps({"checkpoint": checkpoint, "of": context.parallelism})
    location.write_unsettled(f"progress/{context.attempt}-{of}{context.subtask}.json", body.encode())


def newest_whole_checkpoint(directory: Where) -> int | None:
    """The newest whole checkpoint of all sinks in `directory`; None if there is none.

    The progress of a run that no longer owns the output does not count.
    """
    location = location_of(directory)
    claim = newest_claim(location)
    progress: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for name in sorted(location.sizes("progress")):
        match = _PROGRESS.fullmatch(name)
        foreign = match is not None and match.group(2) and claim and match.group(2) != claim.lineage
        if match is not None and not foreign:
            body = json.loads(location.read(f"progress/{name}"))
            progress[match.group(3), int(match.group(1))].append((body["checkpoint"], body["of"]))
    whole: dict[str, int] = {}
    for (stage, _), recorded in progress.items():
        if len(recorded) == recorded[0][1]:
            reached = min(checkpoint for checkpoint, _ in recorded)
            whole[stage] = max(whole.get(stage, -1), reached)
    stages = {stage for stage, _ in progress}
    return min(whole.values()) if stages and stages == set(whole) else None


def whole_output(directory: Where, after: int = -1, up_to: int | None = None) -> tuple[Manifest, ...]:
    """The manifests of the whole checkpoints above `after` and up to `up_to`, in order.

    If `up_to` is None, the last one is the newest whole checkpoint.
    """
    reached = newest_whole_checkpoint(directory)
    if reached is None:
        return ()
    last = reached if up_to is None else min(reached, up_to)
    return tuple(one for one in list_committed(directory) if after < one.checkpoint <= last)


def retracted(directory: Where, up_to: int) -> int:
    """The number of retracted manifests of checkpoints up to `up_to`."""
    names = location_of(directory).sizes("retracted")
    ids = [int(match.group(1)) for match in map(_RETRACTED.fullmatch, names) if match]
    return sum(one <= up_to for one in ids)


def record_schema(location: Location, schema: pa.Schema) -> None:
    """Record the schema of the rows, which readers need before the first commit."""
    location.make_folder()
    location.replace(SCHEMA, schema.serialize().to_pybytes())


def schema_of(directory: Where) -> pa.Schema:
    """The schema of the rows. Raises OutputCorruptError if no sink has written into `directory`."""
    location = location_of(directory)
    if location.size(SCHEMA) is not None:
        return pa.ipc.read_schema(pa.BufferReader(location.read(SCHEMA)))
    for manifest in list_committed(location):
        for one in manifest.files:
            return pq.read_schema(pa.BufferReader(location.read(one.file)))
    raise OutputCorruptError(f"{directory}: expected a schema or committed rows, got neither; run the job")
