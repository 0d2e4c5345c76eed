"""A transactional sink that writes Parquet files: two-phase commit on a file system.

A transaction is one staging file. A pre-commit closes, syncs and renames it. A commit publishes a manifest
that lists it, and from then on readers see it. An abort removes it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors import manifests
from impl.connectors.claims import Claim
from impl.connectors.errors import ConnectorError
from impl.connectors.frontier import record_progress, record_schema
from impl.connectors.staging import StagedFiles
from impl.connectors.two_phase import SinkPlace
from impl.state.durable import make_directory


class ParquetFiles(StagedFiles):
    """The participant of one subtask. The receipt of a pre-commit is the manifest that a commit publishes."""

    def __init__(
        self,
        directory: Path | str,
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
        super().__init__(Path(directory), f"{attempt}-{of}{subtask}")
        make_directory(self._directory / "manifests")

    def pre_commit(self, transaction: int, checkpoint: int) -> manifests.Manifest:
        """Close, sync and rename the file; a transaction without rows has none."""
        file = self.stage(transaction)
        files = () if file is None else (file,)
        return manifests.Manifest(self._subtask, checkpoint, transaction, files, self._lineage, self._attempt)

    def commit(self, receipt: manifests.Manifest) -> None:
        """Publish the manifest, also that of another subtask.

        Raises SupersededError if a newer attempt or another run has claimed the output.
        """
        self._require_claimed()
        manifests.publish(self._directory, receipt, self._attempt)
        self._require_claimed()  # claimed in between: then every reader leaves the manifest out

    def _require_claimed(self) -> None:
        claim = manifests.newest_claim(self._directory)
        if claim is not None and self._lineage:
            claim.require(self._lineage, self._attempt, str(self._directory))

    def committed(self, checkpoint: int) -> None:
        """Record for readers that this subtask has committed everything up to `checkpoint`."""
        place = SinkPlace("", self._lineage, self._subtask, self._attempt, self._parallelism)
        record_progress(self._directory, place, checkpoint)


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """A folder of Parquet files as the sink of a job. `schema`: of the rows."""

    directory: Path
    schema: pa.Schema

    @property
    def where(self) -> str:
        """The directory."""
        return str(self.directory)

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
            make_directory(self.directory / folder)
        record_schema(self.directory, self.schema)

    def holds_output(self, job: str) -> bool:
        """Whether any run of any job has committed there."""
        return (self.directory / "manifests").is_dir() and bool(manifests.list_committed(self.directory))

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the directory for an attempt; returns the lineages whose output is retracted as a whole."""
        return manifests.claim_output(self.directory, claim).replaced

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove the data files of ended attempts of a lineage, and those without a lineage; returns them."""
        return manifests.sweep(self.directory, attempt, keep, lineage)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of the files that do not exist; committed files keep their names."""
        return tuple(one for one in names if not (self.directory / one).is_file())

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Retract the manifests beyond a checkpoint, and those that the newest claim excludes."""
        return manifests.retract(self.directory, checkpoint)


def _require_type(field: pa.Field) -> None:
    """Raise ConnectorError unless Parquet has a type for the column."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field]), use_dictionary=False).close()
    except (pa.ArrowException, ValueError) as cause:
        raise ConnectorError(
            f"column {field.name!r} is {field.type}, for which Parquet has no type: {cause}; convert it "
            "before the sink"
        ) from cause
