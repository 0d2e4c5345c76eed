"""A worker: one Spark task, which runs one subtask of one attempt.

It registers with the driver, receives the addresses of its downstream subtasks and the state to restore, and
runs. It reports a failure to the driver, and then returns normally, so that Spark can use the process again.
When the driver closes the control connection, the attempt is over, and the worker returns, too.
"""

import threading
from collections.abc import Iterator
from typing import Any

from impl.config import ConfigError
from impl.connectors.errors import OffsetsLostError
from impl.connectors.two_phase import SinkContext
from impl.core import ProtocolError
from impl.eventlog import EventLog
from impl.graph.plan import Subtask
from impl.graph.rescaling import StageSnapshots
from impl.spark.channels import messages
from impl.spark.channels.data_channels import DataChannels
from impl.spark.channels.inbox import Inbox
from impl.spark.channels.listener import HandshakeLimits, Listener, connect_to
from impl.spark.channels.overtaking_channels import OvertakingInbox
from impl.spark.errors import ConnectionLostError, FrameError, RecordTooLargeError, SparkRuntimeError
from impl.spark.savepoints.savepoint_options import KnownSavepoints
from impl.spark.snapshots.in_flight import in_flight, rows_in
from impl.spark.snapshots.writer import TaskSnapshotFiles
from impl.spark.worker.context import TaskContext, clock_from
from impl.spark.worker.launch import Launch
from impl.spark.worker.operator_factory import Restored, operator_of
from impl.spark.worker.operators import Operator
from impl.spark.worker.sources import SourceOperator
from impl.spark.worker.subtask import RunningSubtask, gate_mode
from impl.state import checkpoints_at

_CONTROL_BUFFER_BYTES = 262_144


class SparkTask:
    """The function of the Spark job: partition i runs subtask i of the plan."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Run the subtask, then yield the batches of the Spark partition, which Spark expects."""
        from pyspark import TaskContext as SparkContext

        context = SparkContext.get()
        assert context is not None
        self.worker(self._launch.plan.subtasks()[context.partitionId()]).run()
        yield from batches

    def worker(self, subtask: Subtask) -> "Worker":
        """The worker of a subtask."""
        return Worker(self._launch, subtask)


