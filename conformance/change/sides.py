"""The two sides of a change: each a model that answers, with the runs that it would write as vectors."""

import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.adapters.in_process import model_adapter
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Failure, Made, Wire
from conformance.change import repository as repositories
from conformance.change.repository import ChangeError
from conformance.own_process import own_process
from conformance.vectors import files
from conformance.vectors.vector import Vector, VectorError

SHIPPED = ("model", "spec", "conformance", "impl", "pyproject.toml", "CHANGELOG.md")
"""What is taken of a revision: what its model and its writer of vectors import, and what it declares."""


class Side(NamedTuple):
    """One of the two."""

    name: str
    adapter: Adapter
    folder: Path
    """Where its files are."""


@contextmanager
def revision(repository: Path, name: str | None) -> Iterator[Side]:
    """A git revision in a folder of its own, or the files of the repository as they are (`name` None).

    Raises ChangeError if `repository` is no checkout of barrierspec, or has no such revision.
    """
    with TemporaryDirectory(prefix="barrierspec-") as temporary:
        folder = repository if name is None else _taken_out(repository, name, Path(temporary))
        adapter = ProcessAdapter(_python(folder, "serve", "model"), 60.0)
        try:
            yield Side(name or "the working tree", adapter, folder)
        finally:
            adapter.bye()


def write_vectors(side: Side, into: Path, components: tuple[str, ...], walks: int) -> None:
    """Let a revision write its own vectors, among them runs for the paths that z3 reads in its functions.

    Raises ChangeError if it cannot.
    """
    chosen = [word for one in components for word in ("--component", one)]
    arguments = ("vectors", "write", str(into), "--walks", str(walks), *chosen)
    done = subprocess.run(_python(side.folder, *arguments), capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise ChangeError(f"{side.name} cannot write vectors: {''.join(last)}")


def vectors_in(folder: Path, component: str) -> Iterator[Vector]:
    """What a side has written of a component; nothing if it does not know it."""
    try:
        known = files.components_in(folder)
    except VectorError as wrong:
        raise ChangeError(str(wrong)) from wrong
    if component in known:
        yield from files.read(folder, component)


class Reprofiled:
    """The model, whatever generation is arguments for, in this one."""

    def __init__(self, profile: str) -> None:
        self._model = model_adapter()
        self._profile = profile
        self.hello, self.apply, self.bye = self._model.hello, self._model.apply, self._model.bye

    def new(self, component: str, config: Wire) -> Made | Failure:
        """As every adapter, in another generation."""
        return self._model.new(component, {**config, "profile": self._profile})


def _taken_out(repository: Path, name: str, folder: Path) -> Path:
    content = repositories.archive(repository, repositories.commit(repository, name), SHIPPED)
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _python(folder: Path, *words: str) -> list[str]:
    """Our command line out of that folder. Raises ChangeError where Python could not be given the folder."""
    if os.pathsep in str(folder):
        raise ChangeError(f"expected a folder without {os.pathsep!r} in its path, got {folder}; move it")
    return ["env", f"PYTHONPATH={folder}", *own_process("conformance.cli", *words)]
