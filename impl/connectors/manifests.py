"""The committed output of Parquet sinks: data files become visible by the manifests that list them.

    data/2-<lineage>-sink-0-7.parquet             written by attempt 2 of subtask sink-0 in transaction 7
    data/.2-<lineage>-sink-0-8.parquet.staging    a transaction that is still open
    manifests/<lineage>-2-sink-0-12.json          lists the files of sink-0, attempt 2, for checkpoint 12
    claims/5.json                                 the newest claim (`output_claims`)

A sink publishes a manifest as a whole, under a new name, and never changes it. Readers find data files only
by manifests, so files that an ended attempt leaves in `data` are invisible (ONCE-05, ONCE-06). `sweep`
removes these files. The newest claim records the checkpoint from which each attempt started. Readers
therefore leave out a manifest that an older attempt publishes too late. Output that was committed without a
claim has neither lineage nor attempt in its names.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import OutputCorruptError, SinkConflictError
from impl.connectors.output_claims import Claim
from impl.state.durable import remove_file
from impl.state.errors import NoFileError
from impl.state.locations import Location, Where, location_of

_DATA: Final = re.compile(r"\.?(\d+)-(?:([0-9a-f]{16})-)?[A-Za-z0-9_-]+-\d+\.parquet(\.staging)?")
_TEMPORARY: Final = re.compile(
    r"\.(?:(?:[A-Za-z0-9_-]+-)?\d+\.json\.)?(\d+)-[A-Za-z0-9_.-]+?(?:\.json)?\.tmp"
)
"""The name of a temporary file of a manifest, a progress or a claim. A killed process may leave it."""
_TEMPORARIES: Final = ("manifests", "progress", "claims")
SCHEMA: Final = "schema.arrow"
_READERS: Final = 16
"""The number of threads that read manifests, because an object store answers slowly."""
_CLAIM: Final = re.compile(r"(\d+)\.json")
_MANIFEST: Final = re.compile(r"([A-Za-z0-9_-]+)-(\d+)\.json")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One closed data file."""

    file: str
    """The path of the file, relative to the directory of the sink."""
    rows: int
    size: int
    """The size in bytes."""
    checksum: str
    """The blake2b checksum of the file, as hexadecimal text."""


