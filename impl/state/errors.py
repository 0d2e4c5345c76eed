"""The errors of durable state. Every message names the file and states what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ADVICE = {
    errno.ENOSPC: "free space on that disk and let the job restart",
    errno.EDQUOT: "raise the quota and let the job restart",
    errno.ENOENT: "create the directory, or check that the file system is mounted",
    errno.EACCES: "give the user of the job the right to write there",
    errno.EROFS: "mount the file system writable",
}


class StateError(Exception):
    """The base of all errors of durable state."""


class UnsupportedKeyError(StateError):
    """A value cannot be a key. The message states what to select instead."""


class KeyEncodingError(StateError):
    """A snapshot of another release has keys to which this release gives another key group or other bytes."""


class StorageError(StateError):
    """The storage fails: a full disk, a missing directory or permission, a silent object store."""


class NoFileError(StorageError):
    """A file that an operation needs does not exist."""


class StateTooLargeError(StateError):
    """The snapshot of a task is larger than the limit for snapshots in the memory of the driver."""


class UncertainPublicationError(StorageError):
    """It is unknown whether the checkpoint is complete. Its files stay: a newer driver may restore it."""


@contextmanager
def storage_errors(doing: str, path: Path, *unchanged: type[OSError]) -> Iterator[None]:
    """A context that raises StorageError for an OSError, except for the types `unchanged`.

    `doing`: the action, such as "writing", for the message.
    """
    try:
        yield
    except unchanged:
        raise
    except OSError as cause:
        advice = _ADVICE.get(cause.errno or 0, "see the cause, and let the job restart")
        kind = NoFileError if isinstance(cause, FileNotFoundError) else StorageError
        raise kind(f"{doing} {path} failed: {cause.strerror or cause}; {advice}") from cause


class SnapshotCorruptError(StateError):
    """A snapshot or manifest is incomplete or altered. No part of it may be used."""

    def __init__(self, file: str, expected: str, came: str) -> None:
        super().__init__(
            f"{file}: expected {expected}, got {came}; delete this checkpoint and restore an older one"
        )
        self.file = file
        self.expected = expected
        self.came = came

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.file, self.expected, self.came)


class NotRowsError(StateError):
    """A function of a user has returned a value that is not a collection of rows."""

    @classmethod
    def of(cls, function: object, method: str, returned: str) -> "NotRowsError":
        """The error for a `method` of a user's object. `returned`: the returned value, as text."""
        return cls(
            f"{type(function).__name__}.{method} returned {returned}: expected the rows to emit, as a list "
            "or another iterable; return [] for none"
        )


class CheckpointConflictError(StateError):
    """Another checkpoint or savepoint was completed under this id or in this folder."""


class NoSavepointError(StateError):
    """A folder has no savepoint or retained checkpoint from which a job can start."""


class SupersededError(StateError):
    """A newer execution attempt exists; the older one must end (ONCE-06)."""

    @classmethod
    def of(cls, doing: str, attempt: int, newest: int, where: str) -> "SupersededError":
        """The error of `attempt` if the attempt `newest` exists in storage `where`. `doing`: its action."""
        return cls(
            f"{doing}: expected attempt {attempt} to be the newest in {where}, but attempt {newest} exists; "
            "end this attempt: another driver has resumed the job, and all that counts is done by that one. "
            "Let it finish; resume again only when it has ended"
        )
