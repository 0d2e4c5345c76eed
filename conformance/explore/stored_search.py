"""What a search has found so far, on disk: a file of states for each level and partition, and a manifest.

The manifest names the files that count; it is replaced as a whole when a level is complete. A search that is
ended at any moment goes on behind the last level that the manifest has; what the level after it had left
behind is removed. Nothing but the manifest is ever written twice.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import orjson

MANIFEST = "manifest.json"
FORMAT = 1


class AnotherSearchError(ValueError):
    """The folder holds another search than the one that is to go on."""


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
        """How many there are."""
        return sum(one.states for one in self.kept)


class Search(NamedTuple):
    """A search as far as it is complete."""

    identity: str
    """What is searched, and into how many partitions."""
    levels: tuple[Level, ...]
    transitions: int
    """From all levels but the last."""
    fired: bytes
    """Which of the kernel's rules have fired: a byte each."""
    seconds: float
    """That the levels have taken, those before it was ended among them."""

    @property
    def states(self) -> int:
        """All of them."""
        return sum(level.states for level in self.levels)

    def commit(self, folder: Path) -> None:
        """Make this what the folder holds, at once and for good."""
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
    """What the folder holds of this very search; None if nothing was committed there.

    Raises AnotherSearchError if it holds another one.
    """
    if not (folder / MANIFEST).exists():
        return None
    made: dict[str, Any] = orjson.loads((folder / MANIFEST).read_bytes())
    if (made["format"], made["identity"]) != (FORMAT, identity):
        raise AnotherSearchError(
            f"{folder} holds a search of another model, or with other partitions, than the one that is to go "
            "on; name another folder, or remove that one"
        )
    return Search(
        identity,
        tuple(Level(tuple(Kept(**one) for one in level)) for level in made["levels"]),
        made["transitions"],
        bytes.fromhex(made["fired"]),
        made["seconds"],
    )


def sweep(folder: Path, search: Search | None) -> None:
    """Remove the files that do not count."""
    counted = {one.file for level in search.levels for one in level.kept} if search else set()
    for file in folder.glob("*.npy"):
        if file.name not in counted:
            file.unlink()
