"""The committed output of Parquet sinks: data files become visible by the manifests that list them.

    data/2-<lineage>-sink-0-7.parquet             written by attempt 2 of subtask sink-0 in transaction 7
    data/.2-<lineage>-sink-0-8.parquet.staging    a transaction that is still open
    manifests/<lineage>-2-sink-0-12.json          what sink-0, in attempt 2, committed for checkpoint 12
    claims/5.json                                 the newest claim (`claims`)

A manifest is published by a link, as a whole, and is never changed. Readers read manifests only, so the files
that a dead attempt leaves in `data` are invisible (ONCE-05, ONCE-06); `sweep` removes them. The newest claim
records from where each attempt started, and so excludes what a dead attempt publishes too late. Output that
was committed without a claim has neither lineage nor attempt in its names.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.claims import Claim
from impl.connectors.errors import OutputCorruptError, SinkConflictError
from impl.state.durable import make_directory, publish_file, read_file, remove_file
from impl.state.errors import StorageError, storage_errors

_DATA: Final = re.compile(r"\.?(\d+)-(?:([0-9a-f]{16})-)?[A-Za-z0-9_-]+-\d+\.parquet(\.staging)?")
_TEMPORARY: Final = re.compile(
    r"\.(?:(?:[A-Za-z0-9_-]+-)?\d+\.json\.)?(\d+)-[A-Za-z0-9_.-]+?(?:\.json)?\.tmp"
)
"""A temporary file that a killed process has left of a manifest, a progress or a claim."""
_TEMPORARIES: Final = ("manifests", "progress", "claims")
_MANIFEST: Final = re.compile(r"([A-Za-z0-9_-]+)-(\d+)\.json")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One closed data file."""

    file: str
    """Relative to the directory of the sink."""
    rows: int
    size: int
    """In bytes."""
    checksum: str
    """Hexadecimal blake2b over the file."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files that one subtask has committed for one checkpoint; none if it had no rows."""

    subtask: str
    checkpoint: int
    transaction: int
    files: tuple[DataFile, ...]
    lineage: str = ""
    """Of the run; empty in manifests of releases that did not write it."""
    attempt: int = 0
    """The one that has pre-committed it."""

    def __setstate__(self, state: Sequence[object]) -> None:
        """From a snapshot, perhaps one of before there were the last two fields."""
        values = (*state, *("", 0)[len(state) - 4 :])
        for one, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, one.name, value)

    @property
    def rows(self) -> int:
        """Committed rows."""
        return sum(one.rows for one in self.files)

    @property
    def names(self) -> tuple[str, ...]:
        """The data files."""
        return tuple(one.file for one in self.files)

    @property
    def file(self) -> str:
        """The name of the manifest itself."""
        of = f"{self.lineage}-{self.attempt}-" if self.lineage else ""
        return f"{of}{self.subtask}-{self.checkpoint}.json"

    def encode(self) -> bytes:
        """JSON with a checksum over everything else in it."""
        body = asdict(self)
        if not self.lineage:
            del body["lineage"], body["attempt"]
        return _canonical(body | {"checksum": _digest(_canonical(body))}) + b"\n"

    @classmethod
    def decode(cls, data: bytes, file: str) -> "Manifest":
        """The manifest of its JSON. Raises OutputCorruptError if it was altered."""
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


def publish(directory: Path, manifest: Manifest, attempt: int) -> None:
    """Make the files of a manifest visible, atomically; a repeated call has no effect (SINK-06).

    `attempt`: the one that publishes; another one may have written the files. Raises OutputCorruptError if a
    file is missing, SinkConflictError if another manifest has the name.
    """
    path = directory / "manifests" / manifest.file
    for one in manifest.files:
        if not (directory / one.file).is_file():
            raise OutputCorruptError(
                f"{directory / one.file}: expected the pre-committed file of transaction "
                f"{manifest.transaction}, got none; it was removed from outside, restore it from a backup"
            )
    if not publish_file(path, manifest.encode(), f"{attempt}-") and read_file(path) != manifest.encode():
        raise SinkConflictError(
            f"{path}: {manifest.subtask} has other output for checkpoint {manifest.checkpoint}; "
            "give every checkpoint an id of its own and every job an output directory of its own"
        )


def list_committed(directory: Path | str) -> tuple[Manifest, ...]:
    """All manifests of the committed output, by checkpoint and then by subtask.

    Retracted manifests, and those that a dead attempt has published too late, are left out.
    """
    found = _published(Path(directory))
    claim = newest_claim(Path(directory))  # read last, so that no older claim decides
    return tuple(one for one in found if _counts(claim, one))


def _counts(claim: Claim | None, one: Manifest) -> bool:
    return claim is None or not one.lineage or claim.counts(one.lineage, one.attempt, one.checkpoint)


