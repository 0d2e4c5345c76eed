"""A worker with planned faults: subclasses of a worker's classes, which add fault points."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import assert_never

from impl.core.gate.events import Trigger
from impl.core.gate.unaligned_events import GateEffect, StartPersisting, StopPersisting, TriggerWithOptions
from impl.core.subtask.events import BroadcastBarrier, SendAcknowledge, SubtaskEffect
from impl.faults import Action, NumberedFault, Point
from impl.graph.plan import Role, Subtask
from impl.spark.channels import messages
from impl.spark.channels.frames import Kind, unpack_id
from impl.spark.channels.inbox import Frame
from impl.spark.errors import InjectedFaultError
from impl.spark.faults.injector import FaultInjector
from impl.spark.snapshots.snapshots import Snapshots
from impl.spark.snapshots.writer import TaskStorage
from impl.spark.worker.context import TaskContext
from impl.spark.worker.launch import Launch
from impl.spark.worker.operator_factory import Restored
from impl.spark.worker.operators import Operator
from impl.spark.worker.subtask import RunningSubtask
from impl.spark.worker.worker import SparkTask, Worker
from impl.state import AsynchronousPart, StateHandle
from impl.state.shared import SharedFile, SharedFiles


class FaultySparkTask(SparkTask):
    """The function of the Spark job. It makes workers to which `faults` may happen."""

    def __init__(self, launch: Launch, faults: tuple[NumberedFault, ...]) -> None:
        super().__init__(launch)
        self._faults = faults

    def worker(self, subtask: Subtask) -> Worker:
        """The worker of a subtask. It is a plain `Worker` if no fault can happen to the subtask."""
        concerned = tuple(fault for fault in self._faults if fault[1].concerns(subtask.id))
        return FaultyWorker(self._launch, subtask, concerned) if concerned else super().worker(subtask)


class FaultyWorker(Worker):
    """A worker to which faults happen, with fault points before and after its restore."""

    def __init__(self, launch: Launch, subtask: Subtask, faults: tuple[NumberedFault, ...]) -> None:
        super().__init__(launch, subtask)
        cuts: dict[str, Callable[[], None]] = {
            Action.LOST_CHANNEL: self._channels.cut,
            Action.LOST_CONTROL: lambda: self._control.cut(),
        }
        self._injector = FaultInjector(subtask.id, faults, self._report, cuts)

    def _serve(self, deploy: messages.DeployTask) -> None:
        if deploy.states:
            self._injector.reach(Point.RESTORE_DUE)
        super()._serve(deploy)

    def _restore(self, restored: Restored) -> Operator:
        self._injector.log = restored.log
        operator = super()._restore(restored)
        if restored.snapshots:
            self._injector.reach(Point.RESTORED)
        return FaultySink(operator, self._injector) if self._stage.role is Role.SINK else operator

    def _task(self, context: TaskContext, operator: Operator) -> RunningSubtask:
        faulty = replace(context, storage=FaultyStorage(context.storage, self._injector))
        return FaultySubtask(faulty, operator, self._inputs, self._injector)

    def _carry_out_fault(self, command: messages.FaultCommand) -> None:
        match command:
            case messages.InjectFault(action, point):
                if action == Action.ERROR or not self._injector.inject(action):
                    error = f"a planned fault happened to {self._subtask.id} at {point}"
                    self._inbox.post(messages.TaskFailed(InjectedFaultError(error)))
            case messages.AnswerFault(granted):
                self._injector.answer(granted=granted)
            case _:
                assert_never(command)

    def _close(self) -> None:
        self._injector.close()
        super()._close()


class FaultySubtask(RunningSubtask):
    """A subtask with fault points at barriers and at mail (`impl.spark.channels.messages`)."""

    def __init__(
        self, context: TaskContext, operator: Operator, inputs: tuple[int, ...], injector: FaultInjector
    ) -> None:
        super().__init__(context, operator, inputs, partial(FaultySnapshots, injector))
        self._injector = injector
        self._came: Counter[int] = Counter()
        self._effects: set[type[GateEffect]] = set()

    def read_frame(self, channel: int, frame: Frame) -> None:
        """Read a frame, with fault points at the first and at the last barrier of a checkpoint."""
        kind, payload = frame
        if kind not in (Kind.BARRIER, Kind.ANNOUNCEMENT):
            super().read_frame(channel, frame)
            return
        channels = len(self._context.upstream)
        checkpoint = unpack_id(payload)
        self._came[checkpoint] += kind is Kind.BARRIER
        last = kind is Kind.BARRIER and self._came[checkpoint] == channels
        if last:
            self._injector.reach(Point.LAST_BARRIER_CAME)
        elif kind is Kind.BARRIER and self._came[checkpoint] == 1:
            self._injector.reach(Point.FIRST_BARRIER_CAME)
        self._effects.clear()
        super().read_frame(channel, frame)
        if last:
            self._injector.reach(Point.ALIGNED)
        if self._awaits_others(channel):
            self._injector.reach(Point.ALIGNMENT_IN_PROGRESS)

    def _awaits_others(self, channel: int) -> bool:
        """Whether the checkpoint of the barrier that was just read waits for barriers of other channels."""
        if StartPersisting in self._effects:
            return StopPersisting not in self._effects
        return channel in self._blocked and not self._effects & {Trigger, TriggerWithOptions}

    def carry_out(self, effect: GateEffect) -> None:
        """Carry out an effect, and record its class. `read_frame` uses the class to find fault points."""
        self._effects.add(type(effect))
        super().carry_out(effect)

    def read_mail(self, mail: messages.Mail) -> None:
        """Read mail. Fault points are at a durable snapshot and around a completion notification."""
        if isinstance(mail, messages.SnapshotWritten):
            self._injector.reach(Point.SNAPSHOT_WRITTEN)
        if isinstance(mail, messages.CheckpointCompleted):
            with self._injector.around(Point.NOTIFICATION_RECEIVED, Point.NOTIFICATION_HANDLED):
                super().read_mail(mail)
        else:
            super().read_mail(mail)


class FaultySnapshots(Snapshots):
    """Snapshot steps with fault points before and after barriers and acknowledgements."""

    def __init__(self, injector: FaultInjector, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._injector = injector

    def carry_out(self, effect: SubtaskEffect) -> None:
        """Carry out an effect, with fault points before and after barriers and acknowledgements."""
        if isinstance(effect, BroadcastBarrier):
            with self._injector.around(Point.BARRIER_DUE, Point.BARRIER_SENT):
                super().carry_out(effect)
        elif isinstance(effect, SendAcknowledge):
            with self._injector.around(Point.ACKNOWLEDGEMENT_DUE, Point.ACKNOWLEDGEMENT_SENT):
                super().carry_out(effect)
        else:
            super().carry_out(effect)


@dataclass(frozen=True, slots=True)
class FaultyStorage:
    """The storage of a subtask, with a fault point before each snapshot is written."""

    storage: TaskStorage
    injector: FaultInjector

    def write(
        self, checkpoint: int, packed: bytes, offset: int | None, shared: tuple[SharedFile, ...]
    ) -> StateHandle:
        """Write a snapshot, after the fault point."""
        with self.injector.around(Point.SNAPSHOT_DUE):
            return self.storage.write(checkpoint, packed, offset, shared)

    def discard(self, handle: StateHandle) -> None:
        """Discard a snapshot."""
        self.storage.discard(handle)


class FaultySink:
    """A sink with a fault point before and after each phase of its commit."""

    def __init__(self, sink: Operator, injector: FaultInjector) -> None:
        self._sink = sink
        self._injector = injector
        self.inputs = sink.inputs
        self.listeners = sink.listeners
        self.timers = sink.timers
        self.offset = sink.offset
        self.before_barrier = sink.before_barrier
        self.finish = sink.finish
        self.notify_abort = sink.notify_abort
        self.close = sink.close

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Pre-commit, the first phase (SINK-02)."""
        with self._injector.around(Point.PRE_COMMIT_DUE, Point.PRE_COMMITTED):
            return self._sink.snapshot(checkpoint, alone)

    def notify_complete(self, checkpoint: int) -> None:
        """Commit, the second phase (SINK-03)."""
        with self._injector.around(Point.COMMIT_DUE, Point.COMMITTED):
            self._sink.notify_complete(checkpoint)
