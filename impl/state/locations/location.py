"""The interface of a storage for checkpoints and savepoints: a file system or an object store."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

Where: TypeAlias = Path | str
"""The path of a folder, or the URI of a prefix in an object store, such as `s3://bucket/flights`."""


class Location(ABC):
    """Files below one folder of a file system, or below one prefix of an object store.

    Names are relative, with `/` between folder and file. A file is complete or does not exist. Every method
    raises StorageError if the storage fails, and NoFileError if a file that it needs is missing.
    """

    @property
    @abstractmethod
    def where(self) -> Where:
        """The path or URI of this location. `location_of` makes the location of it again."""

    def __str__(self) -> str:
        return str(self.where)

    @abstractmethod
    def below(self, folder: str) -> "Location":
        """The location of a folder."""

    # ------------------------------------------------------------ folders

    @abstractmethod
    def make_folder(self, folder: str = "") -> None:
        """Create a folder with its parents, unless it exists. Does nothing in an object store."""

    @abstractmethod
    def reserve(self, folder: str) -> bool:
        """Create a folder that must not exist, in one atomic step; returns False if it exists."""

    @abstractmethod
    def remove_folder(self, folder: str = "") -> None:
        """Remove a folder if it has no file. Afterwards its name can be reserved again."""

    @abstractmethod
    def folders(self) -> tuple[str, ...]:
        """The names of the folders in this location."""

    @abstractmethod
    def sizes(self, folder: str = "") -> Mapping[str, int]:
        """Maps the names of the files in a folder to their sizes in bytes. Empty without such a folder."""

    # ------------------------------------------------------------ files

    @abstractmethod
    def publish(self, name: str, data: bytes, owner: str = "") -> bool:
        """Write a file durably under a new name; returns False, with nothing written, if the name exists.

        Of two calls with one name, exactly one succeeds. After a StorageError the file may exist or not.
        `owner`: a text in temporary names. By it a sweep finds the files of a killed process.
        """

    @abstractmethod
    def replace(self, name: str, data: bytes) -> None:
        """Write a file durably. It replaces an older file of this name."""

    @abstractmethod
    def write_unsettled(self, name: str, data: bytes) -> None:
        """Do the same as `replace`, but a later `settle` or `publish` there makes the name durable."""

    @abstractmethod
    def settle(self, folder: str = "") -> None:
        """Make the names in a folder durable."""

    @abstractmethod
    def add(self, name: str, source: Path) -> tuple[int, str]:
        """Copy a file of this host, durably, to a new name; returns its size in bytes and its `digest`."""

    @abstractmethod
    def scratch(self, name: str) -> Path:
        """A path on this host at which the caller can write a file for `adopt`. The folder of it exists."""

    @abstractmethod
    def adopt(self, name: str, staged: Path) -> tuple[int, str]:
        """Move a closed file of `scratch` to a new name, durably; returns its size and its `digest`."""

    @abstractmethod
    def copy(self, name: str, origin: "Location", there: str) -> None:
        """Copy file `there` of `origin` to `name`, as a link if possible. `settle` makes the name durable."""

    @abstractmethod
    def fetch(self, name: str, target: Path) -> None:
        """Copy a file to a new path of this host, as a link if possible."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The content of a file."""

    @abstractmethod
    def read_range(self, name: str, at: int, length: int) -> bytes:
        """`length` bytes of a file from offset `at` on; fewer at its end."""

    @abstractmethod
    def size(self, name: str) -> int | None:
        """The size of a file, in bytes; None if it does not exist."""

    @abstractmethod
    def digest(self, name: str) -> str:
        """The blake2b checksum of a file, 32 bytes, hexadecimal."""

    @abstractmethod
    def move(self, name: str, target: str) -> None:
        """Rename a small file, if it exists. No other writer may use the new name."""

    @abstractmethod
    def remove(self, name: str) -> bool:
        """Remove a file. Returns False if the file certainly did not exist."""

    # ------------------------------------------------------------ files of running tasks

    @abstractmethod
    def working(self) -> Path:
        """The folder on this host for the files of running tasks. It may not exist yet."""
