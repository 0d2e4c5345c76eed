"""Continuing from a checkpoint with another plan: the checks, and the distribution of the state.

Keyed state is distributed by key groups. Operator state and the splits of sources are distributed anew. If a
subtask of a sink has pre-committed transactions, the new subtask that takes it over commits them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast, overload

from impl.config import ConfigError
from impl.graph.plan import Plan, Role, Stage
from impl.state import CompletedCheckpoint, Sections, StateHandle
from impl.state.snapshot_files import SnapshotFiles

IN_FLIGHT: Final = "in-flight"
"""The section of a task's snapshot with its in-flight data."""

Frames = Mapping[str, Sequence[bytes]]
"""Maps the subtask at the other end of a channel to the frames of in-flight records, oldest first."""

SPLITS: Final = "splits"
"""The section of a source's snapshot: the number of all splits, and the offsets of the subtask's splits."""

CHAINED: Final = "chained/"
"""The prefix of the names of sections with the state of a chained function."""

CHAIN: Final = "chain"
"""The section with the names of all chained functions, in their order. Missing if there are none."""


def section_of(name: str) -> str:
    """The prefix of the names of the sections of the chained function `name`."""
    return f"{CHAINED}{name}/"


class RestoreRefusedError(ConfigError):
    """A plan cannot continue from a checkpoint. The message states the difference and what to do."""


def by_stage(handles: Mapping[str, StateHandle]) -> dict[str, tuple[StateHandle, ...]]:
    """The handles of a checkpoint by stage, in the order of the subtasks."""
    found: dict[str, dict[int, StateHandle]] = {}
    for task, handle in handles.items():
        stage, _, index = task.rpartition("-")
        found.setdefault(stage, {})[int(index)] = handle
    return {stage: tuple(one for _, one in sorted(there.items())) for stage, there in found.items()}


def taken_over(index: int, before: int, now: int) -> tuple[int, ...]:
    """The indices of the subtasks in the checkpoint whose state the new subtask `index` takes over.

    `before` and `now`: the numbers of subtasks. Exactly one new subtask takes over each earlier subtask.
    """
    return tuple(range(index, before, now))


def require_restorable(
    plan: Plan,
    completed: CompletedCheckpoint,
    storage: SnapshotFiles,
    *,
    allow_non_restored_state: bool = False,
) -> None:
    """Raise RestoreRefusedError unless `plan` can continue from a checkpoint without a loss.

    `allow_non_restored_state`: whether the state of stages that the plan does not have may be lost.
    """
    there = by_stage(completed.handles)
    stages = {stage.name: stage for stage in plan.stages}
    kind = "checkpoint" if completed.savepoint is None else "savepoint"
    name = f"{kind} {completed.checkpoint}"
    missing = sorted(set(there) - set(stages))
    for stage in plan.stages:
        if stage.name in there:
            missing += sorted(_chained_in(storage.open(there[stage.name][0])) - {*_names(stage)})
    if missing and not allow_non_restored_state:
        raise RestoreRefusedError(
            f"{name} has the state of {', '.join(missing)}, which the job lacks or has in another stage; "
            "undo that change, or drop the state with allow_non_restored_state"
        )
    if completed.max_parallelism not in (None, plan.max_parallelism):
        raise RestoreRefusedError(
            f"{name} has {completed.max_parallelism} key groups and the job has {plan.max_parallelism}: the "
            f"job would not find the state of keys; set max_parallelism to {completed.max_parallelism}"
        )
    for stage in plan.stages:
        if stage.role is Role.SOURCE and stage.name in there:
            splits, _ = splits_in(storage.open(there[stage.name][0]))
            if stage.splits not in (None, splits):
                raise RestoreRefusedError(
                    f"{name} has {splits} splits of {stage.name!r}, and the job declares {stage.splits}: the "
                    f"offsets would belong to other rows; declare {splits} splits, or leave `splits` out"
                )
    changed = [
        f"{one!r} from {len(handles)} to {stages[one].parallelism if one in stages else 0}"
        for one, handles in there.items()
        if one not in stages or stages[one].parallelism != len(handles)
    ]
    flying = [task for task, handle in completed.handles.items() if IN_FLIGHT in storage.open(handle)]
    if flying:
        changed += [
            f"the functions chained to {stage.name!r}"
            for stage in plan.stages
            if stage.name in there and _chain_of(storage.open(there[stage.name][0])) != _names(stage)
        ]
        changed = changed or _missing_edges(plan, completed.handles, storage, flying)
    if changed and flying:
        raise RestoreRefusedError(
            f"{name} is unaligned and holds records in flight at {', '.join(flying)}, which belong to "
            f"channels of the old plan: {', '.join(changed)} cannot be changed now. Resume with the old "
            "plan, take a savepoint or an aligned checkpoint (unaligned_checkpoints_enabled False), "
            "and then change the plan"
        )


