"""The plan of a job: a graph of stages, with their subtasks and the channels between the subtasks.

A stage is a source, a process function or a sink, and has `parallelism` subtasks. An edge states how the rows
of one stage reach the subtasks of another stage, and at which of its inputs. All inputs of a subtask together
have one channel for each subtask that may send to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import pyarrow as pa

from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM

Row = tuple[Any, ...]
KeySelector = Callable[[Row], Any]


class Role(Enum):
    """The kind of a stage."""

    SOURCE = "source"
    PROCESS = "process"
    SINK = "sink"


class Partitioning(Enum):
    """The distribution of rows along an edge: which subtasks of the next stage get a row."""

    FORWARD = "forward"
    """The subtask with the same index."""
    HASH = "hash"
    """The subtask that owns the key group of the row's key."""
    REBALANCE = "rebalance"
    """Any one subtask. Each subtask in turn gets a whole batch."""
    BROADCAST = "broadcast"
    """Every subtask."""


class Chained(NamedTuple):
    """A function that runs in the subtasks of a stage, after `Stage.logic`. `key_selector`: None: no keys."""

    name: str
    function: Any
    key_selector: KeySelector | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One operator and its subtasks. `logic`: the user's connector or function.

    `splits`: the number of splits of a source, which its subtasks share; None: one for each subtask.
    `chained`: the functions after `logic`, in the order in which rows pass through them.
    """

    name: str
    role: Role
    logic: Any
    parallelism: int = 1
    splits: int | None = None
    chained: tuple[Chained, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge: rows of stage `upstream` go to input `input` (0 or 1) of stage `downstream`."""

    upstream: str
    downstream: str
    partitioning: Partitioning = Partitioning.REBALANCE
    key_selector: KeySelector | None = None
    input: int = 0


@dataclass(frozen=True, slots=True)
class Subtask:
    """One subtask. `stage`: the position of its stage in the plan. `index`: its position in the stage."""

    id: str
    stage: int
    index: int


class Route(NamedTuple):
    """An edge out of one subtask: the ids of its receivers, and how rows are distributed among them."""

    receivers: tuple[str, ...]
    partitioning: Partitioning = Partitioning.REBALANCE
    key_selector: KeySelector | None = None
    schema: pa.Schema | None = None
    """The schema of the rows if the receiver is a sink, which gets them as Arrow columns."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages and edges of a job.

    `max_parallelism`: the number of key groups. No stage may have a greater parallelism.
    """

    name: str
    stages: tuple[Stage, ...]
    links: tuple[Edge, ...]
    max_parallelism: int = DEFAULT_MAX_PARALLELISM

    def subtasks(self) -> tuple[Subtask, ...]:
        """All subtasks, stage by stage. The position of a subtask is the number of its Spark partition."""
        return tuple(
            Subtask(f"{stage.name}-{index}", number, index)
            for number, stage in enumerate(self.stages)
            for index in range(stage.parallelism)
        )

    def ids(self) -> tuple[str, ...]:
        """The ids of all subtasks, stage by stage."""
        return tuple(subtask.id for subtask in self.subtasks())

    def of_role(self, role: Role) -> tuple[str, ...]:
        """The ids of the subtasks of all stages of a kind."""
        return tuple(one.id for one in self.subtasks() if self.stages[one.stage].role is role)

    def outputs(self) -> tuple[Any, ...]:
        """The outputs of the sinks, stage by stage, as `impl.connectors.two_phase.Output`."""
        return tuple(stage.logic for stage in self.stages if stage.role is Role.SINK)

    def inputs(self, subtask: Subtask) -> tuple[tuple[str, int], ...]:
        """For each channel of the gate of `subtask`, in order: the id of the sender, and the input number."""
        name = self.stages[subtask.stage].name
        into = sorted((edge for edge in self.links if edge.downstream == name), key=lambda edge: edge.input)
        return tuple(
            (peer, edge.input) for edge in into for peer in self._ends(edge, edge.upstream, subtask.index)
        )

    def upstream(self, subtask: Subtask) -> tuple[str, ...]:
        """The ids of the subtasks that send to `subtask`, in the order of its gate's channels."""
        return tuple(peer for peer, _ in self.inputs(subtask))

    def routes(self, subtask: Subtask) -> tuple[Route, ...]:
        """The edges out of `subtask`, in the order of their declaration."""
        name = self.stages[subtask.stage].name
        schemas = {stage.name: stage.logic.schema for stage in self.stages if stage.role is Role.SINK}
        return tuple(
            Route(
                self._ends(edge, edge.downstream, subtask.index),
                edge.partitioning,
                edge.key_selector,
                schemas.get(edge.downstream),
            )
            for edge in self.links
            if edge.upstream == name
        )

    def downstream(self, subtask: Subtask) -> tuple[str, ...]:
        """The ids of the subtasks that `subtask` sends to."""
        return tuple(receiver for route in self.routes(subtask) for receiver in route.receivers)

    def key_selectors(self, stage: Stage) -> dict[int, KeySelector]:
        """Maps each keyed input of `stage` to the selector of a row's key."""
        return {
            edge.input: edge.key_selector
            for edge in self.links
            if edge.downstream == stage.name and edge.key_selector is not None
        }

    def edges(self) -> list[list[str]]:
        """Every channel as [id of the sender, id of the receiver]."""
        return [[one.id, below] for one in self.subtasks() for below in self.downstream(one)]

    def exchanges(self) -> list[dict[str, Any]]:
        """The edges between stages, for the event log."""
        return [
            {"from": edge.upstream, "to": edge.downstream, "partitioning": edge.partitioning.value}
            for edge in self.links
        ]

    def _ends(self, edge: Edge, there: str, here: int) -> tuple[str, ...]:
        """The ids of the subtasks of stage `there` that `edge` connects with number `here` of the other."""
        (parallelism,) = (stage.parallelism for stage in self.stages if stage.name == there)
        indices = (here,) if edge.partitioning is Partitioning.FORWARD else range(parallelism)
        return tuple(f"{there}-{index}" for index in indices)
