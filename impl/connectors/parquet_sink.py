"""A transactional sink that writes Parquet files: two-phase commit on a file system or an object store.

A transaction is one staging file. A pre-commit makes the file durable under its name. A commit publishes a
manifest that lists the file, and readers see it from then on. An abort removes the file.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors import manifests
from impl.connectors.errors import ConnectorError
from impl.connectors.output_claims import Claim
from impl.connectors.parquet_progress import record_progress, record_schema
from impl.connectors.staging import StagedFiles
from impl.connectors.two_phase import SinkContext
from impl.state.locations import Location, Where, absolute, location_of


class ParquetFiles(StagedFiles):
    """The participant of one sink subtask. The receipt of a pre-commit is the manifest to publish."""

    def __init__(
        self, directory: Where, *, subtask: str, attempt: int, parallelism: int = 1, lineage: str = ""
    ) -> None:
        self._subtask = subtask
        self._attempt = attempt
        self._parallelism = parallelism
        self._lineage = lineage
        of = f"{lineage}-" if lineage else ""
        super().__init__(directory, f"{attempt}-{of}{subtask}")
        self._location.make_folder("manifests")
        manifests.sweep_scratch(self._location, attempt, lineage)

    def pre_commit(self, transaction: int, checkpoint: int) -> manifests.Manifest:
        """Make the file durable; returns its manifest, which lists no file if the transaction has no rows."""
        file = self.stage(transaction)
        files = () if file is None else (file,)
        return manifests.Manifest(self._subtask, checkpoint, transaction, files, self._lineage, self._attempt)

    def commit(self, receipt: manifests.Manifest) -> None:
        """Publish a manifest of this subtask or, after a restore, of another subtask.

        Raises SupersededError if a newer attempt or another run has claimed the output.
        """
        self._require_claimed()
        manifests.publish(self._location, receipt, self._attempt)
        self._require_claimed()  # readers leave the manifest out if a claim came in between

    def _require_claimed(self) -> None:
        claim = manifests.newest_claim(self._location)
        if claim is not None and self._lineage:
            claim.require(self._lineage, self._attempt, str(self._location))

    def committed(self, checkpoint: int) -> None:
        """Record for readers that this subtask has committed everything up to `checkpoint`."""
        context = SinkContext("", self._lineage, self._subtask, self._attempt, self._parallelism)
        record_progress(self._location, context, checkpoint)


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """Parquet files as the sink of a job.

    `directory`: a folder, or a URI such as `s3://bucket/flights`. `schema`: the schema of the rows.
    """

    directory: Where
    schema: pa.Schema

    def __post_init__(self) -> None:
        if isinstance(self.directory, str | Path):  # a `Location` is absolute already
            object.__setattr__(self, "directory", absolute(self.directory))

    @property
    def where(self) -> str:
        """The directory as a text, for messages."""
        return str(self.directory)

    @property
    def _location(self) -> Location:
        return location_of(self.directory)

    def open(self, context: SinkContext) -> ParquetFiles:
        """A new participant for one sink subtask."""
        return ParquetFiles(
            self.directory,
            subtask=context.subtask,
            attempt=context.attempt,
            parallelism=context.parallelism,
            lineage=context.lineage,
        )

    def prepare(self) -> None:
        """Create the folders and record the schema. Raises ConnectorError for a type that Parquet lacks."""
        for field in self.schema:
            _require_type(field)
        for folder in ("data", "manifests"):
            self._location.make_folder(folder)
        record_schema(self._location, self.schema)

    def holds_output(self, job: str) -> bool:
        """Whether any run of any job has committed into the directory. `job` has no effect."""
        return bool(self._location.sizes("manifests") and manifests.list_committed(self._location))

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the directory for an attempt; returns the lineages whose whole output the driver retracts."""
        return manifests.claim_output(self._location, claim).replaced

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove the data files of ended attempts, of this lineage or without one; returns their names."""
        return manifests.sweep(self._location, attempt, keep, lineage)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """The files of `names` that do not exist. Committed files keep their names."""
        return tuple(one for one in names if self._location.size(one) is None)

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Retract the manifests that the newest claim excludes; returns their names.

        Also retracts the manifests above `checkpoint` that have no lineage. If no claim exists, retracts all
        manifests above `checkpoint`.
        """
        return manifests.retract(self._location, checkpoint)


def _require_type(field: pa.Field) -> None:
    """Raise ConnectorError unless Parquet has a type for the column."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field]), use_dictionary=False).close()
    except (pa.ArrowException, ValueError) as cause:
        raise ConnectorError(
            f"column {field.name!r} is {field.type}, for which Parquet has no type: {cause}; convert the "
            "column before the sink"
        ) from cause
