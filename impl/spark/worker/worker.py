"""A worker: one Spark task that is one subtask of one attempt, from its registration to its end.

It tells the driver where its data door is, learns where its downstream subtasks are and what to restore,
and runs. A failure is reported over the control connection and the task then returns normally, so that
Spark can use the process again; when the driver hangs up, the attempt is over and the task returns too.
"""

import os
import threading
from collections.abc import Iterator
from typing import Any

from impl.connectors.two_phase import SinkPlace
from impl.core import ProtocolError
from impl.eventlog import EventLog
from impl.faults import ERROR, LOST_CHANNEL, LOST_CONTROL, RESTORE_DUE, RESTORED
from impl.graph.plan import Role, Subtask
from impl.graph.rescaling import StageSnapshots
from impl.spark.channels.data_channels import DataChannels
from impl.spark.channels.inbox import Inbox, InboxClosedError
from impl.spark.channels.listener import Door, HandshakeLimits, knock
from impl.spark.channels.unaligned import OvertakingInbox
from impl.spark.errors import ConnectionLostError, FrameError, RecordTooLargeError, SparkRuntimeError
from impl.spark.faults.worker import Striker
from impl.spark.snapshots.in_flight import in_flight, rows_in
from impl.spark.worker.launch import Launch
from impl.spark.worker.operator_factory import operator_of
from impl.spark.worker.sources import SourceOperator
from impl.spark.worker.subtask import RunningSubtask, gate_of
from impl.state import FileSystemStorage, StateHandle

_CONTROL_BUFFER_BYTES = 262_144