def _missing_edges(
    plan: Plan, handles: Mapping[str, StateHandle], storage: SnapshotFiles, flying: Sequence[str]
) -> list[str]:
    """The edges whose channels have in-flight records in the checkpoint and are missing in `plan`.

    `flying`: the tasks that have in-flight records. An edge is returned as a text with its two stages.
    """
    channels = {(peer, one.id) for one in plan.subtasks() for peer in plan.upstream(one)}
    missing: dict[str, None] = {}
    for task in flying:
        there, here = in_flight_in(storage.open(handles[task]))
        for ends in (*((peer, task) for peer in there), *((task, peer) for peer in here)):
            if ends not in channels:
                above, below = (end.rpartition("-")[0] for end in ends)
                missing[f"the edge from {above!r} to {below!r}"] = None
    return list(missing)


def in_flight_in(snapshot: Sections) -> tuple[Frames, Frames]:
    """The in-flight frames at the inputs and at the outputs of a task.

    Raises SnapshotCorruptError if the section is damaged.
    """
    if IN_FLIGHT not in snapshot:
        return {}, {}
    there, here = cast(tuple[Frames, Frames], snapshot.read(IN_FLIGHT))
    return there, here


def _names(stage: Stage) -> tuple[str, ...]:
    return tuple(link.name for link in stage.chained)


def _chain_of(snapshot: Sections) -> tuple[str, ...]:
    """The names of all chained functions of a task, with and without state, from its snapshot."""
    return cast(tuple[str, ...], snapshot.read(CHAIN)) if CHAIN in snapshot else ()


def _chained_in(snapshot: Sections) -> set[str]:
    """The names of the chained functions that have state in a task's snapshot."""
    return {name.split("/")[1] for name in snapshot.names if name.startswith(CHAINED)}


def splits_in(snapshot: Sections) -> tuple[int, dict[int, object]]:
    """The number of all splits, and the offsets of the subtask's splits, from a source's snapshot."""
    return cast(tuple[int, dict[int, object]], snapshot.read(SPLITS))


class StageSnapshots(Sequence[Sections]):
    """The snapshots of all subtasks of one stage in the checkpoint. The first use of a snapshot opens it."""

    def __init__(self, storage: SnapshotFiles, handles: Sequence[StateHandle]) -> None:
        self._storage = storage
        self._handles = tuple(handles)
        self._open: dict[int, Sections] = {}

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of the subtasks in the checkpoint."""
        return tuple(handle.task for handle in self._handles)

    def __len__(self) -> int:
        return len(self._handles)

    @overload
    def __getitem__(self, index: int) -> Sections: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sections]: ...
    def __getitem__(self, index: int | slice) -> Sections | Sequence[Sections]:
        if isinstance(index, slice):
            return [self[one] for one in range(len(self))[index]]
        if index not in self._open:
            self._open[index] = self._storage.open(self._handles[index])
        return self._open[index]
