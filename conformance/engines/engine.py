"""What a campaign needs of an engine: start, strike, restart and read it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from conformance.engines.processes import EngineError, Processes
from conformance.engines.schedule import Fault, Kind

MOST_RESTARTS = 40
"""How often processes of one round may end by themselves."""


class EngineSetUpError(EngineError):
    """An engine could not be set up for a round."""


class RoundError(RuntimeError):
    """A round cannot go on: the engine does not start, or does not stay up. No verdict on a guarantee."""


@dataclass
class Place:
    """The folders of a round."""

    folder: Path
    processes: Processes

    def __post_init__(self) -> None:
        """Make them."""
        for made in (self.output, self.progress, self.checkpoints):
            made.mkdir(parents=True, exist_ok=True)

    @property
    def lanes(self) -> Path:
        """The lanes of the input."""
        return self.folder / "lanes"

    @property
    def chunks(self) -> Path:
        """The chunks of the input."""
        return self.folder / "chunks"

    @property
    def output(self) -> Path:
        """The folder that the sink of the engine writes into."""
        return self.folder / "output"

    @property
    def progress(self) -> Path:
        """Files that grow by a byte with each record that is processed."""
        return self.folder / "progress"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints, or of what the engine recovers from."""
        return self.folder / "checkpoints"

    def processed(self) -> int:
        """How often a record was processed so far."""
        return sum(file.stat().st_size for file in self.progress.iterdir())


@dataclass
class Engine(ABC):
    """One engine with its settings, in one round."""

    place: Place
    settings: dict[str, Any]
    """What was drawn for the round, such as the mode; it is printed with the result."""
    restarts: list[str] = field(default_factory=list)
    """Processes that ended by themselves, each with its last line."""
    recorded: list[dict[str, Any]] = field(default_factory=list)
    """What the engine said of itself, such as answers of its REST interface."""

    kinds: ClassVar[frozenset[Kind]]
    """The kinds of faults that it has."""

    @abstractmethod
    def start(self) -> None:
        """Start it. Raises RoundError."""

    @abstractmethod
    def strike(self, fault: Fault) -> None:
        """Inject a fault, and do what an operator does then."""

    @abstractmethod
    def supervise(self) -> None:
        """Start again what has ended by itself. Raises RoundError if that happens too often."""

    @abstractmethod
    def lines(self) -> Sequence[str]:
        """The committed rows, as its documentation tells to read them: `key,lane,position,place,total`."""

    @abstractmethod
    def completed(self) -> int | None:
        """A number that grows with each completed checkpoint; None if the engine does not show it."""

    @property
    def end(self) -> Path:
        """The file that announces the end of the input, to jobs that look for it."""
        return self.place.folder / "end"

    def over(self) -> bool:
        """Whether the job has ended by itself after the input was complete."""
        return False

    def ended(self, what: str) -> None:
        """Note that a process ended by itself. Raises RoundError if that happens too often."""
        self.restarts.append(what)
        if len(self.restarts) > MOST_RESTARTS:
            raise RoundError(
                f"expected the engine to stay up, it ended {MOST_RESTARTS} times; the last: {what}"
            )
