"""Compares two revisions of the project, or two generations of a component, by their answers to runs.

A run is a configuration with events. Each revision writes its runs as vectors. Then both revisions answer the
runs of both.
"""

import os
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.adapters.in_process import model_adapter, offer_of, proposed_of
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Failure, Made, Wire
from conformance.change import repository as repositories
from conformance.change.behaviour import Change, changes
from conformance.change.declared import Declared, declared
from conformance.change.repository import ChangeError
from conformance.own_process import own_process
from conformance.vectors import files
from conformance.vectors.make import vectors_of
from conformance.vectors.vector import Vector, VectorError
from model.generations import CLAIMS

WALKS = 40
"""Number of random runs of each component, which each side writes in addition to its other runs."""

PLAYED = "scenarios, the paths that z3 reads, tours of the small models, random runs"


class Compared(NamedTuple):
    """The result of a comparison."""

    changes: tuple[Change, ...]
    bound: str
    """The compared runs, as text."""
    declared: Declared | None = None
    """The declarations of the newer revision about the change. None for two generations."""


def compare_revisions(start: Path, old: str, new: str | None, components: Sequence[str]) -> Compared:
    """Compare two revisions of the git checkout that contains `start`. `new` None: the working tree.

    Raises ChangeError if a revision cannot be read or does not answer, or if no run was compared.
    """
    repository = repositories.find(start)
    with ExitStack() as stack:
        before, after = (stack.enter_context(revision(repository, name)) for name in (old, new))
        temporary = Path(stack.enter_context(TemporaryDirectory(prefix="barrierspec-")))
        notes = []
        folders = []
        pool = stack.enter_context(ThreadPoolExecutor(2))  # each side in a separate process
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
    """Compare two generations of one component. The model of this revision plays both."""
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
    for name in (old, new):
        bound += f"; {name}: proposed, no released jar" if name in proposed_of(component) else ""
    z3 = "".join(f"; z3, for every checkpoint id: {sentence}" for sentence in proved)
    return Compared(found, bound + z3)


def _each_once(sources: Iterable[Iterator[Vector]]) -> list[Vector]:
    """The vectors of several folders, without duplicates."""
    found: dict[str, Vector] = {}
    for source in sources:
        for vector in source:
            found.setdefault(vector.id, vector)
    return list(found.values())


GENERATIONS = ("gate", "channel", "coordinator", "store", "subtask", "sink")
"""The components with generations. If several have both profiles, `component_of` takes the first one."""


def component_of(old: str, new: str, selected: Sequence[str]) -> str | None:
    """The first of the selected components (empty: all) that has both profiles. None if no component has."""
    for component in GENERATIONS:
        known = {*offer_of(component).profiles, *proposed_of(component)}
        if (component in selected or not selected) and {old, new} <= known:
            return component
    return None


SHIPPED = ("model", "spec", "conformance", "impl", "pyproject.toml", "CHANGELOG.md")
"""The files of a revision that its command line imports, and those that declare its changes."""


class Side(NamedTuple):
    """One of the two compared revisions: its name, its model, and its files."""

    name: str
    adapter: Adapter
    folder: Path
    """The folder with its files."""


@contextmanager
def revision(repository: Path, name: str | None) -> Iterator[Side]:
    """A git revision in a separate folder or, if `name` is None, the current files of the repository.

    Raises ChangeError if `repository` is not a checkout of barrierspec, or if it has no such revision.
    """
    with TemporaryDirectory(prefix="barrierspec-") as temporary:
        folder = repository if name is None else _taken_out(repository, name, Path(temporary))
        adapter = ProcessAdapter(_python(folder, "serve", "model"), 60.0)
        try:
            yield Side(name or "the working tree", adapter, folder)
        finally:
            adapter.bye()


def write_vectors(side: Side, into: Path, components: tuple[str, ...], walks: int) -> None:
    """Run the command of a revision that writes its vectors into a folder.

    `walks`: random runs per component.

    Raises ChangeError if the command of the revision fails.
    """
    chosen = [word for one in components for word in ("--component", one)]
    arguments = ("vectors", "write", str(into), "--walks", str(walks), *chosen)
    done = subprocess.run(_python(side.folder, *arguments), capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise ChangeError(f"{side.name} cannot write vectors: {''.join(last)}")


def vectors_in(folder: Path, component: str) -> Iterator[Vector]:
    """Yields the vectors that a side has written for a component. None if the side lacks the component."""
    try:
        known = files.components_in(folder)
    except VectorError as wrong:
        raise ChangeError(str(wrong)) from wrong
    if component in known:
        yield from files.read(folder, component)


class Reprofiled:
    """An adapter of the model that replaces the `profile` of every configuration."""

    def __init__(self, profile: str) -> None:
        self._model = model_adapter()
        self._profile = profile
        self.hello, self.apply, self.bye = self._model.hello, self._model.apply, self._model.bye

    def new(self, component: str, config: Wire) -> Made | Failure:
        """Create the component. The profile of this adapter replaces the configured one."""
        return self._model.new(component, {**config, "profile": self._profile})


def _taken_out(repository: Path, name: str, folder: Path) -> Path:
    content = repositories.archive(repository, repositories.commit(repository, name), SHIPPED)
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # missing before Python 3.11.4
        archive.extractall(folder)
    return folder


def _python(folder: Path, *words: str) -> list[str]:
    """The command line of the revision in `folder`. Raises ChangeError if PYTHONPATH cannot hold the path."""
    if os.pathsep in str(folder):
        raise ChangeError(f"expected a folder without {os.pathsep!r} in its path, got {folder}; move it")
    return ["env", f"PYTHONPATH={folder}", *own_process("conformance.cli", *words)]
