"""Makes the operator of one subtask from the plan, and restores its state."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from impl.config import MEMORY, ExecutionConfig
from impl.connectors.kafka.declaration import KafkaInput
from impl.connectors.two_phase import SinkContext
from impl.eventlog import EventLog
from impl.functions import Batchwise, Rowwise
from impl.graph.plan import KeySelector, Plan, Role, Subtask
from impl.graph.rescaling import section_of, taken_over
from impl.spark.worker.chain import ChainedOperator, SnapshotsOf, StatelessOperator
from impl.spark.worker.operators import Operator
from impl.spark.worker.processing import OwnKeys, ProcessOperator
from impl.spark.worker.sinks import SinkOperator, commit_orphans
from impl.spark.worker.sources import SplitsOperator, splits_of
from impl.state import (
    CheckpointStorage,
    HeapKeyedStateBackend,
    KeyedContext,
    KeyedStateBackend,
    OperatorStateStore,
    Sections,
)
from impl.state.backends.key_groups import groups_of
from impl.state.backends.key_values import require_keys
from impl.state.backends.rocksdb import RocksDbKeyedStateBackend


@dataclass(frozen=True, slots=True)
class Restored:
    """The state that a subtask's operator restores.

    `snapshots`: those of all subtasks that its stage has in `checkpoint`. At the beginning of a job there are
    no snapshots, and `checkpoint` is None.
    """

    checkpoint: int | None
    snapshots: Sequence[Sections]
    storage: CheckpointStorage
    log: EventLog | None


def operator_of(
    plan: Plan, subtask: Subtask, execution: ExecutionConfig, sink_context: SinkContext, restored: Restored
) -> Operator:
    """The operator of `subtask`, with its state from the restored checkpoint (ONCE-04)."""
    stage, index = plan.stages[subtask.stage], subtask.index
    parallelism, before = stage.parallelism, restored.snapshots
    if stage.role is Role.SOURCE and isinstance(stage.logic, KafkaInput):
        from impl.spark.worker.kafka_source import KafkaSourceOperator  # its client library is optional

        here = (index, parallelism)
        return KafkaSourceOperator(stage.logic, here, before, execution.batch_rows, restored.log)
    if stage.role is Role.SOURCE:
        splits, own = splits_of(index, parallelism, stage.splits, before)
        return SplitsOperator(stage.logic, splits, own, execution.batch_rows)
    if stage.role is Role.SINK:
        mine = before[index] if index < len(before) else None
        others = taken_over(index, len(before), parallelism)[1:]
        orphans = {f"{stage.name}-{one}": before[one] for one in others}
        commit_orphans(stage.logic, sink_context, orphans, restored.log)
        return SinkOperator(stage.logic, sink_context, restored.checkpoint, mine, restored.log)
    factory = _OperatorFactory(plan, subtask, execution, restored, sink_context.attempt)
    behind: dict[str, Operator] = {}
    with ExitStack() as failing:  # if a function fails to open, this closes the open ones
        for link in reversed(stage.chained):  # opened from the last to the first, as in Flink
            if isinstance(link.function, Rowwise | Batchwise):
                behind[link.name] = StatelessOperator(link)
            else:
                selectors = {} if link.key_selector is None else {0: link.key_selector}
                theirs = SnapshotsOf(before, section_of(link.name))
                name = f"{subtask.id}-{link.name}"
                behind[link.name] = factory.operator(name, link.function, selectors, theirs, chained=True)
            failing.callback(behind[link.name].close)
        head = factory.operator(subtask.id, stage.logic, plan.key_selectors(stage), before)
        failing.pop_all()
    return ChainedOperator(head, dict(reversed(behind.items()))) if behind else head


@dataclass(frozen=True, slots=True)
class _OperatorFactory:
    """Makes the operators of the functions of a subtask."""

    plan: Plan
    subtask: Subtask
    execution: ExecutionConfig
    restored: Restored
    attempt: int

    def operator(
        self,
        task: str,
        function: object,
        selectors: Mapping[int, KeySelector],
        before: Sequence[Sections],
        *,
        chained: bool = False,
    ) -> ProcessOperator:
        """The operator of `function`, with its state restored.

        `task`: the name of the operator in its stored state. `before`: the restored snapshots of all subtasks
        of this stage.
        """
        index, every = self.subtask.index, self.plan.max_parallelism
        parallelism = self.plan.stages[self.subtask.stage].parallelism
        context = KeyedContext.of(task, index, parallelism, every)
        state = _keyed_state(context, self.execution, self.restored.storage, self.attempt)
        store = OperatorStateStore(self.restored.checkpoint)
        if before:
            # in a snapshot without sections, the function was not in the job
            known = [one for one in _with_groups_of(context, before) if one.names]
            if known:
                state.restore(known)
            store.restore(index, parallelism, before)
        check_keys = OwnKeys(context) if chained else require_keys
        return ProcessOperator(function, selectors, state, store, check_keys=check_keys)


def _keyed_state(
    context: KeyedContext, execution: ExecutionConfig, storage: CheckpointStorage, attempt: int
) -> KeyedStateBackend:
    """The state backend that the configuration names.

    With RocksDB, deletes the working folders of older attempts.
    """
    if execution.state_backend == MEMORY:
        return HeapKeyedStateBackend(context)
    storage.clear_working(attempt)
    working = storage.working(context.task, attempt)
    return RocksDbKeyedStateBackend(context, working, storage.shared, attempt)


def _with_groups_of(context: KeyedContext, before: Sequence[Sections]) -> list[Sections]:
    """The snapshots that have key groups of the subtask. The other snapshots are not opened."""
    ranges = [groups_of(one, len(before), context.max_parallelism) for one in range(len(before))]
    first, beyond = context.groups.start, context.groups.stop
    return [before[one] for one, there in enumerate(ranges) if there.start < beyond and first < there.stop]
