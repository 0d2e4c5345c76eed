"""A transactional sink that writes Parquet files: two-phase commit on a file system or an object store.

A transaction is one staging file. A pre-commit makes it durable under its name. A commit publishes a manifest
that lists it, and from then on readers see it. An abort removes it.
"""

from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors import manifests
from impl.connectors.claims import Claim
from impl.connectors.errors import ConnectorError
from impl.connectors.frontier import record_progress, record_schema
from impl.connectors.staging import StagedFiles
from impl.connectors.two_phase import SinkPlace
from impl.state.locations import Location, Where, location_of


class ParquetFiles(StagedFiles):
    """The participant of one subtask. The receipt of a pre-commit is the manifest that a commit publishes."""

    def __init__(
        self,
        directory: Where,
        *,
        subtask: str,
        attempt: int,
        parallelism: int = 1,
        lineage: str = "",
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
        """Make the file durable; a transaction without rows has none."""
        file = self.stage(transaction)
        files = () if file is None else (file,)
        return manifests.Manifest(self._subtask, checkpoint, transaction, files, self._lineage, self._attempt)

    def commit(self, receipt: manifests.Manifest) -> None:
        """Publish the manifest, also that of another subtask.

        Raises SupersededError if a newer attempt or another run has claimed the output.
        """
        self._require_claimed()
        manifests.publish(self._location, receipt, self._attempt)
        self._require_claimed()  # claimed in between: then every reader leaves the manifest out

    def _require_claimed(self) -> None:
        claim = manifests.newest_claim(self._location)
        if claim is not None and self._lineage:
            claim.require(self._lineage, self._attempt, str(self._location))

    def committed(self, checkpoint: int) -> None:
        """Record for readers that this subtask has committed everything up to `checkpoint`."""
        place = SinkPlace("", self._lineage, self._subtask, self._attempt, self._parallelism)
        record_progress(self._location, place, checkpoint)


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """Parquet files as the sink of a job.

    `directory`: a folder, or a URI such as `s3://bucket/flights`. `schema`: the schema of the rows.
    """

    directory: Where
    schema: pa.Schema

    @property
    def where(self) -> str:
        """The directory."""
        return str(self.directory)

    @property
    def _location(self) -> Location:
        return location_of(self.directory)

    def open(self, place: SinkPlace) -> ParquetFiles:
        """The participant of one subtask."""
        return ParquetFiles(
            self.directory,
            subtask=place.subtask,
            attempt=place.attempt,
            parallelism=place.parallelism,
            lineage=place.lineage,
        )

    def prepare(self) -> None:
        """Create the folders and record the schema.

        Raises ConnectorError for a type without a Parquet type.
        """
        for field in self.schema:
            _require_type(field)
        for folder in ("data", "manifests"):
            self._location.make_folder(folder)
        record_schema(self._location, self.schema)

    def holds_output(self, job: str) -> bool:
        """Whether any run of any job has committed there."""
        return bool(self._location.sizes("manifests") and manifests.list_committed(self._location))

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the directory for an attempt; returns the lineages whose output is retracted as a whole."""
        return manifests.claim_output(self._location, claim).replaced

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove the data files of ended attempts of a lineage, and those without a lineage; returns them."""
        return manifests.sweep(self._location, attempt, keep, lineage)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of the files that do not exist; committed files keep their names."""
        return tuple(one for one in names if self._location.size(one) is None)

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Retract the manifests beyond a checkpoint, and those that the newest claim excludes."""
        return manifests.retract(self._location, checkpoint)


def _require_type(field: pa.Field) -> None:
    """Raise ConnectorError unless Parquet has a type for the column."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field]), use_dictionary=False).close()
    except (pa.ArrowException, ValueError) as cause:
        raise ConnectorError(
            f"column {field.name!r} is {field.type}, for which Parquet has no type: {cause}; convert it "
            "before the sink"
        ) from cause
