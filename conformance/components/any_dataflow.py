"""The projection of AnyDataflow.tla: maps its states to the states of `model.any_dataflow`.

Channel 23 of TLA+ is the pair (2, 3) of tasks in the model. Both sort the channels by their numbers.
"""

from collections.abc import Mapping
from typing import Any

from conformance.compare.projection import Given, Node, Projection
from conformance.components.tla_records import pairs
from model.any_dataflow.any_dataflow import AnyDataflow
from model.any_dataflow.bounds import JobBounds
from model.any_dataflow.environment import closed_any_dataflow
from model.any_dataflow.job import Barrier, Checkpoint, End, Job, Snapshot, Task
from model.any_dataflow.key_groups import Subtasks, scaled_in, scaled_out, unscaled
from spec.values import State

UNALIGNED = {"": (), "Both": (1, 2), "OnlyFirst": (1,)}
"""The ids of unaligned checkpoints, by the definition that replaces `Unaligned` in a TLA+ model."""
STOPS = {"": (), "FirstStops": (1,), "SecondStops": (2,)}
"""The ids of savepoints with which the job stops, by the definition that replaces `Stops`."""
PARALLELISM = {"": unscaled, "Out": scaled_out, "In": scaled_in}
"""The parallelism, by the definition that replaces `Parallelism`."""


def project_any_dataflow(given: Given) -> Projection:
    """Pairs AnyDataflowModel.tla with the closed model of the same dataflow."""
    bounds = JobBounds(
        records=given.number("MaxRecords"),
        capacity=given.number("Capacity"),
        checkpoints=given.number("MaxCheckpoint"),
        max_concurrent=given.number("MaxConcurrent"),
        failures=given.number("MaxFailures"),
        aborts=given.number("MaxAborts"),
        slow=frozenset(given.sets["Slow"]),
        ends=given.replaced.get("Ends") == "InputsEnd",
        unaligned=frozenset(UNALIGNED[given.replaced.get("Unaligned", "")]),
        stops=frozenset(STOPS[given.replaced.get("Stops", "")]),
        parallelism=PARALLELISM[given.replaced.get("Parallelism", "")],
    )
    numbers = sorted(given.sets["Channels"])
    channels = tuple((number // 10 % 10, number % 10) for number in numbers)
    subtasks = Subtasks(channels, bounds.parallelism)
    dataflow = AnyDataflow(channels, bounds.capacity, bounds.slow, bounds.unaligned, bounds.stops, subtasks)

    def task_of(state: Mapping[str, Any]) -> Task:
        places = {
            name: frozenset(numbers.index(channel) for channel in state[name])
            for name in ("arrived", "ended")
        }
        return Task(**{**state, **places})

    def node(state: State) -> Node:
        output, committed = dict(pairs(state["output"])), dict(pairs(state["committed"]))
        snapshots = zip(
            *(_by_id(state[name]) for name in ("captured", "stored", "acknowledged", "kept")), strict=True
        )
        items = dict(pairs(state["channel"]))
        job = Job(
            **{name: state[name] for name in ("next", "latest", "up", "failures", "aborts")},
            pending=tuple(sorted(state["pending"])),
            tasks=tuple(task_of(task) for task in state["task"]),
            channels=tuple(tuple(map(_item, items[number])) for number in numbers),
            checkpoints=tuple(_checkpoint(dataflow.tasks, numbers, *known) for known in snapshots),
            output=tuple(output.get(task, ()) for task in dataflow.tasks),
            committed=tuple(committed.get(task, 0) for task in dataflow.tasks),
        )
        return job, (), ()

    return Projection(closed_any_dataflow(dataflow, bounds), node, lambda event, effects: ())


def _by_id(function: Any) -> list[Any]:  # noqa: ANN401 - a value of TLA+
    return [value for _, value in sorted(pairs(function))]


def _item(item: tuple[str, Any]) -> Any:  # noqa: ANN401 - a record is any history
    if item[0] == "end":
        return End()
    return item[1] if item[0] == "record" else Barrier(item[1])


def _checkpoint(
    tasks: tuple[int, ...],
    numbers: list[int],
    captured: object,
    stored: frozenset[int],
    acknowledged: frozenset[int],
    kept: object,
) -> Checkpoint:
    taken, records = dict(pairs(captured)), dict(pairs(kept))
    return Checkpoint(
        captured=tuple(Snapshot(**taken[task]) if task in taken else None for task in tasks),
        stored=tuple(task in stored for task in tasks),
        acknowledged=tuple(task in acknowledged for task in tasks),
        kept=tuple(tuple(map(_item, records[number])) for number in numbers),
    )
