"""Stores the progress of a search on Spark in a folder: files of states by level and partition, a manifest.

The manifest lists the files of the complete levels. When a level is complete, the search replaces the
manifest atomically; every other file is written once. A search that was interrupted continues after the last
level in the manifest. It first deletes the files of the incomplete level.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import orjson

MANIFEST = "manifest.json"
FORMAT = 1


class AnotherSearchError(ValueError):
    """The folder holds the search of another model, or with another number of partitions."""


class Kept(NamedTuple):
    """The states of one level in one partition."""

    partition: int
    file: str
    """Its name in the folder."""
    states: int


class Level(NamedTuple):
    """The states that are first reached by runs of one length."""

    kept: tuple[Kept, ...]

    @property
    def states(self) -> int:
        """Number of states, in all partitions."""
        return sum(one.states for one in self.kept)


class Search(NamedTuple):
    """The complete levels of a search."""

    identity: str
    """SHA-256 of the number of partitions and the kernel's source."""
    levels: tuple[Level, ...]
    transitions: int
    """Number of transitions from all levels but the last."""
    fired: bytes
    """For each of the kernel's rules a byte: whether the rule has fired."""
    seconds: float
    """Search time of all levels, over all runs."""

    @property
    def states(self) -> int:
        """Number of states."""
        return sum(level.states for level in self.levels)

    def commit(self, folder: Path) -> None:
        """Replace the manifest, atomically and durably."""
        made = {
            "format": FORMAT,
            "identity": self.identity,
            "levels": [[one._asdict() for one in level.kept] for level in self.levels],
            "transitions": self.transitions,
            "fired": self.fired.hex(),
            "seconds": self.seconds,
        }
        draft = folder / f"{MANIFEST}.part"
        with draft.open("wb") as file:
            file.write(orjson.dumps(made, option=orjson.OPT_APPEND_NEWLINE))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / MANIFEST)


def load(folder: Path, identity: str) -> Search | None:
    """The stored progress of this search; None if the folder has no manifest.

    Raises AnotherSearchError if the folder holds another search.
    """
    if not (folder / MANIFEST).exists():
        return None
    made: dict[str, Any] = orjson.loads((folder / MANIFEST).read_bytes())
    if (made["format"], made["identity"]) != (FORMAT, identity):
        raise AnotherSearchError(
            f"{folder} holds a search of another model or with another number of partitions; choose another "
            "folder, or delete this one"
        )
    return Search(
        identity,
        tuple(Level(tuple(Kept(**one) for one in level)) for level in made["levels"]),
        made["transitions"],
        bytes.fromhex(made["fired"]),
        made["seconds"],
    )


def sweep(folder: Path, search: Search | None) -> None:
    """Delete the files of states that the manifest does not list."""
    counted = {one.file for level in search.levels for one in level.kept} if search else set()
    for file in folder.glob("*.npy"):
        if file.name not in counted:
            file.unlink()