class Worker:
    """The process of one subtask: its connections and its threads."""

    def __init__(self, launch: Launch, subtask: Subtask) -> None:
        self._launch = launch
        self._subtask = subtask
        self._stage = launch.plan.stages[subtask.stage]
        inputs = launch.plan.inputs(subtask)
        self._upstream = tuple(peer for peer, _ in inputs)
        self._inputs = tuple(number for _, number in inputs)
        capacity = launch.execution.channel_batches
        self._inbox = (
            OvertakingInbox(len(self._upstream), capacity, lambda *frames: self._channels.grant(*frames))
            if launch.overtakes
            else Inbox(len(self._upstream), capacity)
        )
        self._over = threading.Event()
        self._log: EventLog | None = None
        self._channels = DataChannels(launch, subtask, self._upstream, self._inbox)
        self._running: RunningSubtask | None = None

    def run(self) -> None:
        """Run until the subtask has finished or failed, or until the attempt is over."""
        launch = self._launch
        self._control = connect_to(
            launch.driver, launch.credentials, {"task": self._subtask.id}, _CONTROL_BUFFER_BYTES
        )
        self._control.give_up_after(launch.execution.heartbeat_timeout_ms)
        listener = Listener(
            self._control.local_host(),
            launch.credentials,
            self._channels.accept,
            lambda refused: None,  # the refused process gets the reason, and this worker does not need it
            launch.execution.socket_buffer_bytes,
            HandshakeLimits.beside(len(self._upstream)),
        )
        try:
            self._report(messages.Registered(listener.host, listener.port))
            threading.Thread(target=self._send_heartbeats, name="heartbeat", daemon=True).start()
            deploy = self._receive()
            if not isinstance(deploy, messages.DeployTask):
                raise FrameError(f"expected DeployTask first, got {deploy}; this is a defect")
            threading.Thread(target=self._listen, name="control", daemon=True).start()
            self._serve(deploy)
        except Exception as failed:  # noqa: BLE001 - the driver decides what follows
            self._report_failure(failed)
        finally:
            listener.close()
            self._close()
            if self._log:
                self._log.close()

    def _serve(self, deploy: messages.DeployTask) -> None:
        launch, now = self._launch, clock_from(deploy.passed_ms)
        storage = checkpoints_at(launch.checkpoints, launch.inline_bytes)
        snapshots = StageSnapshots(storage, deploy.states)
        same = len(snapshots) == self._stage.parallelism
        received, overtaken = in_flight(snapshots[self._subtask.index] if same else None)
        if launch.events is not None:
            self._log = EventLog(
                launch.events, f"{launch.attempt}-{self._subtask.id}", self._subtask.id, launch.attempt
            )
        self._line(
            {
                "kind": "deployed",
                "channels": list(self._upstream),
                "mode": launch.mode,
                "gate": gate_mode(launch.mode),
                "alignment_timeout_ms": launch.alignment_timeout_ms,
                "restored": deploy.restored,
                "states": list(snapshots.tasks),
                "recovered": {"input": rows_in(received), "output": rows_in(overtaken)},
            }
        )
        operator = self._restore(Restored(deploy.restored, snapshots, storage, self._log))
        if isinstance(self._inbox, OvertakingInbox):
            self._inbox.restore({self._upstream.index(peer): frames for peer, frames in received.items()})
        self._channels.restored()
        savepoints = KnownSavepoints()
        context = TaskContext(
            task=self._subtask.id,
            attempt=launch.attempt,
            upstream=self._upstream,
            inbox=self._inbox,
            outputs=self._channels.connect(deploy.peers, overtaken),
            storage=TaskSnapshotFiles(self._subtask.id, launch.attempt, storage, savepoints),
            report=self._report,
            mode=launch.mode,
            savepoints=savepoints,
            alignment_timeout_ms=launch.alignment_timeout_ms,
            now=now,
            max_concurrent=launch.max_concurrent,
            restored=deploy.restored,
            log=self._log,
        )
        self._running = self._task(context, operator)
        self._report(messages.Running())
        self._running.run()
        self._line({"kind": "finished"})
        self._report(messages.Finished(self._running.records, self._running.load))

    def _restore(self, restored: Restored) -> Operator:
        """The operator, with its restored state."""
        launch, task = self._launch, self._subtask
        parallelism = self._stage.parallelism
        sink_context = SinkContext(launch.plan.name, launch.lineage, task.id, launch.attempt, parallelism)
        operator = operator_of(launch.plan, task, launch.execution, sink_context, restored)
        if restored.checkpoint is not None and isinstance(operator, SourceOperator):
            self._line({"kind": "source_restored", "offset": operator.offset})
        return operator

    def _task(self, context: TaskContext, operator: Operator) -> RunningSubtask:
        return RunningSubtask(context, operator, self._inputs)

    def _line(self, fields: dict[str, object]) -> None:
        if self._log:
            self._log.line(fields)

    # ------------------------------------------------------------ control

    def _receive(self) -> messages.Command:
        return messages.unpack_command(self._control.receive_message())

    def _report(self, report: messages.Report) -> None:
        self._control.send_message(messages.pack_message(report))

    def _listen(self) -> None:
        try:
            while True:
                self._carry_out(self._receive())
        except SparkRuntimeError:
            self._close()  # the attempt is over: this ends every wait of the subtask

    def _carry_out(self, command: messages.Command) -> None:
        match command:
            case messages.InjectFault() | messages.AnswerFault():
                self._carry_out_fault(command)
            case messages.DeployTask():
                raise FrameError("expected one DeployTask, got another; this is a defect")
            case _:
                self._inbox.post(command)

    def _carry_out_fault(self, command: messages.FaultCommand) -> None:
        raise FrameError(f"expected no fault in a job without planned faults, got {command}")

    def _send_heartbeats(self) -> None:
        """Report that this process is alive. Only the time-out of a checkpoint detects a hanging subtask."""
        seconds = self._launch.execution.heartbeat_interval_ms / 1_000
        try:
            while not self._over.wait(seconds):
                running, waiting = self._running, self._inbox.buffered
                self._report(
                    messages.Heartbeat(running.records, waiting, running.load)
                    if running
                    else messages.Heartbeat(0, waiting)
                )
        except ConnectionLostError:
            return  # the thread of `_listen` ends the attempt

    # ------------------------------------------------------------ the end

    def _report_failure(self, failure: Exception) -> None:
        """Report the failure of this subtask to the driver, unless the driver has ended the attempt."""
        if self._over.is_set():
            return
        reason = f"{type(failure).__name__}: {failure}"
        if isinstance(failure, ProtocolError):
            reason += " (the runtime and the core disagree: this is a defect)"
        secondary = isinstance(failure, ConnectionLostError)
        final = isinstance(
            failure, ConfigError | RecordTooLargeError | OffsetsLostError
        )  # every other attempt would fail like this one
        try:
            self._report(messages.Failed(reason, secondary, final))
        except ConnectionLostError:
            return  # the driver has closed the connection

    def _close(self) -> None:
        self._over.set()
        self._inbox.close()
        self._control.close()
        self._channels.close()
