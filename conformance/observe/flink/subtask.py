"""Replays the log lines of one execution of a task through the model of its gate and of its subtask.

Lines of barriers are events of the gate, at handler level. When the gate triggers, the thread must log the
steps of the snapshot next, in their order (TASK-01). Such a line is *due*; any other line is rejected.
"""

from collections import deque
from collections.abc import Callable

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.jobmanager import JobManager
from conformance.observe.flink.order import Wait
from conformance.observe.flink.run_state import Part, Run
from conformance.observe.replay import CHARGED, Effects, Rejected


class SubtaskReplay:
    """Replays one execution of a task, which Flink runs on one thread."""

    def __init__(self, run: Run, job: JobManager, thread: str) -> None:
        self._run = run
        self._job = job
        self._thread = thread
        self._task = thread.rpartition("#")[0]
        self._release = run.survey.release
        self._channels = run.survey.channels.get(self._task, ())
        config = {"max_concurrent": self._release.remembered_aborts or run.settings.max_concurrent}
        self._subtask = Part(run, "subtask", f"subtask {thread}", config)
        self._gate: Part | None = None
        if self._channels:
            finish = {"checkpoints_after_tasks_finish": self._release.after_finish, "level": "handler"}
            self._gate = Part(run, "gate", f"gate of {thread}", {"channels": len(self._channels), **finish})
        self._due: deque[tuple[str, int]] = deque()
        """Kind and checkpoint of each line that is due."""
        self._last_on = [-1] * len(self._channels)
        self._last_channel = -1
        self._highest_abort = -1
        self._restored = job.restored
        """The checkpoint that the job has restored. The operators get no notification of its completion."""
        self._completed = -1
        """The highest checkpoint of whose completion the operators were notified (TASK-06)."""
        self._handlers: dict[str, Callable[[LogLine], Wait | None]] = {
            grammar.BARRIER: self._barrier,
            grammar.GATE_TRIGGER: self._gate_trigger,
            grammar.START: self._start,
            grammar.SNAPSHOT: self._snapshot,
            grammar.NOTIFICATION: self._notification,
            grammar.COMPLETION_RECEIVED: self._completion_received,
            grammar.ABORTED_ON_BARRIER: self._aborted_on_barrier,
            grammar.CANCELLATION: self._cancellation,
            grammar.ENDED_EARLY: self._ended_early,
            grammar.NO_SNAPSHOT: self._no_snapshot,
            grammar.TASK: self._task_switches,
            grammar.WRITE_STARTED: self._write_started,
            grammar.WRITE_FINISHED: self._write_finished,
            grammar.WRITE_ENDED: self._ignore,
            grammar.WRITE_FAILED: self._write_failed,
            grammar.OVERTAKEN: self._ignore,  # the barrier's line before it has the same information
        }

    @property
    def parts(self) -> tuple[Part, ...]:
        """The models of the subtask and, if it has input channels, of its gate."""
        return (self._subtask,) if self._gate is None else (self._subtask, self._gate)

    def handle(self, line: LogLine) -> Wait | None:
        """Replay one line of the thread. Returns None, or the Wait for its cause. Raises Rejected."""
        return self._handlers.get(line.kind, self._take_due)(line)

    def _ignore(self, line: LogLine) -> None:
        pass

    # ------------------------------------------------------------ lines that are due

    def _take_due(self, line: LogLine) -> None:
        """Remove the line from the due ones. Raises Rejected if it is not the next of them."""
        due = self._due
        if due and due[0][0] == line.kind and line.checkpoint in {due[0][1], -1}:
            due.popleft()
            return
        self._nothing_due()
        what = " ".join(filter(None, (line.kind, line.detail, str(line.checkpoint).replace("-1", ""))))
        why = f"no earlier line of this thread explains '{what}'; {self._describe()}"
        raise Rejected((CHARGED["due"][line.kind],), why)

    def _nothing_due(self) -> None:
        """Raises Rejected if a line is due."""
        if self._due:
            kind, checkpoint = self._due[0]
            why = f"the line '{kind} {checkpoint}' must come next on this thread; {self._describe()}"
            raise Rejected((CHARGED["due"][kind],), why)

    def _describe(self) -> str:
        gate = f"gate: {self._gate.describe()}; " if self._gate is not None else ""
        return f"{gate}subtask: {self._subtask.describe()}"

    def end_rejection(self) -> Rejected | None:
        """Return a rejection if a line is due at the end of the log, else None."""
        try:
            self._nothing_due()
        except Rejected as rejected:
            return rejected
        return None

    # ------------------------------------------------------------ the gate

    def _barrier(self, line: LogLine) -> Wait | None:
        self._nothing_due()
        gate, checkpoint = self._gate, line.checkpoint
        assert gate is not None, "a task with barriers has a gate"
        channel = self._channels.index(line.detail)
        if gate.blocks(channel):
            why = f"channel {line.detail} is blocked and may not be read; {gate.describe()}"
            raise Rejected(("ALIGN-17", "ALIGN-16"), why)
        what = f"barrier {checkpoint} came on channel {line.detail}"
        if self._last_on[channel] >= checkpoint:
            why = (
                f"{what} after barrier {self._last_on[channel]}: a sender broadcasts each id once, and "
                f"ascending; {gate.describe()}"
            )
            raise Rejected(("TASK-02", "ALIGN-04"), why)
        if checkpoint not in self._run.broadcast:
            why = f"{what}, but no task has sent it"
            rules = ("TASK-01", "ONCE-01")
            return Wait(("broadcast", checkpoint), rules, why, "barrier received before it was sent")
        self._last_on[channel] = checkpoint
        event = {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}
        self._follow_gate(gate.step(event, "ALIGN-13"), channel)
        return None

    def _follow_gate(self, effects: Effects, channel: int) -> None:
        """Add the lines that must come next because of the gate's effects."""
        kinds = {effect["kind"] for effect in effects}
        for effect in effects:
            if effect["kind"] == "abort":
                self._run.see("overtaken at the gate" if "block" in kinds else "cancelled at the gate")
                self._due.append((grammar.ABORTED_ON_BARRIER, effect["checkpoint"]))
            elif effect["kind"] == "trigger":
                self._run.see("aligned")
                if self._last_channel not in {-1, channel}:
                    self._run.see("another channel last")
                self._last_channel = channel
                steps = (grammar.GATE_TRIGGER, grammar.START, grammar.ALIGNED)
                self._due += [(step, effect["checkpoint"]) for step in steps]
        if "block" in kinds and "trigger" not in kinds:
            self._run.see("channel blocked")
        elif kinds == {"resume"}:
            self._run.see("late barrier")

    def _gate_trigger(self, line: LogLine) -> None:
        gate = self._gate
        if not self._due and gate is not None:
            self._infer_ends(gate, line)
            if not self._due:
                missing = " ".join(self._channels[place] for place in self._awaited(gate))
                why = f"checkpoint {line.checkpoint} is triggered with barriers missing on {missing}"
                raise gate.reject("trigger", why)
        self._take_due(line)

    def _awaited(self, gate: Part) -> list[int]:
        state = gate.observe()
        return [
            place for place in range(len(self._channels))
            if place not in state["blocked"] and place not in state["closed"]
        ]  # fmt: skip

    def _infer_ends(self, gate: Part, line: LogLine) -> None:
        """Close the awaited channels if their senders may have finished: no line reports it (ALIGN-15)."""
        state = gate.observe()
        if not state["pending"] or state["current"] != line.checkpoint or not self._release.after_finish:
            return
        awaited = self._awaited(gate)
        if self._may_have_ended(awaited, state["blocked"], line):
            for place in awaited:
                self._run.see("ended channel counted")
                self._follow_gate(
                    gate.step({"kind": "end_of_partition", "channel": place}, "ALIGN-15"), place
                )

    def _may_have_ended(self, awaited: list[int], arrived: list[int], line: LogLine) -> bool:
        """Whether every awaited channel may have ended.

        The channels with one gate index have the tasks of one vertex as senders. If barriers came on some of
        them, some tasks of that vertex have started the checkpoint. A sender that has ended sent its last
        barrier at its last checkpoint.
        """
        survey = self._run.survey
        absent = survey.absent(self._thread, line.checkpoint)
        inputs = [channel.partition(".")[0] for channel in self._channels]
        for place in awaited:
            if survey.last_barrier.get((self._thread, self._channels[place]), 0) > line.number:
                return False
            some_continue = any(inputs[other] == inputs[place] for other in arrived)
            if not any(
                (present or not some_continue)
                and any(survey.last_started.get(sender, -1) == self._last_on[place] for sender in lacking)
                for lacking, present in absent.values()
            ):
                return False
        return True

    def _cancellation(self, line: LogLine) -> None:
        self._nothing_due()
        if self._gate is not None:  # the line names no channel; the effects are the same on every channel
            closed = self._gate.observe()["closed"]
            channel = next(place for place in range(len(self._channels)) if place not in closed)
            event = {"kind": "cancel", "channel": channel, "checkpoint": line.checkpoint}
            self._follow_gate(self._gate.step(event, "ALIGN-12"), channel)

    def _ended_early(self, line: LogLine) -> None:
        """Replay a line about an alignment that fails because a channel has ended (ALIGN-14)."""
        self._nothing_due()
        if self._gate is not None:
            state = self._gate.observe()
            if not state["pending"] or state["current"] != line.checkpoint:
                why = f"checkpoint {line.checkpoint} is not being aligned"
                raise self._gate.reject("abort", why, "ALIGN-14")
            self._due.append((grammar.ABORTED_ON_BARRIER, line.checkpoint))

    def _aborted_on_barrier(self, line: LogLine) -> None:
        self._take_due(line)
        event = {"kind": "abort_on_barrier", "checkpoint": line.checkpoint, "reason": "CHECKPOINT_DECLINED"}
        self._subtask.step(event, "TASK-04")

    # ------------------------------------------------------------ the snapshot

    def _start(self, line: LogLine) -> Wait | None:
        checkpoint = line.checkpoint
        if self._channels and self._due:
            self._take_due(line)
        else:
            self._nothing_due()
            if checkpoint not in self._job.plans:
                why = f"{self._task} starts checkpoint {checkpoint}, but the coordinator has not triggered it"
                reordering = "task starts a checkpoint before its trigger"
                return Wait(("triggered", checkpoint), ("COORD-04", "TASK-01"), why, reordering)
            self._check_triggered(checkpoint)
        self._recall_abort(checkpoint)
        effects = self._subtask.step({"kind": "checkpoint", "checkpoint": checkpoint}, "TASK-02")
        kinds = [effect["kind"] for effect in effects]
        if "snapshot" in kinds:
            self._due.appendleft((grammar.SNAPSHOT, checkpoint))
            if self._release.logs_broadcast:
                self._due.appendleft((grammar.BROADCAST, checkpoint))
            self._run.broadcast.add(checkpoint)
            self._run.happened("broadcast", checkpoint)
        elif "broadcast_cancel" in kinds:
            self._run.see("abort before its trigger")
            self._due.appendleft((grammar.ABORTED_BEFORE, checkpoint))
        else:
            self._due.appendleft((grammar.OUT_OF_ORDER, checkpoint))
        return None

    def _recall_abort(self, checkpoint: int) -> None:
        """Give the model's subtask again an abort that it has dropped (TASK-09), as some releases do.

        A release that remembers only `max_concurrent` aborts also treats an id as aborted if the highest
        abort that the task has received is greater by more than `max_concurrent`.
        """
        bound = self._run.settings.max_concurrent
        if self._release.remembered_aborts or checkpoint + bound >= self._highest_abort:
            return
        state = self._subtask.state
        if checkpoint > state.last and checkpoint not in state.aborted:
            self._subtask.state = state._replace(aborted=(checkpoint, *state.aborted))

    def _check_triggered(self, checkpoint: int) -> None:
        """Raises Rejected if the coordinator or the gate has not triggered this execution."""
        survey = self._run.survey
        if survey.by_thread.get(self._thread, "") not in self._job.plans[checkpoint]:
            why = f"checkpoint {checkpoint} was triggered for another attempt than {self._thread}"
            raise Rejected(("ONCE-06", "COORD-04"), why)
        if self._gate is None:
            return
        if not (self._release.after_finish and survey.absent(self._thread, checkpoint)):
            why = f"{self._thread} starts checkpoint {checkpoint} before its gate has triggered it"
            raise self._gate.reject("trigger", why, "TASK-01")

    def _snapshot(self, line: LogLine) -> None:
        self._take_due(line)
        self._run.see("snapshot taken")
        self._run.snapshots.add((self._thread, line.checkpoint))
        self._run.happened("snapshot", self._thread, line.checkpoint)

    def _no_snapshot(self, line: LogLine) -> None:
        self._due.clear()
        self._write_failed(line)

    def _write_started(self, line: LogLine) -> Wait | None:
        key = (self._thread, line.checkpoint)
        snapshot = f"its snapshot of checkpoint {line.checkpoint}"
        if key not in self._run.snapshots:
            why = f"{self._thread} writes {snapshot} and has not taken it"
            reordering = "asynchronous part starts before the synchronous one ends"
            return Wait(("snapshot", *key), ("TASK-01", "TASK-07"), why, reordering)
        if key in self._run.writing:
            why = f"{self._thread} starts to write {snapshot} a second time"
            raise self._subtask.reject("acknowledge", why)
        self._run.writing.add(key)
        self._run.happened("writing", *key)
        return None

    def _write_finished(self, line: LogLine) -> None:
        if (self._thread, line.checkpoint) not in self._run.writing:
            why = (
                f"{self._thread} has written its snapshot of checkpoint {line.checkpoint} and never began to"
            )
            raise self._subtask.reject("acknowledge", why)
        key = (self._thread, line.checkpoint)
        if key in self._run.written:
            why = f"{self._thread} has written its snapshot of checkpoint {line.checkpoint} a second time"
            raise self._subtask.reject("acknowledge", why)
        self._run.written.add(key)
        if self._job.has_acknowledged(self._run.survey.by_thread.get(self._thread, ""), line.checkpoint):
            self._run.tolerated["asynchronous part logged as finished after its acknowledgement"] += 1
        self._run.see("snapshot written")
        self._subtask.step({"kind": "async_done", "checkpoint": line.checkpoint}, "TASK-07")

    def _write_failed(self, line: LogLine) -> None:
        self._subtask.step({"kind": "async_failed", "checkpoint": line.checkpoint}, "TASK-08")

    # ------------------------------------------------------------ notifications

    def _completion_received(self, line: LogLine) -> Wait | None:
        """Replay a received completion. A new one makes the operators' notification due (TASK-06)."""
        self._nothing_due()
        wait = self._job.wait_for_completion(line.checkpoint, self._task)
        if wait is None and line.checkpoint > max(self._completed, self._restored):
            self._due.append((grammar.NOTIFICATION, line.checkpoint))
        return wait

    def _notification(self, line: LogLine) -> Wait | None:
        if line.detail == "COMPLETE":
            return self._complete_notification(line)
        self._nothing_due()
        if line.detail == "SUBSUME":
            return self._job.take_subsumed(self._task, line.checkpoint)
        wait = self._job.wait_for_abort(line.checkpoint, self._task)
        if wait is None:
            self._run.see("abort notified")
            if line.checkpoint > self._subtask.observe()["last"]:
                self._highest_abort = max(self._highest_abort, line.checkpoint)
            event = {"kind": "abort_notification", "checkpoint": line.checkpoint, "completed": -1}
            if any(effect["kind"] == "cancel_async" for effect in self._subtask.step(event, "TASK-05")):
                self._run.see("abort stopped the writing")
        return wait

    def _complete_notification(self, line: LogLine) -> Wait | None:
        wait = self._job.wait_for_completion(line.checkpoint, self._task)
        if wait is None:
            if self._release.logs_received:
                self._take_due(line)
            else:
                self._nothing_due()
            event = {"kind": "complete_notification", "checkpoint": line.checkpoint}
            if self._subtask.step(event, "TASK-06"):
                self._completed = line.checkpoint
            else:
                why = f"the operators of {self._thread} are notified of checkpoint {line.checkpoint} again"
                raise self._subtask.reject("notify_complete", why)
            self._run.see("completion notified")
        return wait

    def _task_switches(self, line: LogLine) -> None:
        state = line.detail.rpartition(">")[2]
        if state == "FINISHED":
            self._nothing_due()
        if state in {"FINISHED", "FAILED", "CANCELED"}:
            self._due.clear()  # no line is due on a thread that failed or was cancelled