@dataclass(frozen=True)  # with slots, Python before 3.11.4 puts its own `__setstate__` in place of ours
class Manifest:
    """The files that one subtask has committed for one checkpoint; no files if it had no rows."""

    subtask: str
    checkpoint: int
    transaction: int
    files: tuple[DataFile, ...]
    lineage: str = ""
    """The lineage of the run; empty in manifests of older releases."""
    attempt: int = 0
    """The attempt that has pre-committed the files."""

    def __getstate__(self) -> Sequence[object]:
        """The values of the fields in their order, for a snapshot."""
        return [getattr(self, one.name) for one in fields(self)]

    def __setstate__(self, state: Sequence[object]) -> None:
        """Set the fields from a snapshot. Snapshots of older releases lack the last two fields."""
        values = (*state, *("", 0)[len(state) - 4 :])
        for one, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, one.name, value)

    @property
    def rows(self) -> int:
        """The number of committed rows."""
        return sum(one.rows for one in self.files)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the data files."""
        return tuple(one.file for one in self.files)

    @property
    def file(self) -> str:
        """The file name of the manifest."""
        of = f"{self.lineage}-{self.attempt}-" if self.lineage else ""
        return f"{of}{self.subtask}-{self.checkpoint}.json"

    def encode(self) -> bytes:
        """The manifest as JSON, with a checksum over all other fields."""
        body = asdict(self)
        if not self.lineage:
            del body["lineage"], body["attempt"]
        return _canonical(body | {"checksum": _digest(_canonical(body))}) + b"\n"

    @classmethod
    def decode(cls, data: bytes, file: str) -> "Manifest":
        """The manifest in a JSON text. Raises OutputCorruptError if the text was altered."""
        try:
            body = json.loads(data)
            written = body.pop("checksum")
            found = _digest(_canonical(body))
            files = tuple(DataFile(**one) for one in body.pop("files"))
            manifest = cls(files=files, **body)
        except (ValueError, KeyError, TypeError, AttributeError) as cause:
            raise OutputCorruptError(
                f"{file}: expected a JSON manifest, got {data[:40]!r}; restore it from a backup"
            ) from cause
        if written != found:
            raise OutputCorruptError(
                f"{file}: expected checksum {written}, got {found}; restore it from a backup"
            )
        return manifest


def publish(location: Location, manifest: Manifest, attempt: int) -> None:
    """Make the files of a manifest visible atomically. A repeated call has no effect (SINK-06).

    `attempt`: the attempt that publishes; another attempt may have written the files. Raises
    OutputCorruptError if a file is missing, SinkConflictError if a different manifest has the same name.
    """
    name, content = f"manifests/{manifest.file}", manifest.encode()
    for one in manifest.files:
        if location.size(one.file) is None:
            raise OutputCorruptError(
                f"{location}/{one.file}: expected the pre-committed file of transaction "
                f"{manifest.transaction}, got no file; another program removed it, restore it from a backup"
            )
    if not location.publish(name, content, f"{attempt}-") and location.read(name) != content:
        raise SinkConflictError(
            f"{location}/{name}: {manifest.subtask} has other output for checkpoint {manifest.checkpoint}; "
            "use each checkpoint id once, and give each job a separate output directory"
        )


def list_committed(directory: Where | Location) -> tuple[Manifest, ...]:
    """All manifests of the committed output in a folder or at a URI, by checkpoint and then by subtask.

    The result has no retracted manifest, and no manifest that an older attempt has published too late. Raises
    OutputCorruptError if no sink has written into `directory`.
    """
    location = location_of(directory)
    found = _published(location)
    if not found and "manifests" not in location.folders() and location.size(SCHEMA) is None:
        raise OutputCorruptError(
            f"{location}: expected the output of a Parquet sink, got no schema and no manifests; name the "
            "directory that the job's ParquetOutput was given"
        )
    claim = newest_claim(location)  # read after the manifests, so that it is at least as new
    return tuple(one for one in found if _counts(claim, one))


def _counts(claim: Claim | None, one: Manifest) -> bool:
    return claim is None or not one.lineage or claim.counts(one.lineage, one.attempt, one.checkpoint)


def newest_claim(location: Location) -> Claim | None:
    """The newest claim of the output, or None."""
    number = _newest(location)
    if not number:
        return None
    name = f"claims/{number}.json"
    return Claim.decode(location.read(name), f"{location}/{name}")


def _newest(location: Location) -> int:
    return max(
        (int(found.group(1)) for found in map(_CLAIM.fullmatch, location.sizes("claims")) if found), default=0
    )


def claim_output(location: Location, claim: Claim) -> Claim:
    """Claim the output; returns the new claim, which replaces the newest one (`Claim.after`).

    Raises SupersededError if a newer attempt of this run has claimed the output, OutputClaimedError if
    another run has committed into it.
    """
    location.make_folder("claims")
    while True:
        number = _newest(location)
        last = newest_claim(location)
        used = last is not None and any(one.lineage == last.lineage for one in list_committed(location))
        claimed = claim.after(last, str(location), used=used)
        if location.publish(f"claims/{number + 1}.json", claimed.encode().encode(), f"{claim.attempt}-"):
            return claimed


def _published(location: Location) -> tuple[Manifest, ...]:
    """Every published manifest, by checkpoint and then by subtask."""

    def content(name: str) -> bytes | None:
        with suppress(NoFileError):
            return location.read(name)
        return None  # retracted since it was listed

    names = [f"manifests/{one}" for one in location.sizes("manifests") if _MANIFEST.fullmatch(one)]
    with ThreadPoolExecutor(_READERS) as readers:
        read = zip(names, readers.map(content, names), strict=True)
        found = [Manifest.decode(data, f"{location}/{name}") for name, data in read if data is not None]
    return tuple(sorted(found, key=lambda one: (one.checkpoint, one.subtask, one.file)))


def read_committed(directory: Where, *, after: int = -1, only: Iterable[Manifest] | None = None) -> pa.Table:
    """The committed rows of the checkpoints above `after`; a table without columns if there are no rows.

    `only`: the manifests to read; None: all manifests. Raises OutputCorruptError if a file was altered.
    """
    location = location_of(directory)
    tables = [
        pq.read_table(pa.BufferReader(read_verified(location, one)))
        for manifest in (list_committed(location) if only is None else only)
        if manifest.checkpoint > after
        for one in manifest.files
    ]
    return pa.concat_tables(tables) if tables else pa.table({})


def retract(directory: Where | Location, restored: int | None) -> tuple[str, ...]:
    """Retract the output above the checkpoint `restored`; returns the names of the retracted manifests.

    `restored`: the checkpoint that the job restores; None: the beginning. This function moves the manifests
    to the folder `retracted`, where a person can see them. If the output has a claim, it moves the manifests
    that the claim excludes, and those above `restored` that have no lineage.
    """
    location = location_of(directory)
    found = _published(location)
    claim = newest_claim(location)  # read after the manifests, so that it is at least as new
    beyond = [
        one
        for one in found
        if not _counts(claim, one)
        or ((claim is None or not one.lineage) and (restored is None or one.checkpoint > restored))
    ]
    for manifest in beyond:
        location.make_folder("retracted")
        location.move(f"manifests/{manifest.file}", f"retracted/{manifest.file}")
    return tuple(manifest.file for manifest in beyond)


def sweep(
    directory: Where | Location, attempt: int, keep: Collection[str] = (), lineage: str | None = None
) -> tuple[str, ...]:
    """Remove the temporary files, and the data files that no manifest lists, of attempts before `attempt`.

    `keep`: data files of the restored snapshot, which will be committed. `lineage`: the run whose data files
    are removed; None: every run. Returns the names of the removed files.
    """
    location = location_of(directory)
    left = [f"data/{one}" for one in sorted(location.sizes("data")) if _is_of(_DATA, one, attempt, lineage)]
    needed = {one.file for manifest in list_committed(location) for one in manifest.files} | set(keep)
    swept = [name for name in left if name not in needed and location.remove(name)]
    for folder in _TEMPORARIES:
        names = [
            f"{folder}/{one}" for one in sorted(location.sizes(folder)) if _is_of(_TEMPORARY, one, attempt)
        ]
        swept += [name for name in names if location.remove(name)]
    sweep_scratch(location, attempt, lineage)
    return tuple(swept)


def sweep_scratch(location: Location, attempt: int, lineage: str | None) -> None:
    """Remove the staging files of an object store that attempts before `attempt` have left on this host."""
    for path in location.working().glob("data/.*"):
        if _is_of(_DATA, path.name, attempt, lineage):
            remove_file(path)


def _is_of(names: re.Pattern[str], name: str, attempt: int, lineage: str | None = None) -> bool:
    """Whether `name` is a file of an attempt before `attempt`, and of the run `lineage` or of no run.

    `lineage` None: of any run.
    """
    match = names.fullmatch(name)
    if match is None or int(match.group(1)) >= attempt:
        return False
    return lineage is None or match.group(2) in (None, lineage)


def read_verified(directory: Where | Location, one: DataFile) -> bytes:
    """The content of a data file. Raises OutputCorruptError if the file was altered."""
    location = location_of(directory)
    data = location.read(one.file)
    if _digest(data) != one.checksum:
        raise OutputCorruptError(
            f"{location}/{one.file}: expected checksum {one.checksum}, got {_digest(data)}; "
            "restore it from a backup"
        )
    return data


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def _canonical(body: dict[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