def newest_claim(directory: Path) -> Claim | None:
    """The newest claim of the output; None without one."""
    number = _newest(directory)
    if not number:
        return None
    path = directory / "claims" / f"{number}.json"
    return Claim.decode(read_file(path), str(path))


def _newest(directory: Path) -> int:
    return max((int(path.stem) for path in (directory / "claims").glob("[0-9]*.json")), default=0)


def claim_output(directory: Path, claim: Claim) -> Claim:
    """Claim the output after the newest claim; returns the new one. Raises as `Claim.after`."""
    make_directory(directory / "claims")
    while True:
        number = _newest(directory)
        last = newest_claim(directory)
        used = last is not None and any(one.lineage == last.lineage for one in list_committed(directory))
        claimed = claim.after(last, str(directory), used=used)
        path = directory / "claims" / f"{number + 1}.json"
        if publish_file(path, claimed.encode().encode(), f"{claim.attempt}-"):
            return claimed


def _published(directory: Path) -> tuple[Manifest, ...]:
    """Every manifest of the folder, in order."""
    manifests = directory / "manifests"
    with storage_errors("listing the committed output in", manifests):
        names = sorted(path.name for path in manifests.iterdir())
    found = []
    for name in names:
        if not _MANIFEST.fullmatch(name):
            continue
        try:
            data = read_file(manifests / name)
        except StorageError as gone:
            if isinstance(gone.__cause__, FileNotFoundError):
                continue
            raise
        found.append(Manifest.decode(data, str(manifests / name)))
    return tuple(sorted(found, key=lambda one: (one.checkpoint, one.subtask)))


def read_committed(
    directory: Path | str, *, after: int = -1, only: Iterable[Manifest] | None = None
) -> pa.Table:
    """The committed rows of checkpoints above `after`, every file verified; no columns if there are none.

    `only`: the manifests to read; None: all.
    """
    tables = [
        pq.read_table(pa.BufferReader(read_verified(Path(directory), one)))
        for manifest in (list_committed(directory) if only is None else only)
        if manifest.checkpoint > after
        for one in manifest.files
    ]
    return pa.concat_tables(tables) if tables else pa.table({})


def retract(directory: Path, restored: int | None) -> tuple[str, ...]:
    """Retract what was committed beyond the checkpoint that the job restores; returns the manifests.

    The manifests are moved to `retracted`, where a person can see them. With a claim, readers leave them out
    in any case, and manifests of the newest attempt are not moved.
    """
    claim = newest_claim(directory)
    beyond = [
        one
        for one in _published(directory)
        if not _counts(claim, one)
        or ((claim is None or not one.lineage) and (restored is None or one.checkpoint > restored))
    ]
    for manifest in beyond:
        path = directory / "manifests" / manifest.file
        target = directory / "retracted" / manifest.file
        with suppress(FileNotFoundError), storage_errors("retracting", path, FileNotFoundError):
            target.parent.mkdir(exist_ok=True)
            path.replace(target)  # unless another driver has just moved it
    return tuple(manifest.file for manifest in beyond)


def sweep(
    directory: Path | str, attempt: int, keep: Collection[str] = (), lineage: str | None = None
) -> tuple[str, ...]:
    """Remove temporary files, and data files that no manifest lists, of attempts before `attempt`.

    `keep`: data files of the restored snapshot, which will be committed. `lineage`: data files of other runs
    stay; None: those of every run are removed. Returns the removed files.
    """
    root = Path(directory)
    needed = {one.file for manifest in list_committed(root) for one in manifest.files} | set(keep)
    swept = []
    for path in sorted((root / "data").iterdir()):
        match = _DATA.fullmatch(path.name)
        name = str(path.relative_to(root))
        if not match or int(match.group(1)) >= attempt or name in needed:
            continue
        if (lineage is None or match.group(2) in (None, lineage)) and remove_file(path):
            swept.append(name)
    for path in sorted(one for folder in _TEMPORARIES for one in (root / folder).glob(".*")):
        match = _TEMPORARY.fullmatch(path.name)
        if match and int(match.group(1)) < attempt and remove_file(path):
            swept.append(str(path.relative_to(root)))
    return tuple(swept)


def describe_file(directory: Path, file: str, rows: int) -> DataFile:
    """The entry of a closed data file."""
    data = read_file(directory / file)
    return DataFile(file, rows, len(data), _digest(data))


def read_verified(directory: Path, one: DataFile) -> bytes:
    """The content of a data file. Raises OutputCorruptError if it was altered."""
    path = directory / one.file
    data = read_file(path)
    if _digest(data) != one.checksum:
        raise OutputCorruptError(
            f"{path}: expected checksum {one.checksum}, got {_digest(data)}; restore it from a backup"
        )
    return data


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def _canonical(body: dict[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
