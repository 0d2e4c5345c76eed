"""The comparison as a whole: both sides write their runs, both play them all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.change.behaviour import Change, changes
from conformance.change.declared import Declared, declared
from conformance.change.sides import ChangeError, Reprofiled, revision, vectors_in, write_vectors
from conformance.vectors.make import vectors_of
from conformance.vectors.vector import Vector
from model.generations import CLAIMS

WALKS = 40
"""Random runs of each component that each side adds to its scenarios and tours."""


class Compared(NamedTuple):
    """What came of it."""

    changes: tuple[Change, ...]
    runs: int
    bound: str
    declared: Declared | None = None
    """Of revisions."""


def compare_revisions(
    repository: Path, old: str, new: str | None, components: Sequence[str], say: Callable[[str], None]
) -> Compared:
    """Two revisions, or a revision and the working tree. Raises ChangeError."""
    with ExitStack() as stack:
        before, after = (stack.enter_context(revision(repository, name)) for name in (old, new))
        temporary = Path(stack.enter_context(TemporaryDirectory(prefix="barrierspec-")))
        notes = []
        folders = []
        for number, side in enumerate((before, after)):
            say(f"{side.name}: writing its runs")
            folder = temporary / str(number)
            try:
                write_vectors(side, folder, tuple(components), WALKS)
                folders.append(folder)
            except ChangeError as cannot:
                if side is after:
                    raise
                notes.append(f"; {cannot}, so only the runs of {after.name} were played")
        found: list[Change] = []
        runs = 0
        for component in components:
            say(f"{component}: playing the runs of each side on both")
            played = _Counted(_once(folder, component) for folder in folders)
            found += changes(before.adapter, after.adapter, played)
            runs += played.number
        bound = (
            f"{runs:,} runs of {before.name} and {after.name}: scenarios, tours of the small models, chance"
        )
        return Compared(tuple(found), runs, bound + "".join(notes), declared(before.folder, after.folder))


def compare_profiles(old: str, new: str, component: str) -> Compared:
    """Two generations of one component, in this model."""
    configs_of_both: dict[str, Vector] = {}
    for vector in vectors_of(component, seed=0, walks=WALKS):
        bare = {key: value for key, value in vector.config.items() if key != "profile"}
        again = vector._replace(config=bare)
        configs_of_both.setdefault(f"{bare} {again.events}", again)
    runs = list(configs_of_both.values())
    found = tuple(changes(Reprofiled(old), Reprofiled(new), runs))
    claimed = [claim for claim in CLAIMS if component == "gate" and (claim.left, claim.right) == (old, new)]
    proved = [claim.describe() for claim in claimed if claim.prove().difference is None]
    bound = f"{len(runs):,} runs: scenarios, directed cases, tours of the small models, chance"
    z3 = "".join(f"; z3, for every checkpoint id: {sentence}" for sentence in proved)
    return Compared(found, len(runs), bound + z3)


class _Counted:
    """Vectors of several folders, counted as they are played."""

    def __init__(self, sources: Iterator[Iterator[Vector]]) -> None:
        self._sources = sources
        self.number = 0

    def __iter__(self) -> Iterator[Vector]:
        seen: set[str] = set()
        for source in self._sources:
            for vector in source:
                if vector.id not in seen:
                    seen.add(vector.id)
                    self.number += 1
                    yield vector


def _once(folder: Path, component: str) -> Iterator[Vector]:
    return vectors_in(folder, component)
