"""The plan of a job: a graph of stages, their subtasks, and the channels between these.

A stage is a source, a process function or a sink, and has `parallelism` subtasks. An edge states how the rows
of one stage reach the subtasks of another, and at which input. A subtask has one channel for each subtask
that may send to it, over all its inputs.
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
    """The distribution of rows along an edge."""

    FORWARD = "forward"
    """Each subtask sends to the one with the same index."""
    HASH = "hash"
    """To the subtask that owns the key group of the row's key."""
    REBALANCE = "rebalance"
    """To all subtasks in turn, by whole batches."""
    BROADCAST = "broadcast"
    """To every subtask."""


class Chained(NamedTuple):
    """A function that runs in the subtasks of a stage, after its own. `key_selector`: None without keys."""

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
    """Rows of stage `upstream` go to stage `downstream`; `input` is 0, or 1 for its second input."""

    upstream: str
    downstream: str
    partitioning: Partitioning = Partitioning.REBALANCE
    key_selector: KeySelector | None = None
    input: int = 0


@dataclass(frozen=True, slots=True)
class Subtask:
    """One subtask: number `index` of the `stage`-th stage."""

    id: str
    stage: int
    index: int


class Route(NamedTuple):
    """An edge out of one subtask: the ids of its receivers, and how rows are distributed among them."""

    receivers: tuple[str, ...]
    partitioning: Partitioning = Partitioning.REBALANCE
    key_selector: KeySelector | None = None
    schema: pa.Schema | None = None
    """The schema of the rows if the receiver is a sink; they are sent as columns."""


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
        """All subtasks, stage by stage; the position of a subtask is its partition of the Spark job."""
        return tuple(
            Subtask(f"{stage.name}-{index}", number, index)
            for number, stage in enumerate(self.stages)
            for index in range(stage.parallelism)
        )

    def ids(self) -> tuple[str, ...]:
        """The ids of all subtasks, in order."""
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
        """Every channel as [upstream, downstream]."""
        return [[one.id, below] for one in self.subtasks() for below in self.downstream(one)]

    def exchanges(self) -> list[dict[str, Any]]:
        """The edges between stages, for the event log."""
        return [
            {"from": edge.upstream, "to": edge.downstream, "partitioning": edge.partitioning.value}
            for edge in self.links
        ]

    def _ends(self, edge: Edge, there: str, here: int) -> tuple[str, ...]:
        """The subtasks of stage `there` that an edge connects with the subtask of index `here`."""
        (parallelism,) = (stage.parallelism for stage in self.stages if stage.name == there)
        indices = (here,) if edge.partitioning is Partitioning.FORWARD else range(parallelism)
        return tuple(f"{there}-{index}" for index in indices)