class SparkTask:
    """The function of the Spark job: partition i runs subtask i of the plan."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Run the subtask, then hand the partition's one row back."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        Worker(self._launch, self._launch.plan.subtasks()[context.partitionId()]).run()
        yield from batches


class Worker:
    """One subtask's process: its connections, its threads, its faults."""

    def __init__(self, launch: Launch, subtask: Subtask) -> None:
        self._launch = launch
        self._subtask = subtask
        self._task = subtask.id
        inputs = launch.plan.inputs(subtask)
        self._upstream = tuple(peer for peer, _ in inputs)
        self._inputs = tuple(number for _, number in inputs)
        capacity = launch.execution.channel_batches
        self._inbox = (
            OvertakingInbox(len(self._upstream), capacity, self._granted)
            if launch.overtakes
            else Inbox(len(self._upstream), capacity)
        )
        self._restored = threading.Event()
        self._over = threading.Event()
        self._striker = Striker(
            self._task, self._say, {LOST_CHANNEL: self._cut_channels, LOST_CONTROL: self._cut_control}
        )
        self._log: EventLog | None = None
        self._channels = DataChannels(
            launch, subtask, self._upstream, self._inbox, self._over, self._restored
        )
        self._running: RunningSubtask | None = None

    def run(self) -> None:
        """Serve until the subtask has finished or failed, or the attempt is over."""
        launch = self._launch
        self._control = knock(
            launch.host,
            launch.port,
            launch.secret,
            launch.attempt,
            {"task": self._task},
            _CONTROL_BUFFER_BYTES,
        )
        self._control.give_up_after(launch.execution.heartbeat_timeout_ms)
        door = Door(
            self._control.local_host(),
            launch.secret,
            launch.attempt,
            self._channels.welcome,
            lambda refused: None,  # a stranger was told why; this attempt goes on without it
            launch.execution.socket_buffer_bytes,
            HandshakeLimits.beside(len(self._upstream)),
        )
        try:
            self._control.say({"say": "register", "host": door.host, "port": door.port, "pid": os.getpid()})
            threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()
            deploy = self._control.hear()
            if deploy.get("do") != "deploy":
                raise FrameError(f"expected the order to deploy, {deploy.get('do')!r} came; this is a defect")
            threading.Thread(target=self._listen, name="control", daemon=True).start()
            self._serve(deploy)
        except (InboxClosedError, ConnectionLostError) as lost:
            self._report(lost)
        except Exception as failed:  # noqa: BLE001 - whatever it is, the driver is told, and decides
            self._report(failed)
        finally:
            self._over.set()
            door.close()
            self._hang_up()
            if self._log:
                self._log.close()

    def _serve(self, deploy: dict[str, Any]) -> None:
        launch = self._launch
        self._striker.plan(deploy["faults"])
        storage = FileSystemStorage(launch.checkpoints, launch.inline_bytes)
        handles = [StateHandle.from_json(handle) for handle in deploy["states"]]
        if handles:
            self._striker.passing(RESTORE_DUE)
        before = StageSnapshots(storage, handles)
        same = len(before) == launch.plan.stages[self._subtask.stage].parallelism
        received, overtaken = in_flight(before[self._subtask.index] if same else None)
        if launch.events is not None:
            self._striker.log = self._log = EventLog(
                launch.events, f"{launch.attempt}-{self._task}", self._task, launch.attempt
            )
            self._log.line(
                {
                    "kind": "deployed",
                    "channels": list(self._upstream),
                    "mode": launch.mode,
                    "gate": gate_of(launch.mode),
                    "alignment_timeout_ms": launch.alignment_timeout_ms,
                    "restored": deploy["restored"],
                    "states": list(before.tasks),
                    "recovered": {"input": rows_in(received), "output": rows_in(overtaken)},
                }
            )
        operator = operator_of(
            launch.plan,
            self._subtask,
            launch.execution,
            SinkPlace(
                launch.plan.name,
                launch.lineage,
                self._task,
                launch.attempt,
                launch.plan.stages[self._subtask.stage].parallelism,
            ),
            deploy["restored"],
            before,
            self._log,
            storage,
        )
        if launch.plan.stages[self._subtask.stage].role is Role.SINK:
            operator = self._striker.of_sink(operator)
        if self._log and deploy["restored"] is not None and isinstance(operator, SourceOperator):
            self._log.line({"kind": "source_restored", "offset": operator.offset})
        if handles:
            self._striker.passing(RESTORED)
        if isinstance(self._inbox, OvertakingInbox):
            self._inbox.restore({self._upstream.index(peer): frames for peer, frames in received.items()})
        self._restored.set()
        outputs = self._channels.connect(deploy["peers"], overtaken)
        self._running = RunningSubtask(
            self._task,
            launch.attempt,
            self._upstream,
            operator,
            self._inbox,
            outputs,
            storage,
            self._control.say,
            self._striker,
            self._log,
            launch.max_concurrent,
            launch.mode,
            launch.alignment_timeout_ms,
            launch.epoch,
            self._inputs,
        )
        self._control.say({"say": "running"})
        self._running.run()
        if self._log:
            self._log.line({"kind": "finished"})
        self._control.say({"say": "finished", "records": self._running.records})

    # ------------------------------------------------------------ control

    def _listen(self) -> None:
        try:
            while True:
                self._obey(self._control.hear())
        except SparkRuntimeError:
            self._over.set()
            self._striker.over()
            self._hang_up()  # wakes the subtask wherever it waits: the attempt is over

    def _obey(self, message: dict[str, Any]) -> None:
        match message:
            case {"do": "strike", "action": str(action)}:
                if action == ERROR or not self._striker.strike(action):
                    self._inbox.post(message)  # the subtask raises it
            case {"do": "fault", "granted": bool(granted)}:
                self._striker.answered(granted=granted)
            case _:
                self._inbox.post(message)

    def _beat(self) -> None:
        """Tell the driver that this process is alive; a checkpoint's time-out finds a subtask that is not."""
        seconds = self._launch.execution.heartbeat_interval_ms / 1_000
        try:
            while not self._over.wait(seconds):
                records = self._running.records if self._running else 0
                buffered = self._inbox.buffered
                self._control.say({"say": "alive", "records": records, "buffered": buffered})
        except ConnectionLostError:
            return  # the listener has noticed too

    def _granted(self, channel: int, frames: int) -> None:
        self._channels.grant(channel, frames)

    def _say(self, message: dict[str, Any]) -> None:
        self._control.say(message)

    def _cut_channels(self) -> None:
        """A fault of the plan: every socket between this subtask and its neighbours is cut."""
        self._channels.cut()

    def _cut_control(self) -> None:
        """A fault of the plan: the socket to the driver is cut."""
        self._control.cut()

    # ------------------------------------------------------------ the end

    def _report(self, failure: Exception) -> None:
        """Tell the driver why this subtask failed, unless it is the driver who has ended the attempt."""
        if self._over.is_set():
            return
        why = f"{type(failure).__name__}: {failure}"
        if isinstance(failure, ProtocolError):
            why += " (the runtime and the core disagree: this is a defect)"
        second_hand = isinstance(failure, ConnectionLostError)
        try:
            final = isinstance(failure, RecordTooLargeError)  # another attempt would meet it again
            told = {"say": "failed", "why": why, "second_hand": second_hand, "final": final}
            self._control.say(told)
        except ConnectionLostError:
            return  # nobody is left to be told

    def _hang_up(self) -> None:
        self._inbox.close()
        self._restored.set()
        self._control.close()
        self._channels.close()
