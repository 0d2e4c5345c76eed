"""The comparison as a whole: both sides write their runs, both play them all."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.change import repository as repositories
from conformance.change.behaviour import Change, changes
from conformance.change.declared import Declared, declared
from conformance.change.repository import ChangeError
from conformance.change.sides import Reprofiled, revision, vectors_in, write_vectors
from conformance.vectors.make import vectors_of
from conformance.vectors.vector import Vector
from model.generations import CLAIMS

WALKS = 40
"""Random runs of each component that each side adds to its scenarios and tours."""

PLAYED = "scenarios, the paths that z3 reads, tours of the small models, chance"


class Compared(NamedTuple):
    """What came of it."""

    changes: tuple[Change, ...]
    bound: str
    declared: Declared | None = None
    """Of revisions."""


def compare_revisions(start: Path, old: str, new: str | None, components: Sequence[str]) -> Compared:
    """Two revisions of the checkout that holds `start`, or one and the working tree. Raises ChangeError."""
    repository = repositories.find(start)
    with ExitStack() as stack:
        before, after = (stack.enter_context(revision(repository, name)) for name in (old, new))
        temporary = Path(stack.enter_context(TemporaryDirectory(prefix="barrierspec-")))
        notes = []
        folders = []
        pool = stack.enter_context(ThreadPoolExecutor(2))  # each side in a process of its own
        written = [
            (side, folder, pool.submit(write_vectors, side, folder, tuple(components), WALKS))
            for side, folder in ((before, temporary / "before"), (after, temporary / "after"))
        ]
        for side, folder, done in written:
            try:
                done.result()
                folders.append(folder)
            except ChangeError as cannot:
                if side is after:
                    raise
                notes.append(f"; {cannot}, so only the runs of {after.name} were played")
        found: list[Change] = []
        runs = 0
        for component in components:
            played = _each_once(vectors_in(folder, component) for folder in folders)
            found += changes(before.adapter, after.adapter, played)
            runs += len(played)
        if not runs:
            raise ChangeError(f"expected runs of {', '.join(components)}, got none; nothing was compared")
        bound = f"{runs:,} runs of {before.name} and {after.name}: {PLAYED}"
        return Compared(tuple(found), bound + "".join(notes), declared(before.folder, after.folder))


def compare_profiles(old: str, new: str, component: str) -> Compared:
    """Two generations of one component, in this model."""
    without_profile: dict[str, Vector] = {}
    for vector in vectors_of(component, seed=0, walks=WALKS):
        bare = {key: value for key, value in vector.config.items() if key != "profile"}
        again = vector._replace(config=bare)
        without_profile.setdefault(f"{bare} {again.events}", again)
    runs = list(without_profile.values())
    found = tuple(changes(Reprofiled(old), Reprofiled(new), runs))
    claimed = [claim for claim in CLAIMS if component == "gate" and (claim.left, claim.right) == (old, new)]
    proved = [claim.describe() for claim in claimed if claim.prove().difference is None]
    bound = f"{len(runs):,} runs: {PLAYED}"
    z3 = "".join(f"; z3, for every checkpoint id: {sentence}" for sentence in proved)
    return Compared(found, bound + z3)


def _each_once(sources: Iterable[Iterator[Vector]]) -> list[Vector]:
    """The vectors of several folders; what stands in both is played once."""
    found: dict[str, Vector] = {}
    for source in sources:
        for vector in source:
            found.setdefault(vector.id, vector)
    return list(found.values())
