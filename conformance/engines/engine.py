"""The interface through which a campaign starts a stream processor, injects faults and reads its output."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from conformance.engines.processes import EngineError, Processes
from conformance.engines.schedule import Fault, Kind
from conformance.observe.guarantees.guarantee import Totals

MOST_RESTARTS = 40
"""Maximum number of processes that may end by themselves in one round."""


class EngineSetUpError(EngineError):
    """An engine could not be set up for a round."""


class RoundError(RuntimeError):
    """The engine does not start, ends too often, or takes too long. The round has no verdict."""


@dataclass
class Place:
    """The folders and processes of a round."""

    folder: Path
    processes: Processes

    def __post_init__(self) -> None:
        """Create the folders that the engine writes into."""
        for made in (self.output, self.progress, self.checkpoints):
            made.mkdir(parents=True, exist_ok=True)

    @property
    def lanes(self) -> Path:
        """The folder of the input as one growing file for each lane (`feed`)."""
        return self.folder / "lanes"

    @property
    def chunks(self) -> Path:
        """The folder of the input as small files, each visible only when it is complete (`feed`)."""
        return self.folder / "chunks"

    @property
    def output(self) -> Path:
        """The folder that the sink of the engine writes into."""
        return self.folder / "output"

    @property
    def progress(self) -> Path:
        """The folder of files to which the job adds a byte for each record that it processes."""
        return self.folder / "progress"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints, or of the files from which the engine recovers."""
        return self.folder / "checkpoints"

    def processed(self) -> int:
        """The number of records processed so far. A record that is processed again counts again."""
        return sum(file.stat().st_size for file in self.progress.iterdir())


@dataclass
class Engine(ABC):
    """One engine with its settings, in one round."""

    place: Place
    settings: dict[str, Any]
    """The settings that were drawn for the round, such as the mode. The result of the round contains them."""
    restarts: list[str] = field(default_factory=list)
    """Processes that ended by themselves, each with its last line."""
    recorded: list[dict[str, Any]] = field(default_factory=list)
    """Reports of the engine, such as answers of its REST interface."""

    kinds: ClassVar[frozenset[Kind]]
    """The kinds of faults that a campaign can inject into this engine."""

    @abstractmethod
    def start(self) -> None:
        """Start the engine. Raises RoundError if it does not start."""

    @abstractmethod
    def inject(self, fault: Fault) -> None:
        """Inject a fault, then do the work of a person who operates the engine, such as a restart."""

    @abstractmethod
    def supervise(self) -> None:
        """Restart processes that ended by themselves. Raises RoundError after MOST_RESTARTS of them."""

    @abstractmethod
    def lines(self) -> Sequence[str]:
        """The committed rows `key,lane,position,place,total`, read as the engine's documentation requires."""

    @abstractmethod
    def completed(self) -> int | None:
        """A number that grows with each completed checkpoint; None if the engine does not show it."""

    def state(self) -> Mapping[Hashable, Totals] | None:
        """The state of each key at the end, read independently of the output; None if it cannot be read.

        The caller calls it once, after it has read the output for the last time. Raises RoundError if the
        engine does not return the state.
        """
        return None

    def close(self) -> None:  # noqa: B027 - most engines have nothing outside their `place`
        """End processes that are not in `place`. Called after the output was read for the last time."""

    @property
    def end(self) -> Path:
        """The file that exists once the input is complete. Not every job looks for it."""
        return self.place.folder / "end"

    def over(self) -> bool:
        """Whether the job has ended by itself after the input was complete."""
        return False

    def ended(self, what: str) -> None:
        """Record that a process ended by itself. Raises RoundError after MOST_RESTARTS of them."""
        self.restarts.append(what)
        if len(self.restarts) >= MOST_RESTARTS:
            raise RoundError(
                f"expected the engine to keep running, it ended {MOST_RESTARTS} times; the last: {what}"
            )
