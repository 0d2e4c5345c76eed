"""The plan of a job: its stages in order, their subtasks, and who sends to whom.

A job is a line of stages: a source, keyed processing, a sink. Each stage has `parallelism` subtasks, and
every subtask of a stage sends to every one of the next: by the hash of a key, or by whole batches in turn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

Row = tuple[Any, ...]
KeySelector = Callable[[Row], Any]


class Role(Enum):
    """What the subtasks of a stage do."""

    SOURCE = "source"
    PROCESS = "process"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class Stage:
    """One operator and its subtasks.

    `logic` is the connector or the function that the user gave; `key_selector` tells how rows reach this
    stage: by the key of a row, or None for whole batches in turn.
    """

    name: str
    role: Role
    logic: Any
    parallelism: int
    key_selector: KeySelector | None = None


@dataclass(frozen=True, slots=True)
class Subtask:
    """One subtask: number `index` of the `stage`-th stage."""

    id: str
    stage: int
    index: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages of a job, first to last, and all that follows from them."""

    name: str
    stages: tuple[Stage, ...]

    def subtasks(self) -> tuple[Subtask, ...]:
        """All subtasks, stage by stage: the position is the partition of the Spark job that runs it."""
        return tuple(
            Subtask(f"{stage.name}-{index}", number, index)
            for number, stage in enumerate(self.stages)
            for index in range(stage.parallelism)
        )

    def ids(self) -> tuple[str, ...]:
        """The ids of all subtasks, in order."""
        return tuple(subtask.id for subtask in self.subtasks())

    def of_role(self, role: Role) -> tuple[str, ...]:
        """The ids of the subtasks that have `role`."""
        return tuple(one.id for one in self.subtasks() if self.stages[one.stage].role is role)

    def upstream(self, subtask: Subtask) -> tuple[str, ...]:
        """The ids of the subtasks that send to `subtask`, in the order of its gate's channels."""
        return self._ids_of(subtask.stage - 1)

    def downstream(self, subtask: Subtask) -> tuple[str, ...]:
        """The ids of the subtasks that `subtask` sends to."""
        return self._ids_of(subtask.stage + 1)

    def _ids_of(self, number: int) -> tuple[str, ...]:
        return tuple(one.id for one in self.subtasks() if one.stage == number)

    def edges(self) -> list[list[str]]:
        """Every channel as [upstream, downstream]."""
        return [[one.id, below] for one in self.subtasks() for below in self.downstream(one)]
