"""The matrix of releases and components. A cell is a gate in one mode at one level, or another component.

A run writes each cell as a line of JSON as soon as it is done, so that a later run can continue a stopped
one. The first line has the bounds that hold for all cells.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Self

import orjson

from conformance.errors import InputError
from conformance.machine import HOME
from conformance.released.results import Conformed, Target
from conformance.verdict import Verdict

PUBLISHED = HOME / "conformance" / "released" / "matrix.jsonl"
"""The cells that the page of the documentation shows."""
RECORD = Path("build/flink-matrix.jsonl")
"""The file in which a run stores its cells."""
ABSENT = "absent"
"""An outcome: the release does not have the component or mode."""
SKIPPED = "skipped"
"""An outcome: the release has the component, but this suite did not drive it."""

Place = tuple[str, str, str]
"""Release, component or mode of the gate, and level; only gates have levels."""


class MatrixError(InputError):
    """A file of cells cannot be used. The message states the fix."""


class Bounds(NamedTuple):
    """The numbers of cases for each cell."""

    sequences: int
    """The number of random sequences of each cell."""
    seed: int
    tour_nodes: int
    """Maximum number of states of each small model that are toured."""
    timed_nodes: int
    """The same for models with virtual time."""


class Cell(NamedTuple):
    """The outcome of one component of one release; of its gate, the outcome in one mode at one level."""

    version: str
    mode: str
    """Mode of the gate, or another component."""
    level: str
    profile: str
    outcome: str
    """The verdict, ABSENT or SKIPPED."""
    reason: str
    """The reason why the run of the cell stopped early; empty if it did not."""
    sequences: int
    events: int
    transitions: int
    """The number of transitions of small models that tours took."""
    known: int
    """Number of different known divergences."""
    new: int
    """Number of other divergences, and of known ones that no longer diverge."""
    rules: tuple[str, ...]
    """The rules that fired at steps in which the release gave the model's answer, sorted by name."""
    commit: str
    """The commit of this specification that was compared with the release."""

    @property
    def place(self) -> Place:
        """Its place in the matrix."""
        return self.version, self.mode, self.level

    @property
    def is_skipped(self) -> bool:
        """Whether the release has the component, but the suite did not drive it."""
        return self.outcome == SKIPPED

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None if nothing was driven."""
        return None if self.outcome in (ABSENT, SKIPPED) else Verdict(self.outcome)

    def holds_for(self, target: Target) -> bool:
        """Whether a later run keeps the cell: it has a final outcome, and `target` still has its profile."""
        settled = self.outcome == ABSENT or self.verdict in {Verdict.CONFORMS, Verdict.DIVERGES}
        return settled and self.profile == target.profile

    @classmethod
    def of(cls, done: Conformed, commit: str) -> Self:
        """The cell of a result. `commit`: the commit of this specification in the run."""
        target, outcome = done.target, done.verdict.value
        if done.skipped:
            outcome = ABSENT if done.absent else SKIPPED
        reason = "" if done.stopped is None else done.stopped.describe()
        new = len(done.new) + len(done.gone)
        rules = tuple(sorted(done.rules))
        return cls(
            target.version, target.mode, target.level, target.profile, outcome, reason,
            done.sequences, done.events, done.transitions, len(done.known), new, rules, commit,
        )  # fmt: skip


class Record:
    """The file of cells of one run, or of several runs with the same bounds."""

    def __init__(self, file: Path, bounds: Bounds) -> None:
        self.file = file
        self.bounds = bounds

    def begin(self) -> None:
        """Write the file anew, without cells."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(orjson.dumps(self.bounds._asdict()) + b"\n")

    def resume(self) -> Mapping[Place, Cell]:
        """Return the cells of earlier runs with the same bounds. Begins the file if it is missing.

        Raises MatrixError if another command wrote the file, or if it has other bounds.
        """
        if not self.file.exists():
            self.begin()
        bounds, cells = read(self.file)
        if bounds != self.bounds:
            raise MatrixError(
                f"{self.file} has cells of {bounds}, expected {self.bounds}: "
                "give the same numbers, or run without --resume to begin anew"
            )
        return cells

    def add(self, cell: Cell) -> None:
        """Append one cell."""
        with self.file.open("ab") as file:
            file.write(orjson.dumps(cell._asdict()) + b"\n")


def read(file: Path) -> tuple[Bounds, dict[Place, Cell]]:
    """Read the bounds and the last cell of each place in a file. Raises MatrixError."""
    try:
        head, *lines = map(orjson.loads, file.read_bytes().splitlines())
        cells = [Cell(**{**line, "rules": tuple(line["rules"])}) for line in lines]
        return Bounds(**head), {cell.place: cell for cell in cells}
    except (KeyError, TypeError, ValueError) as wrong:
        why = f"{file}: expected a file that `flink matrix` has written, got {wrong!r}; delete it"
        raise MatrixError(why) from wrong


def publish(record: Record, file: Path) -> None:
    """Copy the last cell of each place of a record into `file`, in the order of the releases."""
    bounds, cells = read(record.file)
    published = Record(file, bounds)
    published.begin()
    for cell in in_order(cells.values()):
        published.add(cell)


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """The cells by release, oldest first. The cells of one release stay in their order."""
    return sorted(cells, key=lambda cell: tuple(map(int, cell.version.split("."))))
