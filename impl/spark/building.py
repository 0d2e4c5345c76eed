"""From the plan to the operator of one subtask, restored."""

from impl.config import ExecutionConfig
from impl.connectors.two_phase import SinkPlace
from impl.eventlog import EventLog
from impl.plan import Plan, Role, Subtask
from impl.spark.operators import Operator
from impl.spark.processing import ProcessOperator
from impl.spark.sinks import SinkOperator
from impl.spark.sources import SourceOperator
from impl.state import HeapKeyedStateBackend, KeyedContext, OperatorStateStore, Sections


def operator_of(
    plan: Plan,
    subtask: Subtask,
    execution: ExecutionConfig,
    place: SinkPlace,
    restored: int | None,
    snapshot: Sections | None,
    log: EventLog | None,
) -> Operator | SourceOperator:
    """The operator of `subtask`, with what it has in checkpoint `restored`: all have the same (ONCE-04)."""
    stage, index = plan.stages[subtask.stage], subtask.index
    if stage.role is Role.SOURCE:
        source = SourceOperator(stage.logic, index, stage.parallelism, execution.batch_rows)
        if snapshot is not None:
            source.restore(snapshot)
        return source
    if stage.role is Role.SINK:
        return SinkOperator(stage.logic, place, restored, snapshot, log)
    context = KeyedContext.of(subtask.id, index, stage.parallelism, plan.max_parallelism)
    state, store = HeapKeyedStateBackend(context), OperatorStateStore(restored)
    if snapshot is not None:
        state.restore([snapshot])
        store.restore(0, 1, [snapshot])
    return ProcessOperator(stage.logic, plan.key_selectors(stage), state, store)
