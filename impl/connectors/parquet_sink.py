"""A transactional sink that writes Parquet files: two-phase commit on a file system.

A transaction is one file under a staging name. Pre-commit closes and syncs it and gives it its name; commit
publishes a manifest that lists it, and only then can anybody see it; abort removes it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.claims import Claim
from impl.connectors.errors import ConnectorError
from impl.connectors.frontier import record_schema, tell
from impl.connectors.manifests import (
    Manifest,
    claim_output,
    list_committed,
    newest_claim,
    publish,
    retract,
    sweep,
)
from impl.connectors.staging import StagedFiles
from impl.connectors.two_phase import SinkPlace
from impl.state.durable import make_directory


class ParquetFiles:
    """The participant of one subtask. Its receipt of a pre-commit is the manifest that a commit publishes."""

    def __init__(
        self,
        directory: Path | str,
        *,
        subtask: str,
        attempt: int,
        parallelism: int = 1,
        lineage: str = "",
    ) -> None:
        self._directory = Path(directory)
        self._subtask = subtask
        self._attempt = attempt
        self._parallelism = parallelism
        self._lineage = lineage
        of = f"{lineage}-" if lineage else ""
        self._staged = StagedFiles(self._directory, f"{attempt}-{of}{subtask}")
        make_directory(self._directory / "manifests")

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Rows for the open transaction."""
        self._staged.write(transaction, rows)

    def pre_commit(self, transaction: int, checkpoint: int) -> Manifest:
        """Close, sync and name the file; a transaction without rows has none."""
        file = self._staged.pre_commit(transaction)
        files = () if file is None else (file,)
        return Manifest(self._subtask, checkpoint, transaction, files, self._lineage, self._attempt)

    def commit(self, receipt: Manifest) -> None:
        """Publish the manifest, also one that another subtask has left behind.

        Raises `SupersededError` if the output belongs to a newer attempt or to another run.
        """
        self._require_claimed()
        publish(self._directory, receipt, self._attempt)
        self._require_claimed()  # paused in between, perhaps: then the manifest is in no reader's list

    def _require_claimed(self) -> None:
        claim = newest_claim(self._directory)
        if claim is not None and self._lineage:
            claim.require(self._lineage, self._attempt, str(self._directory))

    def committed(self, checkpoint: int) -> None:
        """Readers are told how far this subtask is."""
        tell(self._directory, self._attempt, self._subtask, self._parallelism, checkpoint, self._lineage)

    def remnant(self, transaction: int) -> str:
        """The staging file."""
        return self._staged.remnant(transaction)

    def abort(self, remnant: str) -> None:
        """Remove the staging file."""
        self._staged.abort(remnant)

    def close(self) -> None:
        """Give up what is open."""
        self._staged.close()


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """Parquet files as the sink of a job. `schema`: of the rows, column by column."""

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
        """Make the folders, and write down the schema; raises ConnectorError for a type Parquet has not."""
        for field in self.schema:
            _require_type(field)
        for folder in ("data", "manifests"):
            make_directory(self.directory / folder)
        record_schema(self.directory, self.schema)

    def holds_output(self, job: str) -> bool:
        """Whether something has been committed there, by any run of any job."""
        return (self.directory / "manifests").is_dir() and bool(list_committed(self.directory))

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the directory for an attempt; answers the runs whose output is to be taken back."""
        return claim_output(self.directory, claim).replaced

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove the data files that ended attempts of a run have left, and those that tell no run."""
        return sweep(self.directory, attempt, keep, lineage)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those files that are not there; committed ones stay where they are."""
        return tuple(one for one in names if not (self.directory / one).is_file())

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Take back the manifests beyond a checkpoint, and those that the newest claim leaves out."""
        return retract(self.directory, checkpoint)


def _require_type(field: pa.Field) -> None:
    """Raise `ConnectorError` unless Parquet has a column for the type."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field]), use_dictionary=False).close()
    except (pa.ArrowException, ValueError) as cause:
        raise ConnectorError(
            f"column {field.name!r} is {field.type}, for which Parquet has no type: {cause}; convert it "
            "before the sink"
        ) from cause
